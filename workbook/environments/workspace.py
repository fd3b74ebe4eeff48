"""A folder with a small program and a failing test, and the tools that work in it.

No path leads out of the folder, and every write can be taken back. The tests run in a
copy, which is thrown away: for this folder that is a READ. What a program does
elsewhere is held by a container, and not by a copy.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock

from workbook.environments.inside import MAX_CHARS, opened, put_text, read_text
from workbook.paths import DATA
from workbook.tools import Effect, Tool, ToolFailure

HISTORY = ".history"  # of writes; no tool sees a name that begins with a dot
MAX_FILES = 200
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
ONE = {"properties": {"path": PATH}, "required": ["path"]}
TEXT = {"type": "string", "maxLength": MAX_CHARS}
BOTH = {"properties": {"path": PATH, "text": TEXT}, "required": ["path", "text"]}


class Workspace:
    """A folder as an agent sees it. Its tests are stopped after `tests_s` seconds."""

    def __init__(self, folder: Path | str, tests_s: float = 20.0) -> None:
        self.folder, self.tests_s = Path(folder).resolve(strict=True), tests_s

    @classmethod
    def sample(cls, folder: Path | str | None = None) -> Workspace:
        """Write the sample into a folder; without one, into one that goes with it."""
        place = Path(folder or tempfile.mkdtemp(prefix="workspace_"))
        place.mkdir(parents=True, exist_ok=True)
        for name in ("price.py", "test_price.py"):
            shutil.copyfile(DATA / "workspace" / name, place / name)
        workspace = cls(place)
        if folder is None:
            weakref.finalize(workspace, shutil.rmtree, place, ignore_errors=True)
        return workspace

    def tools(self) -> list[Tool]:
        """Return the four tools, which share this folder."""
        known: Any = {"look_up": self.written, "preview": self.preview}
        known |= {"repeatable": True}
        return [
            Tool("list_files", LIST, {}, self.list_files, repeatable=True),
            Tool("read_file", READ, ONE, self.read_file, repeatable=True),
            Tool("write_file", WRITE, BOTH, self.write_file, Effect.WRITE, **known),
            Tool("run_tests", TEST, {}, self.run_tests, timeout_s=self.tests_s + 10),
        ]

    def list_files(self) -> dict[str, Any]:
        """Return the files of the folder and of those in it; links are left out."""
        found: list[str] = []
        for place, folders, names in os.walk(self.folder):
            folders[:] = sorted(name for name in folders if name[0] != ".")
            paths = (Path(place, name) for name in sorted(names) if name[0] != ".")
            files = (path for path in paths if path.is_file() and not path.is_symlink())
            found += [path.relative_to(self.folder).as_posix() for path in files]
        return {"files": found[:MAX_FILES], "more": max(len(found) - MAX_FILES, 0)}

    def read_file(self, path: str) -> dict[str, Any]:
        """Return the text of a file."""
        if (text := self._text(path)) is not None:
            return {"path": path, "text": text}
        hint = f"There is: {', '.join(self.list_files()['files']) or 'no file at all'}."
        raise ToolFailure("no_such_file", f"there is no file {path!r}.", hint=hint)

    def write_file(self, path: str, text: str) -> dict[str, Any]:
        """Make a file of this text, new or in place of another; see `undo`."""
        with opened(self.folder, path) as place, self._history() as entries:
            new = self.folder / HISTORY / "new"
            new.write_text(json.dumps({"path": path, "before": read_text(place)}))
            new.replace(new.with_name(f"{len(entries) + 1:06}.json"))
            put_text(place, text)
        return {"written": path, "lines": len(text.splitlines())}

    def undo(self) -> str:
        """Take the last write back and return its path; LookupError where none is."""
        with self._history() as entries:
            if not entries:
                raise LookupError("no write is left that could be taken back")
            last = json.loads(entries[-1].read_text())
            with opened(self.folder, last["path"]) as place:
                put_text(place, last["before"])
            entries[-1].unlink()
        return str(last["path"])

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

    def _text(self, path: str) -> str | None:
        with opened(self.folder, path) as place:
            return read_text(place)

    @contextmanager
    def _history(self) -> Iterator[list[Path]]:
        """Yield the writes that can be taken back; nobody else writes meanwhile."""
        folder = self.folder / HISTORY
        folder.mkdir(exist_ok=True)
        if folder.is_symlink():
            raise ToolFailure("bad_path", f"{HISTORY} is a link.", hint="Move it away.")
        with FileLock(folder / "lock"):
            yield sorted(folder.glob("*.json"))


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
