"""A folder with a small program and a failing test, and the tools that work in it.

No path leads out of the folder. The tests run in a copy, which is thrown away: for this
folder that is a READ. What a program does elsewhere is held by a container, and not by
a copy.
"""

from __future__ import annotations

import difflib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

from workbook.paths import DATA
from workbook.runtime.calls import Effect, ToolFailure
from workbook.runtime.tools import Tool

MAX_CHARS = 10_000  # of a file
SHOWN_BYTES = 4_000  # of what the tests print, the last ones

LIST = 'Lists the files of the workspace. Right: {}. Wrong: {"path": "/etc"}.'
READ = (
    "Reads one file per call, by its path in the workspace. "
    'Right: {"path": "price.py"}. Wrong: {"path": ["a.py", "b.py"]}.'
)
WRITE = (
    "Writes one file per call: its whole text, and not a part of it. "
    'Right: {"path": "notes.txt", "text": "one line\\n"}. Wrong: {"path": "notes.txt"}.'
)
TEST = (
    "Runs the unit tests of the workspace, and no other command. "
    'Right: {}. Wrong: {"command": "git commit"}.'
)
PATH = {"type": "string", "minLength": 1, "maxLength": 500}
TEXT = {"type": "string", "maxLength": MAX_CHARS}
ONE = {"properties": {"path": PATH}, "required": ["path"]}
BOTH = {"properties": {"path": PATH, "text": TEXT}, "required": ["path", "text"]}


class Workspace:
    """A folder as an agent sees it. Its tests are stopped after `tests_s` seconds."""

    def __init__(self, folder: Path | str, tests_s: float = 20.0) -> None:
        self.folder, self.tests_s = Path(folder).resolve(strict=True), tests_s

    @classmethod
    def sample(cls, folder: Path | str | None = None) -> Workspace:
        """Write the sample into a folder; without one, into one that goes with it."""
        place = Path(folder or tempfile.mkdtemp(prefix="workspace_"))
        shutil.copytree(DATA / "environments/workspace", place, dirs_exist_ok=True)
        workspace = cls(place)
        if folder is None:
            weakref.finalize(workspace, shutil.rmtree, place, ignore_errors=True)
        return workspace

    def tools(self) -> list[Tool]:
        """Return the four tools, which share this folder."""
        known: Any = {"look_up": self.written, "preview": self.preview}
        known |= {"repeatable": True}
        return [
            Tool("list_files", LIST, {}, self.list_files),
            Tool("read_file", READ, ONE, self.read_file),
            Tool("write_file", WRITE, BOTH, self.write_file, Effect.WRITE, **known),
            Tool("run_tests", TEST, {}, self.run_tests, timeout_s=self.tests_s + 10),
        ]

    def list_files(self) -> dict[str, Any]:
        """Return the files that the tools can use; links and hidden ones are not."""
        found = []
        for path in sorted(self.folder.rglob("*")):
            name = path.relative_to(self.folder).as_posix()
            with suppress(ToolFailure):
                if self._place(name).is_file():
                    found.append(name)
        return {"files": found}

    def read_file(self, path: str) -> dict[str, Any]:
        """Return the text of a file."""
        if (text := self._text(path)) is not None:
            return {"path": path, "text": text}
        hint = f"There is: {', '.join(self.list_files()['files']) or 'no file at all'}."
        raise ToolFailure("no_such_file", f"there is no file {path!r}.", hint=hint)

    def write_file(self, path: str, text: str) -> dict[str, Any]:
        """Make a file of this text, new or in place of another."""
        self._text(path)  # what is no short text is not written over
        try:
            self._place(path).write_bytes(text.encode())
        except OSError as error:
            raise _bad_path(path, str(error.strerror)) from None
        return {"written": path, "lines": len(text.splitlines())}

    def written(self, path: str, text: str) -> dict[str, Any] | None:
        """Return what `write_file` does if the file has this text, otherwise None."""
        done = self._text(path) == text
        return {"written": path, "lines": len(text.splitlines())} if done else None

    def preview(self, path: str, text: str) -> str:
        """Return what a write would change, as a unified diff, or why it is refused."""
        try:
            before = self._text(path)
        except ToolFailure as failure:
            return failure.error.text()
        old, new = ((each or "").splitlines(keepends=True) for each in (before, text))
        names = "(no file)" if before is None else path, path
        return "".join(difflib.unified_diff(old, new, *names)) or "nothing changes"

    def run_tests(self) -> dict[str, Any]:
        """Run the unit tests of a copy of the folder, in a process of their own."""
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
            copy, hidden = Path(place).resolve() / "copy", shutil.ignore_patterns(".*")
            shutil.copytree(self.folder, copy, symlinks=True, ignore=hidden)
            with Path(place, "log").open("wb+") as log:
                code = _unittest(copy, log, self.tests_s)
                log.seek(max(log.seek(0, os.SEEK_END) - SHOWN_BYTES, 0))
                printed = log.read().decode("utf-8", "replace")
        if code is None:
            message = f"the tests were stopped after {self.tests_s:g} s."
            raise ToolFailure("too_slow", message, hint="Look for an endless loop.")
        printed = printed.replace(f"{copy}{os.sep}", "")
        printed = re.sub(r"(?m) in [\d.]+s$", "", printed)
        some = re.search(r"(?m)^Ran [1-9]", printed) is not None
        return {"passed": code == 0 and some, "output": printed}

    def _place(self, path: str) -> Path:
        """Return where a file is; ToolFailure where the path leads elsewhere."""
        place, names = self.folder / path, Path(path).parts
        if not path.isprintable():
            raise _bad_path(path, "it has characters that cannot be seen")
        if any(name.startswith(".") for name in names) or not names:
            raise _bad_path(path, "no name in it may begin with a dot")
        real = not os.path.islink(place) and os.path.realpath(place) == str(place)
        if Path(path).anchor or not real:
            raise _bad_path(path, "it leads elsewhere")
        return place

    def _text(self, path: str) -> str | None:
        """Return what a file holds, None where there is none."""
        place = self._place(path)
        try:
            if not place.exists():
                return None
            if not place.is_file():
                raise _bad_path(path, "it is no file")
            text = place.read_bytes().decode()
        except OSError as error:
            raise _bad_path(path, str(error.strerror)) from None
        except UnicodeDecodeError:
            hint = "Leave it alone: these tools know text alone."
            raise ToolFailure("no_text", "the file is not UTF-8.", hint=hint) from None
        if len(text) > MAX_CHARS:
            message = f"the file has more than {MAX_CHARS} characters."
            raise ToolFailure("too_long", message, hint="Go on without it.")
        return text


def _bad_path(path: str, why: str) -> ToolFailure:
    hint = "Use a path that list_files names, or a new name beside it."
    return ToolFailure("bad_path", f"{path[:80]!r} cannot be used: {why}.", hint=hint)


def _unittest(folder: Path, log: Any, limit_s: float) -> int | None:
    """Return the exit code, None after a time-out. No process of it is left behind."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-B", "-m", "unittest", "discover"],
        cwd=folder,
        env={k: os.environ[k] for k in ("PATH", "SYSTEMROOT") if k in os.environ},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        return None
    finally:
        process.kill()
        with suppress(ProcessLookupError, AttributeError):  # of those it began, too
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


TOOLS = dict.fromkeys(
    ("list_files", "read_file", "write_file", "run_tests"),
    lambda: Workspace.sample().tools(),
)
