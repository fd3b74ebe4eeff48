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


def test_a_result_comes_back():
    """what the function returns comes back"""
    assert call_with_timeout(pow, {"base": 2, "exp": 5}, 5) == 32


def test_an_exception_comes_back():
    """what the function raises is raised here"""
    with pytest.raises(KeyError, match="price"):
        call_with_timeout(lambda: {}["price"], {}, 5)


def test_a_stuck_tool_gives_its_observation_on_time(gate):
    """a tool stuck for ten seconds with a limit of 0.5 s is answered within 0.7 s"""
    tool = Tool("Slow", "Waits.", {}, lambda: {"result": gate.wait(10)}, timeout_s=0.5)
    registry = ToolRegistry([tool])
    started = time.perf_counter()
    seen = registry.run(ToolCall("Slow", {}, "call_1"))
    assert 0.45 < time.perf_counter() - started < 0.7
    assert (seen.ok, seen.error.kind, seen.error.retryable) == (False, "timeout", True)
    assert "0.5 s" in seen.error.message


def test_a_stuck_tool_does_not_keep_the_process_alive():
    """a tool that never returns does not keep the process from ending"""
    program = (
        "import threading\n"
        "from workbook.tools.threads import TimedOut, call_with_timeout\n"
        "try: call_with_timeout(threading.Event().wait, {}, 0.05)\n"
        "except TimedOut: print('on time')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=20
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "on time\n", "")


def test_a_stuck_thread_ends_when_its_function_comes_back(gate):
    """a stuck thread is left to itself, and ends when its function returns"""
    seen = []

    def stuck():
        seen.append(threading.current_thread())
        gate.wait(10)

    with pytest.raises(TimedOut):
        call_with_timeout(stuck, {}, 0.02)
    gate.set()
    seen[0].join(5)
    assert not seen[0].is_alive()


def test_a_late_result_is_dropped(gate):
    """what comes back too late is dropped and never taken for a later call's result"""
    with pytest.raises(TimedOut):
        call_with_timeout(lambda: gate.wait(10) and "late", {}, 0.02)
    gate.set()
    assert call_with_timeout(lambda: "mine", {}, 5) == "mine"


def test_without_a_limit_it_runs_here():
    """without a limit the function runs in the calling thread"""
    assert call_with_timeout(threading.get_ident, {}, None) == threading.get_ident()


def test_the_function_sees_the_callers_context():
    """context variables of the caller are seen inside"""
    run_id = contextvars.ContextVar("run_id")
    run_id.set("abc")
    assert call_with_timeout(run_id.get, {}, 5) == "abc"


def test_a_call_inside_a_call_gets_a_thread_of_its_own():
    """a tool may call another tool with a limit of its own"""

    def outer():
        return call_with_timeout(lambda: "inner", {}, 5)

    assert call_with_timeout(outer, {}, 5) == "inner"


def test_a_keyboard_interrupt_passes():
    """Ctrl-C inside a function with a limit reaches the caller"""

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call_with_timeout(interrupted, {}, 5)


def test_a_call_is_cheap():
    """a call with a limit costs less than a quarter of a millisecond"""
    call_with_timeout(int, {}, 5)
    times = []
    for _ in range(300):
        started = time.process_time()
        call_with_timeout(int, {}, 5)
        times.append(time.process_time() - started)
    assert sorted(times)[150] < 250e-6
