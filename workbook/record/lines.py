"""A file of lines with one writer: half a line is never followed by another one."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from io import FileIO
from pathlib import Path

from workbook.record.events import TraceError


class LineFile:
    """Appends lines, each with one write: what a full disk cut goes with the next one.

    With `keep`, the whole lines of the file stay, and `end` says how many bytes they
    are. TraceError: there is something in the file otherwise, or another one writes it.
    """

    def __init__(self, path: Path, *, keep: bool = False) -> None:
        self._file = _open_alone(path)
        try:
            self.end = _whole_lines(self._file, path, keep)
        except BaseException:
            self._file.close()
            raise
        self._torn = keep  # a part of a line may stand behind them

    def append(self, line: bytes) -> None:
        """Write one line, whole or not at all."""
        if self._torn:
            self._file.truncate(self.end)
        rest, self._torn = line, True
        while rest:  # a disk that fills up takes a part
            rest = rest[self._file.write(rest) :]
        self.end, self._torn = self.end + len(line), False

    def cut(self, end: int) -> None:
        """Keep so many bytes; what is behind them goes with the next line."""
        self.end, self._torn = end, True

    def close(self) -> None:
        """Let another one write."""
        self._file.close()


def _open_alone(path: Path) -> FileIO:
    """Open a file, with a lock on it, for one writer; a second one is refused."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("ab", buffering=0)
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(2**62)  # far behind the events, for the rest can be read
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        file.close()
        words = f"another TraceWriter writes {path}: close it, or take another path"
        raise TraceError(words) from None
    except OSError:
        pass  # this file system has no locks
    return file


def _whole_lines(file: FileIO, path: Path, keep: bool) -> int:
    """Return the length in bytes of the whole lines; one may lack its end alone."""
    lines = path.read_bytes()
    if lines and not keep:
        words = f"{path} is there: take another path, or go on in it (keep=True)"
        raise TraceError(words)
    end = lines.rfind(b"\n") + 1
    with suppress(ValueError):
        json.loads(lines[end:])
        return len(lines) + file.write(b"\n")
    return end
