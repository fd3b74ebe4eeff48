"""Fixtures of the models' tests: a cache of their own, and the real model."""

from pathlib import Path

import pytest

from workbook.models.local import LocalTextModel
from workbook.models.weights import fetch_weights


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
