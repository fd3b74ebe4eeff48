"""Fixtures of the models' tests: a cache of their own, and the real model."""

from pathlib import Path

import pytest

from workbook.models.local import LocalTextModel
from workbook.models.weights import fetch_weights

HERE = Path(__file__).parent
BY_DEFAULT = "test_stop_ends_the_turn_before_the_observation"


def pytest_collection_modifyitems(items):
    """Ask the real model once by default: it computes on every core there is."""
    for item in items:
        real = "real_weights" in getattr(item, "fixturenames", ())
        if real and HERE in item.path.parents and item.name != BY_DEFAULT:
            item.add_marker(pytest.mark.in_ci)


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    """An empty cache folder, in place of the user's."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("WORKBOOK_CACHE", str(folder))
    return folder


@pytest.fixture(scope="session")
def real_weights() -> Path:
    """The real weights; fetched, once, when this machine has none."""
    return fetch_weights()


@pytest.fixture(scope="session")
def local(real_weights) -> LocalTextModel:
    """The real model, loaded."""
    return LocalTextModel()
