"""A process that tests answers: whatever these do, the notebook is as it was.

`Worker` is the process seen from outside: it sends an answer as a line of JSON and
reads what is found. Time and memory are looked at from outside, so that nothing in an
answer can hold them up; the same way on every system.
"""

import contextlib
import json
import os
import queue
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from workbook.checks.catalogue import CourseError
from workbook.checks.evidence import place_in
from workbook.paths import ROOT, user_cache, user_data

Report = dict[str, Any]
"""slug, outcome, met and of (rules), note, and failures: rule, test, evidence."""

COMPUTING_S, WAITING_S = 2.0, 15.0  # that one test may compute, and wait
READY_S = 60.0  # that a process may wait before it is ready
DUMPED = b"-\n"  # what it writes below the lines that were running
MEMORY_B = 2 * 2**30  # that a process may hold
LINE_B, LINES = 2**20, 200  # of one line that it writes; that may wait to be read
LOOK_S = 0.1  # between two looks, each of which reads a list of all processes
IDLE_S = 0.005  # of computing between two looks: with less it may be waiting
END_S = 2.0  # that a process has to end which writes no more
PLACE_S = 1.0  # that it has to say which line it is in, before it is ended


class Worker:
    """A process that tests one answer after another, until it is lost.

    `wrapper` is a command before that of the process, such as bubblewrap's. The room of
    the exercise `room` is imported while nobody waits.
    """

    def __init__(
        self,
        wrapper: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        room: str = "",
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        variables = dict(os.environ if env is None else env, PYTHONPATH=str(ROOT))
        variables |= {"PYTEST_ADDOPTS": "", "PYTEST_PLUGINS": ""}
        if not wrapper:
            variables |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), self._folder.name)
        if env is None:  # a folder of the user's may be relative
            cache = user_cache()  # with hypothesis's tables of characters
            variables |= {
                "WORKBOOK_DATA": f"{user_data()}",
                "WORKBOOK_CACHE": f"{cache}",
            }
            variables["HYPOTHESIS_STORAGE_DIRECTORY"] = str(cache / "hypothesis")
        pipes: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self._process = subprocess.Popen(
            [*wrapper, sys.executable, "-m", "workbook.checks.tester", room],
            cwd=self._folder.name,
            env=variables,
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            **pipes,
        )
        self._lines: queue.Queue[bytes] = queue.Queue(LINES)  # b"" at its end
        self._places: deque[bytes] = deque(maxlen=LINES)
        _listen(
            self._process.stdout, lambda line: self._lines.put(line, timeout=READY_S)
        )
        self._reading = _listen(self._process.stderr, self._places.append)

    @property
    def ended(self) -> bool:
        """Whether it is lost; then a new one is needed."""
        return self._process.poll() is not None

    def test(self, slug: str, text: str, tests: str = "") -> Report:
        """Return what the tests find of an answer, whatever it does.

        `tests` is a file in place of the exercise's own. CourseError: they cannot run,
        or the process cannot.
        """
        mark = secrets.token_hex(8)
        report: Report | None = None
        call = why = ""
        before_s: float | None = None  # computed before the test
        last_s = waited_s = 0.0
        self._send(
            json.dumps({"slug": slug, "text": text, "tests": tests, "mark": mark})
        )
        while not why:
            try:
                line = self._lines.get(timeout=LOOK_S).decode(errors="replace")
            except queue.Empty:
                spent_s, held_b, wants_core = _taken(self._process.pid)
                if spent_s - last_s < IDLE_S and not wants_core:
                    waited_s += LOOK_S  # on a loaded machine this is less than passed
                before_s, last_s = before_s or spent_s, spent_s
                most_s = WAITING_S if report else READY_S
                if report and spent_s - before_s > COMPUTING_S:
                    why = f"not finished after {COMPUTING_S:g} seconds of computing"
                elif waited_s > most_s:
                    why = f"not finished after {most_s:g} seconds"
                elif held_b > MEMORY_B:
                    why = f"it took more than {MEMORY_B // 2**30} GB of memory"
                continue
            if not line.startswith(mark):  # an answer can write there, too
                why = self._how_it_ended()
                break
            match json.loads(line.removeprefix(mark)):
                case {"refused": reason}:
                    raise CourseError(reason)
                case {"found": found}:
                    return dict(found)
                case {"begun": report}:
                    call, waited_s, before_s = "", 0.0, None
                case {"call": call}:
                    pass
        return self._lost(report, call, text, why)

    def _send(self, line: str) -> None:
        with contextlib.suppress(OSError):  # it has ended, which is seen elsewhere
            assert self._process.stdin
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()

    def _how_it_ended(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(timeout=END_S)
            how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            return f"it ended the Python that ran it: {how}"
        return "it wrote into the pipe that the tests report by, or closed it"

    def _lost(self, report: Report | None, call: str, text: str, why: str) -> Report:
        """Return the report of a test from which the process did not come back."""
        self._send("where")
        until_s = time.monotonic() + PLACE_S
        while not (self.ended or DUMPED in self._places or time.monotonic() > until_s):
            time.sleep(0.02)
        self.close()
        self._reading.join(PLACE_S)
        dump = b"".join(self._places).decode(errors="replace").strip()
        if report is None:  # no answer has been looked at
            last = dump.splitlines()[-1:] or [why]
            raise CourseError(f"No test could start: {last[0]}.")
        evidence = [("called", call)] if call else []
        evidence.append(("stopped", why))
        if place := re.search(rf'"<{report["slug"]}>", line (\d+) in (\S+)', dump):
            evidence.append(("at", place_in(text, int(place[1]), place[2])))
        report["failures"][0]["evidence"] = evidence
        return report

    def close(self) -> None:
        """End it, and whatever it has begun."""
        with contextlib.suppress(OSError, AttributeError):  # no groups on Windows
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError):
            assert self._process.stdin
            self._process.stdin.close()
        self._folder.cleanup()


def _listen(stream: Any, hand_on: Callable[[bytes], object]) -> threading.Thread:
    """Hand on each line, then b""; of a line without an end only its beginning."""

    def read() -> None:
        with stream, contextlib.suppress(queue.Full):
            while (line := stream.readline(LINE_B)).endswith(b"\n"):
                hand_on(line)
            hand_on(b"")

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread


def _taken(pid: int) -> tuple[float, int, bool]:
    """Return what a process and its children took: seconds of a core, and bytes.

    And whether a thread of theirs could go on if it had a core, as Linux says.
    """
    total_s, held_b, wants_core = 0.0, 0, False
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        for each in [process, *process.children(recursive=True)]:
            with contextlib.suppress(psutil.Error, OSError):
                times = each.cpu_times()
                total_s += times.user + times.system
                held_b += each.memory_info().rss
                for thread in Path(f"/proc/{each.pid}/task").glob("*/stat"):
                    state = thread.read_bytes().rpartition(b") ")[2][:1]
                    wants_core |= state in (b"R", b"D")
    return total_s, held_b, wants_core


_spare: list[Worker] = []
"""In the kernel: a process that is ready for the next check; both end together."""


def tested(slug: str, text: str) -> Report:
    """Return what is found of an answer, in a process of its own."""
    worker = _spare.pop() if _spare else Worker()
    if worker.ended:  # it was idle for too long
        worker.close()
        worker = Worker()
    try:
        return worker.test(slug, text)
    finally:
        worker.close()
        if not os.environ.get("WORKBOOK_SHARED"):  # many are on this machine
            _spare.append(Worker(room=slug))
