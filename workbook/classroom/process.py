"""A learner's process and its functions, seen from outside."""

import inspect
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from workbook.classroom.channel import Channel, Gone
from workbook.paths import ROOT

START_LIMIT_S, CALL_LIMIT_S = 60.0, 10.0  # on the wall: to begin; for one call
# Of the environment; no key of yours is among them.
KNOWN = ["PATH", "LANG", "LC_ALL", "SYSTEMROOT", "WORKBOOK_CACHE"]


class Child:
    """The process in which cells run, seen from outside."""

    def __init__(self, serve: Callable[..., Any]) -> None:
        self.folder = tempfile.TemporaryDirectory(
            prefix="workbook-", ignore_cleanup_errors=True
        )
        home = self.folder.name
        known = {name: each for name, each in os.environ.items() if name in KNOWN}
        names = ("HOME", "TMPDIR", "TEMP", "TMP", "WORKBOOK_DATA", "MPLCONFIGDIR")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "workbook.classroom.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=home,
            env={**known, **dict.fromkeys(names, home), "PYTHONPATH": str(ROOT)},
            start_new_session=True,
        )
        assert self.process.stdin
        assert self.process.stdout
        read, write = (
            os.dup(self.process.stdout.fileno()),
            os.dup(self.process.stdin.fileno()),
        )
        self.process.stdin.close()
        self.process.stdout.close()
        self.channel = Channel(read, write, trusted=False)
        self.channel.roots[0] = serve
        self.limits: list[str] = self.ask("limits")

    def ask(
        self, what: str, *args: Any, wall_s: float = START_LIMIT_S, **kwargs: Any
    ) -> Any:
        """Ask; `Gone`: it ended, or did not answer in time, and is killed."""
        try:
            return self.channel.ask(0, what, *args, wall_s=wall_s, **kwargs)
        except BaseException as error:
            if isinstance(error, Gone) or not hasattr(error, "_told"):
                self.close()
            raise

    def computed_s(self) -> float:
        """Return the seconds it has computed; where only it could say, the time."""
        if sys.platform == "linux":
            return time.clock_gettime(~self.process.pid << 3 | 2)  # its CPU clock
        return time.monotonic()

    @property
    def is_there(self) -> bool:
        return not self.channel.over and self.process.poll() is None

    def close(self) -> None:
        """Kill the process and whatever it has begun; remove its folder."""
        if sys.platform != "win32":
            with suppress(OSError):
                os.killpg(self.process.pid, 9)
        self.process.kill()
        self.process.wait()
        self.channel.close()
        self.folder.cleanup()


class Answer:
    """A learner's function, called where it is."""

    def __init__(self, child: Child, slug: str, function: Any, about: Any) -> None:
        self.child, self.function = child, function
        self.__name__ = self.__qualname__ = slug
        self.__doc__ = None
        empty = (None,) if about["empty"] else (slug,)  # what `Watch` takes for a stub
        self.__code__ = SimpleNamespace(co_names=(), co_consts=empty, co_filename="")
        kinds = list(inspect._ParameterKind)
        self.__signature__ = inspect.Signature(
            [
                inspect.Parameter(str(name), kinds[at])
                for name, at in about["parameters"]
            ],
            __validate_parameters__=False,
        )

    def computed_s(self) -> float:
        return self.child.computed_s()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        result, changed = self.child.ask(
            "call", self.function, *args, wall_s=CALL_LIMIT_S, **kwargs
        )
        for name, now in changed:  # so that a test sees it, too
            was = given[name]
            was.clear()
            was.extend(now) if isinstance(was, list) else was.update(now)
        return result
