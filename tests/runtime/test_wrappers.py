"""Wrappers of tools; `run_in_parallel` has its tests in `test_parallel.py`."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
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
    ("errors", "pauses", "fails"),
    [
        ([Http(429), Http(503), ConnectionError()], [0.5, 1, 2], False),
        ([BUSY] * 4, [0.5, 1, 2], True),
        ([FULL], [], True),
        ([Http(404)], [], True),
    ],
    ids=["network", "attempts", "no use", "status"],
)
def test_a_call_that_can_succeed_later_is_made_again(errors, pauses, fails):
    """what can pass is tried again, after pauses that are each twice as long"""
    slept = []
    tool, seen = double(*errors, effect="write", repeatable=True, timeout_s=3.0)
    patient = with_backoff(tool, sleep=slept.append)
    if fails:
        with pytest.raises(type(errors[0])):
            patient.run(n=4)
    else:
        assert patient.run(n=4) == {"result": 8}
    assert (slept, len(seen)) == (pauses, len(errors) + (not fails))
    assert patient.timeout_s == 6.5  # the pauses have time of their own


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
    with pytest.raises(
        ToolFailure, match=rf"{re.escape(words)}(.*[^.])?\.$"
    ) as failure:
        with_recovery(tool).run(**arguments)
    assert (failure.value.error.kind, len(seen)) == ("needs_person", calls)


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


def test_processes_share_a_file(tmp_path):
    """a result in a file is there for who opens it next; each tool has its own"""
    path, (tool, seen) = tmp_path / "kept.sqlite", double()
    cached(replace(tool, run=lambda n: {"result": "kept"}), path).run(n=1)
    kept, other = cached(tool, path), cached(replace(tool, name="Other"), path)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda n: kept.run(n=n % 4), range(400)))
    assert results[:3] == [{"result": 0}, {"result": "kept"}, {"result": 4}]
    assert 1 not in seen
    assert other.run(n=1) == {"result": 2}


def test_a_call_is_logged():
    """a call is logged with its arguments, and then its result or its error"""
    lines = []
    tool = logged(double(FULL)[0], lines.append)
    with pytest.raises(ToolFailure):
        tool.run(n=4)
    assert tool.run(n=4) == {"result": 8}
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


@pytest.mark.parametrize(
    ("state", "effect"), [("DONE", "read"), ("DONE", "write"), ("STUCK", "read")]
)
def test_an_agent_is_a_tool_of_another(state, effect):
    """the question goes in, the answer comes out; an agent that can write is a WRITE

    A run that does not end in DONE is a failure that names its end and why.
    """
    end = SimpleNamespace(state=state, answer="88", reason="stuck", message="over")
    tools = [double()[0], double(effect=effect)[0]]
    machine = SimpleNamespace(tools=tools, run=lambda question: end)
    tool = as_tool(machine, "Ask", "Asks an agent.")
    assert (tool.signature(), tool.effect) == ("Ask(question: string)", effect)
    if state == "DONE":
        assert tool.run(question="80 + 8?") == {"answer": "88"}
    else:
        with pytest.raises(ToolFailure, match=r"ended in STUCK \(stuck\): over\."):
            tool.run(question="80 + 8?")
