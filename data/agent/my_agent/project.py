"""Tools for one folder: list, search, read, change a file, run its tests, a command.

No path leads out of the folder, and none to a hidden file. The tests run in a copy
that is thrown away. A person sees each change as a diff, and each command, before it is
made.
"""

import difflib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from .config import UsageError
from .runtime.calls import ToolFailure
from .runtime.tools import Tool, tool

MOST_FILES, MOST_FOUND, MOST_CHARS = 500, 200, 400_000
MOST_COPIED = 200_000_000  # bytes, for the tests
SHOWN_CHARS = 12_000  # of an output, to the model; the trace has it whole
LEFT_OUT = {"node_modules", "__pycache__"}  # and what holds a Python of its own
PASSED_ON = ("PATH", "HOME", "SYSTEMROOT", "LANG", "VIRTUAL_ENV")  # none of your keys


class Project:
    """A folder; `tests` is the command of its tests, "python" in it is this Python."""

    def __init__(self, path: Path, tests: Sequence[str], seconds: float) -> None:
        if not path.is_dir():
            raise UsageError(f"{path} is no folder: name one that is there.")
        self.path, self.seconds = path.resolve(), seconds
        self.tests = [sys.executable if word == "python" else word for word in tests]

    def list_files(self, folder: str = ".") -> dict[str, Any]:
        """Lists the files of the project, or of one folder of it, with its subfolders.

        Args:
            folder: such as src/web
        """
        names = [self._name(path) for path in self._files(folder)]
        return {"files": names[:MOST_FILES], "more": max(len(names) - MOST_FILES, 0)}

    def search(self, pattern: str, folder: str = ".") -> dict[str, Any]:
        """Finds lines by a regular expression, in all files or in one folder or file.

        Args:
            pattern: as in Python, such as def \\w+_user
            folder: or file, such as src/web
        """
        try:
            wanted = re.compile(pattern)
        except re.error as error:
            raise ToolFailure("bad_pattern", f"{pattern!r}: {error}.") from None
        lines = []
        for path in self._files(folder):
            with suppress(UnicodeDecodeError):
                for number, line in enumerate(path.open(encoding="utf-8"), 1):
                    if wanted.search(line):
                        where = f"{self._name(path)}:{number}"
                        lines.append(f"{where}: {line.strip()[:200]}")
        return {"found": lines[:MOST_FOUND], "more": max(len(lines) - MOST_FOUND, 0)}

    def read_file(self, path: str, first: int = 1, last: int = 0) -> str:
        """Reads a text file, or some of its lines; each begins with its number.

        Args:
            path: as list_files names it
            first: the first line
            last: the last line; 0 is the end
        """
        lines = [*enumerate(self._text(path).splitlines(), 1)]
        shown = [f"{n}\t{line}" for n, line in lines[: last or None] if n >= first]
        return "\n".join(shown) or f"No lines: {path} has {len(lines)}."

    def run_tests(self) -> dict[str, Any]:
        """Runs the tests of the project, in a copy of it."""
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
            copy = Path(place).resolve() / "copy"
            files, size = [*self._files()], 0
            for path in files:
                size += path.stat().st_size
                if size > MOST_COPIED:
                    raise ToolFailure("too_large", "the project is too large to copy.")
                to = copy / self._name(path)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, to)
            code, output = _run(self.tests, copy, self.seconds)
        return {"passed": code == 0, "output": output.replace(f"{copy}{os.sep}", "")}

    def run_command(self, command: str) -> dict[str, Any]:
        """Runs a command of the shell in the project.

        Args:
            command: such as git diff --stat
        """
        shell = ["cmd", "/c"] if os.name == "nt" else ["sh", "-c"]
        code, output = _run([*shell, command], self.path, self.seconds)
        return {"exit_code": code, "output": output}

    def write_file(self, path: str, text: str) -> str:
        """Writes one whole file, new or in place of another.

        Args:
            path: of the file, in the project
            text: the whole text; for a small change use edit_file
        """
        place = self._place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="")
        return f"written: {path}, {len(text.splitlines())} lines"

    def edit_file(self, path: str, old: str, new: str) -> str:
        """Replaces one passage of a file; it must be there exactly once.

        Args:
            path: as list_files names it
            old: the passage as it is, with its spaces, without the numbers of lines
            new: the passage that replaces it
        """
        text = self._edited(path, old, new)
        self._place(path).write_text(text, encoding="utf-8", newline="")
        return f"edited: {path}"

    def diff_of_write(self, path: str, text: str) -> str:
        """Return what a write would change, as a unified diff."""
        is_new = not self._place(path).exists()
        before = "" if is_new else self._text(path)
        names = "(no file)" if is_new else path, path
        lines = (re.findall(r".*\n|.+$", each) for each in (before, text))
        diff = "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in difflib.unified_diff(*lines, *names)
        )
        if ("\r\n" in before) == ("\r\n" in text):
            diff = diff.replace("\r\n", "\n")  # the ends of lines stay as they are
        return diff.replace("\r", "\\r") or "nothing changes"

    def diff_of_edit(self, path: str, old: str, new: str) -> str:
        """Return what an edit would change, as a unified diff."""
        return self.diff_of_write(path, self._edited(path, old, new))

    def _edited(self, path: str, old: str, new: str) -> str:
        text = self._text(path)
        if "\r\n" in text:
            old, new = (re.sub("\r?\n", "\r\n", each) for each in (old, new))
        if (times := text.count(old) if old else 0) != 1:
            message = f"the passage is in {path} {times} times."
            hint = "Read the file, and give enough lines that it is there once."
            raise ToolFailure("not_unique", message, hint=hint)
        return text.replace(old, new)

    def _place(self, path: str) -> Path:
        """Return where a file is; ToolFailure where the path leads elsewhere."""
        place = self.path / path
        parts = Path(os.path.normpath(path)).parts
        hidden = any(name.startswith(".") for name in parts)
        inside = place.resolve().is_relative_to(self.path)
        if hidden or not inside or os.path.normpath(place) != str(place.resolve()):
            message = f"{path[:80]!r} is no path in this project."
            hint = "Use a path as list_files gives it: no .., no link, no hidden file."
            raise ToolFailure("bad_path", message, hint=hint)
        return place

    def _text(self, path: str) -> str:
        place = self._place(path)
        if not place.is_file():
            raise ToolFailure("no_such_file", f"there is no file {path!r}.")
        if place.stat().st_size > MOST_CHARS:
            hint = "Use search."
            raise ToolFailure("too_long", f"{path!r} is too long to read.", hint=hint)
        try:
            with place.open(encoding="utf-8", newline="") as file:
                return file.read()
        except UnicodeDecodeError:
            raise ToolFailure("no_text", f"{path!r} is not UTF-8 text.") from None

    def _name(self, path: Path) -> str:
        return path.relative_to(self.path).as_posix()

    def _files(self, folder: str = ".") -> Iterator[Path]:
        start = self.path if folder in ("", ".") else self._place(folder)
        if not start.exists():
            raise ToolFailure("no_such_file", f"there is no {folder!r}.")
        if start.is_file():
            yield start
        for place, folders, names in os.walk(start):
            folders[:] = sorted(n for n in folders if n[0] != "." and n not in LEFT_OUT)
            if "pyvenv.cfg" in names:
                folders[:], names = [], []
            for path in (Path(place, name) for name in sorted(names) if name[0] != "."):
                if path.is_file() and not path.is_symlink():
                    yield path


