"""A process that tests answers: whatever they do, the notebook is as it was.

`Worker` is the process seen from outside: it hands over an answer as JSON, a line each,
and reads what is found. Before each test the process says what holds if it is never
heard of again, and before each call what is called. Time and memory are looked at from
outside, so that nothing in an answer can hold them up; the same way on every system.
"""

import atexit
import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import IO

import psutil
from pydantic import TypeAdapter

from workbook.exercises.catalogue import CourseError, Exercise
from workbook.exercises.report import Report, place_in
from workbook.paths import ROOT, user_cache, user_data

COMPUTING_S = 2.0  # that one test may take
WAITING_S = 8.0  # that one test may wait; not for its turn on a busy machine
WALL_S = 60.0  # that it may take in all, and a process to be ready
MEMORY_B = 2 * 2**30  # that a process may hold
LINE_B, LINES = 2**20, 200  # of one line that it says; that may wait to be read
LOOK_S = 0.1  # between two looks, each of which reads a list of all processes
PLACE_S = 1.0  # that a process has to say which line it is in, before it is ended
PLACES_B = 100_000  # of what it says then
REPORT = TypeAdapter(Report)
END_S = 5.0  # that a process has to end which says no more


class Worker:
    """A process that tests one answer after another, until it is lost.

    Args:
        wrapper: a command before that of the process, such as bubblewrap's.
        env: its environment; by default that of this process.
        room: an exercise whose room is imported while nobody waits.
    """

    def __init__(
        self,
        wrapper: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        room: str = "",
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._places = tempfile.TemporaryFile()  # noqa: SIM115 - see `close`
        variables = dict(os.environ if env is None else env)
        variables["PYTHONPATH"] = str(ROOT)
        if not wrapper:
            variables |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), self._folder.name)
        if env is None:
            variables["WORKBOOK_DATA"] = str(user_data())  # it may be relative
            variables["WORKBOOK_CACHE"] = str(user_cache())
            kept = str(user_cache() / "hypothesis")  # its tables of characters
            variables["HYPOTHESIS_STORAGE_DIRECTORY"] = kept
        self._process = subprocess.Popen(
            [*wrapper, sys.executable, "-m", "workbook.exercises.tester", room],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._places,
            cwd=self._folder.name,
            env=variables,
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self._told: queue.Queue[bytes] = queue.Queue(LINES)  # b"" at its end
        lines = self._process.stdout, self._told
        threading.Thread(target=_listen, args=lines, daemon=True).start()

    @property
    def ended(self) -> bool:
        """Whether it is lost; then a new one is needed."""
        return self._process.poll() is not None

    def test(self, slug: str, text: str, tests: str = "") -> Report:
        """Return what the tests find of an answer, whatever it does.

        `tests` is a file in place of the exercise's own. CourseError: they cannot run,
        or the process cannot.
        """
        job, of_it = {"slug": slug, "text": text, "tests": tests}, {"slug": slug}
        report: Report | None = None
        call, watched = "", _Watched(self._process.pid)
        with contextlib.suppress(OSError):  # it has ended, which is told below
            assert self._process.stdin
            self._process.stdin.write(json.dumps(job).encode() + b"\n")
            self._process.stdin.flush()
        while not (why := watched.over(begun=report is not None)):
            try:
                match json.loads(self._told.get(timeout=LOOK_S)):
                    case {"refused": str(reason)}:
                        raise CourseError(reason)
                    case {"call": str(call)}:
                        pass
                    case {"begun": dict(found)}:
                        report, call = REPORT.validate_python(found | of_it), ""
                        watched.begin()
                    case {"found": dict(found)}:
                        return REPORT.validate_python(found | of_it)
            except queue.Empty:
                continue
            except (ValueError, RecursionError):
                # Nothing, or nothing of ours: an answer can write there, too.
                why = self._end()
                break
        return self._lost(report, call, text, why)

    def _end(self) -> str:
        """Say how it ended by itself."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=END_S)
        code = self._process.returncode
        if code is None:
            return "it wrote into the pipe that the tests report by, or closed it"
        if code < 0:
            return f"it ended the Python that ran it: {signal.Signals(-code).name}"
        return f"it ended the Python that ran it, with exit code {code}"

    def _lost(self, report: Report | None, call: str, text: str, why: str) -> Report:
        """Return the report of a test from which the process did not come back."""
        self._ask_where()
        size = self._places.seek(0, os.SEEK_END)
        self._places.seek(max(0, size - PLACES_B))
        dumped = self._places.read().decode(errors="replace").strip()
        self.close()
        if report is None:  # no answer has been looked at
            last = dumped.splitlines()[-1:] or [why]
            raise CourseError(f"No test could start: {last[0]}.")
        evidence = [("called", call)] if call else []
        evidence.append(("stopped", why))
        if place := re.search(rf'"<{report.slug}>", line (\d+)', dumped):
            evidence.append(("at", place_in(text, int(place[1]))))
        first, *others = report.failures
        first = replace(first, evidence=tuple(evidence))
        return replace(report, failures=(first, *others))

    def _ask_where(self) -> None:
        """Let faulthandler say which line is running; Windows has no such signal."""
        for each in _family(self._process.pid) if os.name == "posix" else ():
            with contextlib.suppress(psutil.Error):
                if each.cmdline()[:1] == [sys.executable]:
                    each.send_signal(signal.SIGABRT)
                    each.wait(PLACE_S)
                    break

    def close(self) -> None:
        """End it, and whatever it has begun."""
        with contextlib.suppress(OSError, AttributeError):  # no groups on Windows
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError):
            assert self._process.stdin
            self._process.stdin.close()
        self._places.close()
        self._folder.cleanup()


def _listen(stream: IO[bytes], told: "queue.Queue[bytes]") -> None:
    """Hand on each line, then b""; nobody listens to a line without an end."""
    with stream, contextlib.suppress(queue.Full):
        while (line := stream.readline(LINE_B)).endswith(b"\n"):
            told.put(line, timeout=WALL_S)
        told.put(b"", timeout=WALL_S)


class _Watched:
    """What a process and its children have taken, since a test began."""

    def __init__(self, pid: int) -> None:
        self.pid, self.looked_s = pid, time.monotonic()
        self.total_s, *_ = _taken(pid)
        self.begin()

    def begin(self) -> None:
        self.began_s = time.monotonic()
        self.computed_s = self.waited_s = 0.0

    def over(self, begun: bool) -> str:
        """Say which limit is passed, or nothing. Until it has begun there is one."""
        now = time.monotonic()
        if (passed_s := now - self.looked_s) < LOOK_S:
            return ""
        total_s, held_b, runs = _taken(self.pid)
        computed_s = max(0.0, total_s - self.total_s)
        self.looked_s, self.total_s = now, total_s
        self.computed_s += computed_s
        if computed_s < passed_s / 2 and not runs:
            self.waited_s += passed_s
        if now - self.began_s > WALL_S:
            return f"not finished after {WALL_S:g} seconds"
        if begun and held_b > MEMORY_B:
            return f"it took more than {MEMORY_B // 2**30} GB of memory"
        if begun and self.computed_s > COMPUTING_S:
            return f"not finished after {COMPUTING_S:g} seconds of computing"
        if begun and self.waited_s > WAITING_S:
            return f"not finished after {WAITING_S:g} seconds of waiting"
        return ""


def _taken(pid: int) -> tuple[float, int, bool]:
    """Return seconds of computing, bytes of memory, and whether it is running."""
    total_s, held_b, runs = 0.0, 0, False
    for each in _family(pid):
        with contextlib.suppress(psutil.Error):
            times = each.cpu_times()
            total_s += times.user + times.system
            held_b += each.memory_info().rss
            runs |= each.status() == psutil.STATUS_RUNNING
    return total_s, held_b, runs


def _family(pid: int) -> list[psutil.Process]:
    """Return a process and those that it has begun."""
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    return []


# In the kernel: one process is ready for the next check.

_spare: list[Worker] = []


def tested(exercise: Exercise, text: str) -> Report:
    """Return what is found of an answer, in a process of its own.

    Another one is begun for the next, unless many share this machine.
    """
    worker = _spare.pop() if _spare else Worker()
    if worker.ended:  # it was idle for too long
        worker.close()
        worker = Worker()
    try:
        return worker.test(exercise.slug, text, str(exercise.tests_path))
    finally:
        worker.close()
        if not os.environ.get("WORKBOOK_SHARED"):
            _spare.append(Worker(room=exercise.slug))


@atexit.register
def _close_spare() -> None:
    while _spare:
        _spare.pop().close()
