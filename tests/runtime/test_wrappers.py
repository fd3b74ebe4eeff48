"""Wrappers of tools; `run_in_parallel` has its tests in `test_parallel.py`."""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from workbook.runtime.calls import Effect, ToolCall, ToolFailure
from workbook.runtime.tools import Tool, ToolRegistry
from workbook.runtime.turns import Action
from workbook.runtime.wrappers import (
    as_tool,
    cached,
    logged,
    step_by_step,
    with_backoff,
    with_recovery,
)

INTEGER = {"properties": {"n": {"type": "integer", "maximum": 20}}, "required": ["n"]}
BUSY = ToolFailure("busy", "the line is busy.", retryable=True)
FULL = ToolFailure("full", "the disk is full.")


class Http(Exception):  # noqa: N818 - as clients of HTTP raise it
    def __init__(self, status):
        super().__init__(f"status {status}")
        self.response = SimpleNamespace(status_code=status)


def double(*errors, **fields):
    """Return a tool that raises these errors first, and the arguments of its calls."""
    left, seen = list(errors), []

    def run(n):
        seen.append(n)
        if left:
            raise left.pop(0)
        return {"result": 2 * n}

    more = {"timeout_s": None, **fields}
    return Tool("Double", "Doubles.", INTEGER, run, **more), seen


@pytest.mark.parametrize("wrap", [with_backoff, with_recovery, cached])
def test_a_write_is_not_made_again(wrap):
    """a WRITE is not repeated, and its result not kept, in place of doing it"""
    with pytest.raises(ValueError, match="Double writes"):
        wrap(double(effect=Effect.WRITE)[0])


@pytest.mark.parametrize(
    ("errors", "pauses"),
    [
        ([], []),
        ([BUSY], [0.5]),
        ([Http(429), Http(503), ConnectionError()], [0.5, 1, 2]),
    ],
    ids=["none", "tool", "network"],
)
def test_a_call_that_can_succeed_later_is_made_again(errors, pauses):
    """what can pass is tried again, after pauses that are each twice as long"""
    slept = []
    tool, seen = double(*errors, effect="write", repeatable=True)
    assert with_backoff(tool, sleep=slept.append).run(n=4) == {"result": 8}
    assert (slept, len(seen)) == (pauses, len(errors) + 1)


@pytest.mark.parametrize(
    ("errors", "attempts"),
    [([BUSY] * 4, 4), ([FULL], 1), ([Http(404)], 1), ([KeyError("n")], 1)],
    ids=["attempts", "tool", "status", "bug"],
)
def test_an_error_that_stays_is_raised(errors, attempts):
    """after the last attempt, and where waiting does not help, the error is raised"""
    tool, seen = double(*errors)
    with pytest.raises(type(errors[0])):
        with_backoff(tool, sleep=lambda _: None).run(n=4)
    assert len(seen) == attempts


def test_the_pauses_have_time_of_their_own():
    """the time limit of the tool grows by the pauses; none stays none"""
    assert with_backoff(double(timeout_s=3.0)[0], 3, 1.0).timeout_s == 6.0
    assert with_backoff(double()[0]).timeout_s is None


def test_arguments_are_repaired_before_and_after_a_call():
    """wrong arguments are repaired before the call, others after the error"""
    assert with_recovery(double()[0]).run(value=["12"]) == {"result": 24}
    tool, seen = double(FULL)

    def repair(arguments, error):
        return {"n": arguments["n"] - 1} if error == "the disk is full." else arguments

    assert with_recovery(tool, repair=repair).run(n=9) == {"result": 16}
    assert seen == [9, 8]


@pytest.mark.parametrize(
    ("arguments", "errors", "calls", "words"),
    [
        ({"n": 25}, [], 0, '{"n": 25}: arguments.n: 25 is greater than'),
        ({"n": 9}, [BUSY] * 3, 3, '{"n": 9}: the line is busy; {"n": 9}: '),
        ({"value": "9"}, [KeyError("x")], 1, """{"n": 9}: 'x'"""),
    ],
    ids=["invalid", "busy", "repaired"],
)
def test_what_cannot_be_recovered_is_handed_over(arguments, errors, calls, words):
    """a person is asked for, with each attempt and its error; no call is invalid"""
    tool, seen = double(*errors)
    with pytest.raises(ToolFailure) as failure:
        with_recovery(tool).run(**arguments)
    error = failure.value.error
    assert (error.kind, error.retryable, len(seen)) == ("needs_person", False, calls)
    assert words in error.message
    assert re.search(r"[^.]\.$", error.message)


