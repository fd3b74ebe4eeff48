"""A copy of this process goes first, where code may never come back to Python.

`sum(range(10**12))` hears no alarm and no Stop button: nothing but the end of its
process ends it. So a forked copy runs the tests before the kernel does. It prints
nothing, and says before each test what holds if it is never heard of again.
"""

import ctypes
import faulthandler
import gc
import linecache
import os
import re
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType
from typing import NoReturn

from workbook.exercises.report import Report, clip

SILENT_S = 7.5  # more than an alarm that is heard leaves to a test, see `time_limit`
LONG_S = 1.0  # of computing: what took so long is not run again

Tell = Callable[[Report], None]
DEAF = "still running after {:g} seconds, in one long step: Python cannot interrupt it"
MANY = "sum, range, sorted or a product over far too many values; find a shorter way"
GONE = "it ended the Python that ran it: {}"
WHY = {
    "SIGKILL": "it took more memory than there is",
    "SIGSEGV": "it calls itself too often, or goes wrong in code that is not Python's",
}
SAFE = "It was tried in a copy of this notebook: nothing of yours is lost."


def possible() -> bool:
    """Return whether a copy can be made: on Linux, in the main thread.

    Elsewhere a function that cannot be interrupted blocks the kernel until it ends (a
    fork is not safe with macOS's own libraries, and Windows has none): after ten
    seconds the terminal that the notebook was started from shows where it is.
    """
    main = threading.current_thread() is threading.main_thread()
    return sys.platform == "linux" and main


def run_ahead(work: Callable[[Tell], Report | None], code: CodeType) -> Report | None:
    """Run `work` in a copy; return the report where it must not be run here, or None.

    That is where the copy was silent for `SILENT_S`, ended, or computed for `LONG_S`.
    None: it came back soon, so the caller runs it too, and what it does to variables is
    seen; or it waits, perhaps for a thread that the copy has not: an alarm ends that.

    Args:
        work: is given a function to say what holds if nothing more comes.
        code: of the learner's function, whose line is named.
    """
    hears, says = Pipe(duplex=False)
    with hears, tempfile.TemporaryDirectory(prefix="workbook-copy-") as name:
        try:
            copy = os.fork()
        except OSError:  # no memory for it
            says.close()
            return None
        if not copy:
            _be_the_copy(work, says, Path(name))
        says.close()
        try:
            report, seconds, silent = _listen(hears)
            state = _state(copy) if silent else "ended"
            if state == "running":
                os.kill(copy, signal.SIGUSR1)
                time.sleep(0.2)  # it writes down where it is, whatever it does
                text = (Path(name) / "where").read_text(encoding="utf-8")
        finally:
            status = _end(copy)
    if report is None or state == "waiting":
        return None
    if seconds is not None:
        return report if seconds > LONG_S else None
    if state == "running":
        place = re.search(rf'"{re.escape(code.co_filename)}", line (\d+)', text)
        evidence = [("stopped", DEAF.format(SILENT_S)), ("perhaps", MANY)]
        if place:
            line = linecache.getline(code.co_filename, int(place[1])).strip()
            evidence.insert(1, ("at", f"line {place[1]}: {clip(line, 160)}"))
    else:
        end = signal.Signals(-status).name if status < 0 else f"exit code {status}"
        why = WHY.get(end, "return a value; do not end the program")
        evidence = [("stopped", GONE.format(end)), ("perhaps", why)]
    first, *others = report.failures
    failures = (replace(first, evidence=tuple(evidence)), *others)
    return replace(report, failures=failures, note=f"{SAFE} {report.note}".strip())


def _listen(hears: Connection) -> tuple[Report | None, float | None, bool]:
    """Return the last report; its seconds, if the copy came back; if it is silent."""
    report: Report | None = None
    try:
        while hears.poll(SILENT_S):
            report, seconds = hears.recv()
            if seconds is not None:
                return report, seconds, False
    except (EOFError, OSError):
        return report, None, False
    return report, None, True


def _state(copy: int) -> str:
    """Return "running" when one of its threads is, "waiting", or "ended"."""
    states = set()
    with suppress(OSError):
        for thread in Path(f"/proc/{copy}/task").iterdir():
            states.add((thread / "stat").read_text().rpartition(") ")[2][0])
    if states <= {"Z", "X"}:
        return "ended"
    return "waiting" if states <= {"S", "I"} else "running"


def _end(copy: int) -> int:
    """End the copy and what it has started; return how it ended, as a `Popen` says."""
    with suppress(OSError):
        os.killpg(copy, signal.SIGKILL)
    with suppress(OSError):
        os.kill(copy, signal.SIGKILL)  # before it had a group of its own
    with suppress(ChildProcessError):  # where nobody is to wait for children
        return os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1])
    return -signal.SIGKILL


def _be_the_copy(
    work: Callable[[Tell], Report | None], says: Connection, folder: Path
) -> NoReturn:
    """Run the work in silence, say what came of it, and end without any clean-up."""
    end: tuple[Report | None, float] = None, 0.0
    try:
        gc.freeze()  # to look at what is there already would copy it
        os.setpgid(0, 0)
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: not without us
        with suppress(OSError):  # where memory runs out, this one goes
            Path("/proc/self/oom_score_adj").write_text("1000")
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        tempfile.tempdir = str(folder)  # which goes when we do
        where = (folder / "where").open("w")
        faulthandler.register(signal.SIGUSR1, where, all_threads=False)
        if "IPython" in sys.modules:
            from IPython.utils.capture import capture_output

            capture_output(stdout=False, stderr=False).__enter__()  # of `display`
        end = work(lambda report: says.send((report, None))), time.process_time()
    finally:
        try:
            says.send(end)
        finally:
            os._exit(0)


@contextmanager
def told_in_the_terminal() -> Iterator[None]:
    """Show where Python is, after ten seconds, to who looks at the terminal."""
    if sys.__stderr__:
        faulthandler.dump_traceback_later(10, file=sys.__stderr__)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
