"""A lock on a file, for two processes that want to do the same thing.

The operating system holds it, so it is gone when its holder is: a killed process leaves
no stale lock behind. The file itself stays, empty.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def locked(path: Path, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock on `path`; call `on_wait` first when another one has it."""
    with open(path, "ab") as file:
        if not _take(file, wait=False):
            on_wait()
            while not _take(file, wait=True):
                pass
        try:
            yield
        finally:
            _release(file)


if sys.platform == "win32":
    import msvcrt

    def _take(file: BinaryIO, *, wait: bool) -> bool:
        file.seek(0)
        try:  # LK_LOCK tries for ten seconds and then gives up
            msvcrt.locking(
                file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1
            )
        except OSError:
            return False
        return True

    def _release(file: BinaryIO) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _take(file: BinaryIO, *, wait: bool) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True

    def _release(file: BinaryIO) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
