"""A tool that hangs does not hang the machine, nor the process."""

import subprocess
import sys
import threading
import time

import pytest

from workbook.fsm import Machine, State
from workbook.models.script import Script
from workbook.record.writer import TraceWriter
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import Tool

TURNS = [
    "Thought: look\nAction: Slow\nAction Input: {}",
    "Thought: no luck\nFinal Answer: it does not answer",
]
PROGRAM = """
import threading
from workbook.fsm import Machine
from workbook.models.script import Script
from workbook.tools.tool import Tool
from workbook.tools.registry import ToolRegistry

stuck = Tool("Slow", "Waits.", {}, threading.Event().wait, timeout_s=0.05)
turns = ["Action: Slow\\nAction Input: {}", "Final Answer: gave up"]
print(Machine(Script(turns), ToolRegistry([stuck])).run("q").answer)
"""


@pytest.fixture
def gate():
    """An event that is set when the test is over, so that no stuck thread is left."""
    event = threading.Event()
    yield event
    event.set()


def test_a_stuck_tool_is_observed_on_time_and_the_run_goes_on(gate):
    """a tool stuck for ten seconds with a limit of 0.5 s is answered within 0.7 s"""
    tool = Tool("Slow", "Waits.", {}, lambda: {"result": gate.wait(10)}, timeout_s=0.5)
    emit = TraceWriter()

    started = time.perf_counter()
    end = Machine(Script(TURNS), ToolRegistry([tool]), hook=emit).run("q")
    took = time.perf_counter() - started

    (call,), (seen,) = emit.trace().of("tool_call"), emit.trace().of("observation")
    assert (seen["call_id"], seen["ok"]) == (call["call_id"], False)
    assert seen["error"]["kind"] == "timeout"
    assert 0.45 < seen["at_s"] - call["at_s"] < 0.7
    assert (end.state, end.answer) == (State.DONE, "it does not answer")
    assert took < 0.7


def test_the_process_ends_while_a_tool_is_still_stuck():
    """a tool that never returns does not keep the process alive after the run"""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=20
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "gave up\n", "")