def instructions(path: Path | None) -> str:
    """Return what the AGENTS.md of a folder says, or ""."""
    file = path and path / "AGENTS.md"
    return file.read_text("utf-8-sig").strip() if file and file.is_file() else ""


def project_tools(path: Path, tests: Sequence[str], seconds: float) -> list[Tool]:
    """Return the tools for a folder; UsageError where there is none."""
    project = Project(path, tests, seconds)
    long: Any = {"max_output_chars": 10_000_000, "shown_chars": SHOWN_CHARS}
    slow: Any = long | {"timeout_s": seconds + 10}
    change: Any = {"effect": "write", "repeatable": True}
    return [
        tool(**long)(project.list_files),
        tool(**long)(project.search),
        tool(max_output_chars=2 * MOST_CHARS, shown_chars=60_000)(project.read_file),
        tool(**slow)(project.run_tests),
        tool(**slow, effect="write", preview=lambda command: command)(
            project.run_command
        ),
        tool(**change, preview=project.diff_of_write)(project.write_file),
        tool(**change, preview=project.diff_of_edit)(project.edit_file),
    ]


def _run(command: list[str], folder: Path, limit_s: float) -> tuple[int, str]:
    """Return the exit code and the output. No process of it is left behind."""
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    with tempfile.TemporaryFile() as log:
        pipes: Any = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
        try:
            process = subprocess.Popen(
                command, cwd=folder, env=kept, start_new_session=True, **pipes
            )
        except OSError as error:
            message = f"{command[0]!r} cannot be run: {error.strerror}."
            raise ToolFailure("no_command", message) from None
        try:
            code = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            message = f"it was stopped after {limit_s:g} s."
            hint = "Look for an endless loop."
            raise ToolFailure("too_slow", message, hint=hint) from None
        finally:
            process.kill()
            with suppress(ProcessLookupError, AttributeError):  # and what it began
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        log.seek(0)
        return code, log.read().decode("utf-8", "replace")
