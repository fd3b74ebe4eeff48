"""Benchmarks compare two things in one run, and come last."""

import gc
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    """Leave the benchmarks to CI, or to whoever names them."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.in_ci)


@pytest.fixture(autouse=True, scope="module")
def fresh():
    """Have the garbage collector pass over what earlier tests left in memory."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
