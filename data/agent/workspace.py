"""Tools that work in one folder: list, read, run its tests, and change a file.

No path leads out of the folder. The tests run in a copy, which is thrown away. A person
sees each change as a diff before it is made.
"""

import difflib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from workbook.runtime.calls import ToolFailure
from workbook.runtime.tools import Tool, tool

MAX_FILES = 300
MAX_CHARS = 40_000  # of a file that is read or written
MAX_COPIED = 50_000_000  # bytes of the copy in which the tests run
ENDS = re.compile(r"\r?\n")
SHOWN_CHARS = 6_000  # of what the tests print, the last ones
LEFT_OUT = {"node_modules", "__pycache__", "venv", "env", "build", "dist"}


class Folder:
    """A folder, and what may be done in it.

    Args:
        path: the folder.
        tests: the command that runs its tests; "python" is this Python.
        seconds: the most that the tests may take.
    """

    def __init__(self, path: Path, tests: Sequence[str], seconds: float) -> None:
        if not path.is_dir():
            raise ValueError(f"{path} is no folder: name one that is there.")
        self.path, self.seconds = path.resolve(), seconds
        self.command = [sys.executable if w == "python" else w for w in tests]

    def list_files(self) -> dict[str, Any]:
        """Lists the files of the folder."""
        names = [path.relative_to(self.path).as_posix() for path in self._files()]
        return {"files": names[:MAX_FILES], "more": max(len(names) - MAX_FILES, 0)}

    def read_file(self, path: str) -> str:
        """Reads one text file.

        Args:
            path: as list_files names it
        """
        text = self._text(path)
        if text is None:
            raise ToolFailure("no_such_file", f"there is no file {path!r}.")
        return text

    def run_tests(self) -> dict[str, Any]:
        """Runs the tests of the folder, and no other command."""
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
            copy = Path(place).resolve() / "copy"
            self._copy(copy)
            with open(Path(place, "log"), "w+b") as log:
                code = _run(self.command, copy, log, self.seconds)
                log.seek(0)
                printed = log.read().decode("utf-8", "replace")
        if code is None:
            message = f"the tests were stopped after {self.seconds:g} s."
            raise ToolFailure("too_slow", message, hint="Look for an endless loop.")
        printed = printed.replace(f"{copy}{os.sep}", "")[-SHOWN_CHARS:]
        return {"passed": code == 0, "output": printed}

    def write_file(self, path: str, text: str) -> str:
        """Writes one whole file, new or in place of another.

        Args:
            path: of the file, in the folder
            text: the whole text; for a small change of a long file use edit_file
        """
        place = self._place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(_bounded(text), encoding="utf-8", newline="")
        return f"written: {path}, {len(text.splitlines())} lines"

    def edit_file(self, path: str, old: str, new: str) -> str:
        """Replaces one passage of a file; it must be there exactly once.

        Args:
            path: as list_files names it
            old: the passage as it is, with its spaces
            new: the passage that replaces it
        """
        text = self._edited(path, old, new)
        self._place(path).write_text(_bounded(text), encoding="utf-8", newline="")
        return f"edited: {path}"

    def diff_of_write(self, path: str, text: str) -> str:
        """Return what a write would change, as a unified diff."""
        before = self._text(path)
        old, new = _lines(before or ""), _lines(text)
        names = "(no file)" if before is None else path, path
        diff = "".join(difflib.unified_diff(old, new, *names))
        if set(ENDS.findall(before or "")) == set(ENDS.findall(text)):
            diff = diff.replace("\r\n", "\n")  # the ends of lines stay as they are
        return diff.replace("\r", "\\r") or "nothing changes"

    def diff_of_edit(self, path: str, old: str, new: str) -> str:
        """Return what an edit would change, as a unified diff."""
        return self.diff_of_write(path, self._edited(path, old, new))

    def _edited(self, path: str, old: str, new: str) -> str:
        text = self.read_file(path)
        if (times := text.count(old) if old else 0) != 1:
            message = f"the passage is in {path} {times} times."
            hint = "Read the file, and give enough lines that it is there once."
            raise ToolFailure("not_unique", message, hint=hint)
        return text.replace(old, new)

    def _place(self, path: str) -> Path:
        """Return where a file is; ToolFailure where the path leads elsewhere."""
        place = self.path / path
        inner = place.resolve()
        names = Path(path).parts
        hidden = any(name.startswith(".") for name in names)
        if not names or hidden or inner != place or self.path not in inner.parents:
            message = f"{path[:80]!r} is no path of a file in this folder."
            hint = "Use a path as list_files gives it: no .., no link, no hidden file."
            raise ToolFailure("bad_path", message, hint=hint)
        return place

    def _text(self, path: str) -> str | None:
        place = self._place(path)
        if not place.exists():
            return None
        if not place.is_file():
            raise ToolFailure("bad_path", f"{path!r} is a folder.")
        try:
            with place.open(encoding="utf-8", newline="") as file:
                text = file.read(MAX_CHARS + 1)
        except UnicodeDecodeError:
            raise ToolFailure("no_text", f"{path!r} is not UTF-8 text.") from None
        return _bounded(text)

    def _files(self) -> list[Path]:
        found = []
        for place, folders, names in os.walk(self.path):
            folders[:] = sorted(n for n in folders if n[0] != "." and n not in LEFT_OUT)
            paths = (Path(place, name) for name in sorted(names) if name[0] != ".")
            found += [p for p in paths if p.is_file() and not p.is_symlink()]
        return found

    def _copy(self, copy: Path) -> None:
        files = self._files()
        size = sum(path.stat().st_size for path in files)
        if size > MAX_COPIED:
            message = f"the folder has {size:,} bytes, and {MAX_COPIED:,} are copied."
            raise ToolFailure("too_large", message, hint="Go on without the tests.")
        for path in files:
            place = copy / path.relative_to(self.path)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, place)


def folder_tools(path: Path, tests: Sequence[str], seconds: float) -> list[Tool]:
    """Return the tools that work in a folder; ValueError where there is none."""
    folder = Folder(path, tests, seconds)
    write, edit = folder.diff_of_write, folder.diff_of_edit
    return [
        tool(folder.list_files),
        tool(max_output_chars=4 * MAX_CHARS)(folder.read_file),
        tool(timeout_s=seconds + 10)(folder.run_tests),
        tool(effect="write", preview=write, repeatable=True)(folder.write_file),
        tool(effect="write", preview=edit, repeatable=True)(folder.edit_file),
    ]


def _lines(text: str) -> list[str]:
    """Return the lines for a diff; where the last one has no end, it says so."""
    lines = re.findall(r".*\n|.+$", text)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n\\ No newline at end of file\n"
    return lines


def _bounded(text: str) -> str:
    if len(text) > MAX_CHARS:
        message = f"the file has more than {MAX_CHARS:,} characters."
        raise ToolFailure("too_long", message, hint="Go on without it.")
    return text


def _run(command: list[str], folder: Path, log: Any, limit_s: float) -> int | None:
    """Return the exit code, None after the limit. No process of it is left behind."""
    names = ("PATH", "SYSTEMROOT", "LANG", "VIRTUAL_ENV")  # none of your keys
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={name: os.environ[name] for name in names if name in os.environ},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        message = f"{command[0]!r} cannot be run: {error.strerror}."
        raise ToolFailure("no_tests", message) from None
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        return None
    finally:
        process.kill()
        with suppress(ProcessLookupError, AttributeError):  # and what it has started
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
