"""Benchmarks measure on a quiet machine, which a run of the whole suite is not."""

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items):
    """Leave the benchmarks to CI, or to whoever asks for them by their folder."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.in_ci)