def test_a_result_is_kept_for_its_age_and_an_error_is_not():
    """the same arguments, in any order, get the kept result until it is too old"""
    now, seen = [0.0], []

    def add(a, b):
        seen.append(a)
        return {"result": a + b} if len(seen) > 1 else 1 / 0

    tool = Tool("Add", "Adds.", {"properties": {"a": {}, "b": {}}}, add)
    tool = cached(tool, max_age_s=60, clock=lambda: now[0])
    with pytest.raises(ZeroDivisionError):
        tool.run(a=1, b=2)
    for now[0], calls in ((0.0, 2), (60.0, 2), (61.0, 3)):
        assert tool.run(a=1, b=2) == tool.run(b=2, a=1) == {"result": 3}
        assert len(seen) == calls
    assert tool.run(a=2, b=1) == {"result": 3}
    assert len(seen) == 4


def test_processes_share_a_file(tmp_path):
    """a result in a file is there for other processes; each tool has its own"""
    program = (
        "import sys\n"
        "from workbook.runtime.tools import Tool\n"
        "from workbook.runtime.wrappers import cached\n"
        "run = lambda **given: {'result': 'from a process'}\n"
        "tool = Tool('Double', 'Doubles.', {'properties': {'n': {}}}, run)\n"
        "cached(tool, sys.argv[1]).run(n=1)\n"
    )
    path = tmp_path / "kept.sqlite"
    subprocess.run([sys.executable, "-c", program, str(path)], check=True, timeout=60)
    tool, seen = double()
    kept = cached(tool, path)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda n: kept.run(n=n % 4), range(400)))
    assert results[:3] == [{"result": 0}, {"result": "from a process"}, {"result": 4}]
    assert 1 not in seen
    other = Tool("Triple", "Triples.", INTEGER, lambda n: {"result": 3 * n})
    assert cached(other, path).run(n=1) == {"result": 3}


def test_a_call_is_logged():
    """a call is logged with its arguments, and then its result or its error"""
    lines = []
    tool = logged(double(FULL)[0], lines.append)
    with pytest.raises(ToolFailure):
        tool.run(n=4)
    tool.run(n=4)
    assert lines == [
        "Double starts: {'n': 4}",
        "Double failed: ToolFailure('the disk is full.')",
        "Double starts: {'n': 4}",
        "Double returned: {'result': 8}",
    ]


def test_each_call_is_shown_before_it_is_made():
    """each call is shown with what its checks found, and waits; a summary lists all"""
    shown, made = [], []
    tool, seen = double(FULL)
    registry = step_by_step(
        ToolRegistry([tool], strict=True),
        ask=lambda text: shown.append(text) or made.append(len(seen)),
    )
    for text in ('{"n": "4"}', '{"n": 4}', "4"):
        bound = registry.bind(Action("", "Double", text))
        if isinstance(bound, ToolCall):
            registry.run(bound)
    assert made == [0, 1, 2]
    for text, words in zip(shown, ["'4' read as 4", "valid", "refused"], strict=True):
        assert words in text
    assert registry.summary() == (
        "3 calls, 1 ok\n1. Double: full\n2. Double: ok\n3. Double: invalid_arguments"
    )


class Machine:
    def __init__(self, tools=(), **end):
        self.tools, self.end = tools, SimpleNamespace(**end)

    def run(self, question):
        return self.end


def test_an_agent_is_a_tool_of_another():
    """the question goes in, the answer comes out; an agent that can write is a WRITE"""
    agent = Machine([double()[0]], state="DONE", reason="", answer="88", message="")
    tool = as_tool(agent, "Ask", "Asks an agent.")
    assert tool.signature() == "Ask(question: string)"
    assert (tool.run(question="80 + 8?"), tool.effect) == ({"answer": "88"}, "read")
    writes = [double()[0], double(effect="write")[0]]
    assert as_tool(Machine(writes), "Ask", "Asks.").effect is Effect.WRITE


def test_a_run_without_an_answer_is_a_failure():
    """a run that does not end in DONE is a failure that names its end and why"""
    end = {"state": "STUCK", "reason": "stuck", "answer": None, "message": "in circles"}
    with pytest.raises(ToolFailure, match=r"ended in STUCK \(stuck\): in circles\."):
        as_tool(Machine(**end), "Ask", "Asks an agent.").run(question="?")
