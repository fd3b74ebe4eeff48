"""Benchmarks measure on a quiet machine, which a run of the whole suite is not."""

from concurrent.futures import wait
from pathlib import Path

import pytest

from tests.notebooks.conftest import RUNS

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Leave the benchmarks to CI, or to whoever names them; put them last."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.in_ci)
    items.sort(key=lambda item: HERE in item.path.parents)


@pytest.fixture(autouse=True, scope="session")
def quiet(request):
    """Wait for the lessons that still run."""
    wait(begun for begun, _ in request.session.stash.get(RUNS, {}).values())
