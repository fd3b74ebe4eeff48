"""Time limits that hold, also when the function does not return."""

import contextvars
import subprocess
import sys
import threading
import time

import pytest

from workbook.tools.calls import Effect, ToolCall
from workbook.tools.registry import ToolRegistry
from workbook.tools.threads import call_with_timeout
from workbook.tools.tool import Tool


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


@pytest.mark.parametrize(
    ("effect", "hint"),
    [(Effect.READ, "go on without it"), (Effect.WRITE, "may still take effect")],
)
def test_a_stuck_tool_gives_its_observation_on_time(effect, hint):
    """it is answered at once, and its late result dropped; a READ may be retried"""
    gate, running = threading.Event(), []

    def wait():
        running.append(threading.current_thread())
        return {"result": gate.wait(60)}

    tool = Tool("Slow", "Waits.", {}, wait, effect, timeout_s=0.2)
    started = time.perf_counter()
    seen = ToolRegistry([tool]).run(ToolCall("Slow", {}, "call_1"))
    assert 0.2 <= time.perf_counter() - started < 30
    assert (seen.ok, seen.error.kind) == (False, "timeout")
    assert seen.error.retryable is (effect is Effect.READ)
    assert hint in seen.error.hint
    assert "0.2 s" in seen.error.message
    gate.set()
    running[0].join(5)
    assert not running[0].is_alive()


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


def test_without_a_limit_it_runs_here():
    """the function runs in the calling thread, and Ctrl-C is no error of the tool"""
    assert call_with_timeout(threading.get_ident, {}, None) == threading.get_ident()

    def interrupted():
        raise KeyboardInterrupt

    tool = Tool("Any", "Any.", {}, interrupted, timeout_s=None)
    with pytest.raises(KeyboardInterrupt):
        ToolRegistry([tool]).run(ToolCall("Any", {}, "call_1"))
