"""A folder with a small program and a failing test, and the tools that work in it.

A path is one plain name, so none leads out of the folder. The tests run in a copy that
is thrown away, so for this folder they are a READ; what a program does elsewhere is
held by a container.
"""

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
from workbook.runtime.calls import ToolFailure
from workbook.runtime.tools import Tool
from workbook.worlds.catalogue import contract

NAME = re.compile(r"\w[\w-]{0,49}(\.\w{1,9})?")  # of a file
SHOWN_BYTES = 4_000  # of what the tests print, the last ones
TESTS_S = 30  # after which the tests are stopped


class Workspace:
    """A folder as an agent sees it: a copy of the sample, which goes with it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp()).resolve()
        sample, left = DATA / "worlds/workspace", shutil.ignore_patterns(".*", "__*")
        shutil.copytree(sample, self.folder, dirs_exist_ok=True, ignore=left)
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def tools(self) -> list[Tool]:
        """Return the four tools, which share this folder."""
        known = {"look_up": self.written, "preview": self.preview}
        return [
            contract("list_files", self.list_files),
            contract("read_file", self.read_file),
            contract("write_file", self.write_file, **known),
            contract("run_tests", self.run_tests),
        ]

    def list_files(self) -> dict[str, Any]:
        """Return the names of the files."""
        return {"files": sorted(each.name for each in self.folder.iterdir())}

    def read_file(self, path: str) -> dict[str, Any]:
        """Return the text of a file."""
        if (text := self._text(path)) is not None:
            return {"path": path, "text": text}
        hint = f"There is: {', '.join(self.list_files()['files']) or 'no file at all'}."
        raise ToolFailure("no_such_file", f"there is no file {path!r}.", hint=hint)

    def write_file(self, path: str, text: str) -> dict[str, Any]:
        """Make a file of this text, new or in place of another."""
        self._text(path)
        (self.folder / path).write_bytes(text.encode())
        return {"written": path, "lines": len(text.splitlines())}

    def written(self, path: str, text: str) -> dict[str, Any] | None:
        """Return what `write_file` does if the file has this text, otherwise None."""
        done = self._text(path) == text
        return {"written": path, "lines": len(text.splitlines())} if done else None

    def preview(self, path: str, text: str) -> str:
        """Return what a write would change, as a unified diff."""
        before = self._text(path)
        old, new = ((each or "").splitlines(keepends=True) for each in (before, text))
        names = "(no file)" if before is None else path, path
        return "".join(difflib.unified_diff(old, new, *names)) or "nothing changes"

    def run_tests(self) -> dict[str, Any]:
        """Run the unit tests of a copy of the folder, in a process of their own."""
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
            copy = shutil.copytree(self.folder, Path(place).resolve() / "copy")
            keys = {"PATH", "SYSTEMROOT"} & os.environ.keys()
            with Path(place, "log").open("wb+") as log:
                process = subprocess.Popen(
                    [sys.executable, "-I", "-B", "-m", "unittest", "discover"],
                    cwd=copy,
                    env={key: os.environ[key] for key in keys},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
                try:
                    code = process.wait(TESTS_S)
                except subprocess.TimeoutExpired:
                    message = f"the tests were stopped after {TESTS_S} s."
                    hint = "Look for an endless loop."
                    raise ToolFailure("too_slow", message, hint=hint) from None
                finally:
                    process.kill()
                    with suppress(
                        ProcessLookupError, AttributeError
                    ):  # what it began, too
                        os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                log.seek(max(log.seek(0, os.SEEK_END) - SHOWN_BYTES, 0))
                printed = log.read().decode("utf-8", "replace")
        printed = printed.replace(f"{copy}{os.sep}", "")
        printed = re.sub(r"(?m) in [\d.]+s$", "", printed)
        some = re.search(r"(?m)^Ran [1-9]", printed) is not None
        return {"passed": code == 0 and some, "output": printed}

    def _text(self, path: str) -> str | None:
        """Return what a file holds, None where there is none."""
        if not NAME.fullmatch(path):
            hint = "Use a name that list_files shows, or a new one of that form."
            message = f"{path[:80]!r} is no name of a file in the workspace."
            raise ToolFailure("bad_path", message, hint=hint)
        place = self.folder / path
        return place.read_bytes().decode(errors="replace") if place.exists() else None


TOOLS = dict.fromkeys(
    ("list_files", "read_file", "write_file", "run_tests"),
    lambda: Workspace().tools(),
)
