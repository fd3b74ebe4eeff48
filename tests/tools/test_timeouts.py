"""Time limits that hold, also when the function does not return."""

import contextvars
import subprocess
import sys
import threading
import time

import pytest

from workbook.tools.calls import ToolCall
from workbook.tools.registry import ToolRegistry
from workbook.tools.threads import TimedOut, call_with_timeout
from workbook.tools.tool import Tool


@pytest.fixture
def gate():
    """An event that is set when the test is over, so that no stuck thread is left."""
    event = threading.Event()
    yield event
    event.set()


def test_a_result_or_an_exception_comes_back():
    """what the function returns comes back, and what it raises, Ctrl-C too"""
    run_id = contextvars.ContextVar("run_id")
    run_id.set("abc")
    assert call_with_timeout(run_id.get, {}, 5) == "abc"  # in the caller's context
    assert call_with_timeout(pow, {"base": 2, "exp": 5}, 5) == 32
    for error in (KeyError, KeyboardInterrupt):

        def raising(error=error):
            raise error("price")

        with pytest.raises(error, match="price"):
            call_with_timeout(raising, {}, 5)


def test_a_stuck_tool_gives_its_observation_on_time(gate):
    """a tool stuck for minutes with a limit of 0.2 s is answered at once"""
    tool = Tool("Slow", "Waits.", {}, lambda: {"result": gate.wait(60)}, timeout_s=0.2)
    started = time.perf_counter()
    seen = ToolRegistry([tool]).run(ToolCall("Slow", {}, "call_1"))
    assert 0.2 <= time.perf_counter() - started < 30
    assert (seen.ok, seen.error.kind, seen.error.retryable) == (False, "timeout", True)
    assert "0.2 s" in seen.error.message


def test_a_stuck_tool_does_not_keep_the_process_alive():
    """a tool that never returns does not keep the process from ending"""
    program = (
        "import threading\n"
        "from workbook.tools.threads import TimedOut, call_with_timeout\n"
        "try: call_with_timeout(threading.Event().wait, {}, 0.05)\n"
        "except TimedOut: print('on time')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "on time\n", "")


def test_a_late_result_is_dropped(gate):
    """what comes back too late is dropped, and its thread ends"""
    seen = []

    def late():
        seen.append(threading.current_thread())
        gate.wait(60)
        return "late"

    with pytest.raises(TimedOut):
        call_with_timeout(late, {}, 0.02)
    gate.set()
    assert call_with_timeout(lambda: "mine", {}, 5) == "mine"
    seen[0].join(5)
    assert not seen[0].is_alive()


def test_without_a_limit_it_runs_here():
    """without a limit the function runs in the calling thread"""
    assert call_with_timeout(threading.get_ident, {}, None) == threading.get_ident()
