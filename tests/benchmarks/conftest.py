"""Benchmarks compare two things in one run, and come last."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    """Leave the benchmarks to CI, or to whoever names them."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.in_ci)
