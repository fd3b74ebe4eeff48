"""The READ calls of one turn, made at once by the machine."""

import signal
import threading
import time

import pytest

from workbook.fsm import FunctionCalls, Machine
from workbook.guardrails.machine import guarded
from workbook.guardrails.own import with_guard
from workbook.guardrails.permission import PolicyRule, Verdict, yes
from workbook.models.base import ToolRequest
from workbook.models.script import Script
from workbook.tools.calls import Effect
from workbook.tools.registry import ToolRegistry
from workbook.tools.threads import run_in_parallel
from workbook.tools.tool import Tool
from workbook.traces import TraceWriter
from workbook.traces.replay import replay

NUMBER = {"properties": {"n": {"type": "integer"}}, "required": ["n"]}
SLOW_S = 0.2


def plain(script, tools, **options):
    """Return a machine of the core, as `guarded` returns one with guards."""
    return Machine(script, ToolRegistry(tools), **options)


def at_once(names, tools, make=guarded, **options):
    """Return a machine whose model asks for so many calls in its first turn."""
    turn = [ToolRequest(name, {"n": n}) for n, name in enumerate(names)]
    parallel = run_in_parallel if make is plain else True
    options = {"adapter": FunctionCalls, "parallel": parallel, **options}
    return make(Script([turn, "done"]), tools, **options)


def noting(made, name="Read"):
    """Return a tool that notes what it is called with."""
    return Tool(name, "Reads.", NUMBER, lambda n: made.append(n) or {})


def ok_of(hook):
    return [event["ok"] for event in hook.trace().of("observation")]


def test_eight_reads_take_the_time_of_one():
    """eight of 0.2 s, one hanging, one raising: six results and two errors, at once"""

    def slow(n):
        if n == 3:
            raise OSError("no line")
        time.sleep(60 if n == 5 else SLOW_S)
        return {"result": n}

    told, tool = TraceWriter(), Tool("Read", "Reads.", NUMBER, slow, timeout_s=0.25)
    began = time.perf_counter()
    end = at_once(["Read"] * 8, [tool], plain, hook=told).run("?")
    taken = time.perf_counter() - began
    assert (end.state, taken < 4 * SLOW_S) == ("DONE", True)
    assert ok_of(told) == [n not in (3, 5) for n in range(8)]
    trace = told.trace()
    asked = [event["call_id"] for event in trace.of("tool_call")]
    assert asked == [event["call_id"] for event in trace.of("observation")]


def test_a_run_at_once_is_replayed_and_resumed(tmp_path):
    """a replay makes no call; cut anywhere, the run goes on to the same end"""
    made = []

    def machine(**options):
        write = Tool("Write", "Writes.", NUMBER, lambda n: {}, Effect.WRITE)
        names = ["Read", "Read", "Write", "Read", "Read"]
        return at_once(names, [write, noting(made)], ask=yes, **options)

    path = tmp_path / "whole.jsonl"
    with TraceWriter(path) as hook:
        assert machine(hook=hook).run("?").state == "DONE"
    kinds = [event["kind"] for event in hook.trace()]
    assert kinds.count("tool_call") == kinds.count("observation") == 5
    first = kinds.index("tool_call")
    assert kinds[first : first + 3] == ["tool_call", "tool_call", "observation"]
    made.clear()
    assert replay(path, machine()).answer == "done"
    assert made == []
    lines = path.read_bytes().splitlines(keepends=True)
    for cut in range(1, len(lines)):
        part = tmp_path / f"cut_{cut}.jsonl"
        part.write_bytes(b"".join(lines[:cut]))
        again = machine()
        turns = sum(b'"model_turn"' in line for line in lines[:cut])
        again.model = Script(again.model.turns[turns:])
        assert again.resume(part).state in ("DONE", "PENDING")


def test_what_a_rule_denies_is_not_made_with_the_others():
    """a READ that a rule denies ends what is made at once; it and the rest follow"""
    made, told = [], TraceWriter()
    tools = [noting(made), noting(made, "Peek")]
    rules = (PolicyRule(Verdict.DENY, tool="Peek"), PolicyRule(Verdict.ALLOW))
    names = ["Read", "Read", "Peek", "Read"]
    at_once(names, tools, rules=rules, hook=told).run("?")
    assert sorted(made) == [0, 1, 3]
    assert ok_of(told) == [True, True, False, True]


@pytest.mark.parametrize("make", [plain, guarded])
def test_a_budget_is_asked_before_any_of_them(make):
    """of five READs a limit of three makes three; the others have an observation too"""
    made, told = [], TraceWriter()
    machine = at_once(["Read"] * 5, [noting(made)], make, hook=told)
    assert machine.with_limits(tool_calls=3).run("?").state == "EXHAUSTED"
    assert sorted(made) == [0, 1, 2]
    assert ok_of(told) == [True] * 3 + [False] * 2


def test_a_cancel_reaches_all():
    """Ctrl-C in the middle: nobody is waited for, and each call has one observation"""
    begun, told = threading.Barrier(3), TraceWriter()

    def stuck(n):
        begun.wait()
        if n == 2:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        time.sleep(20)

    tool = Tool("Read", "Reads.", NUMBER, stuck, timeout_s=60)
    began = time.perf_counter()
    end = at_once(["Read"] * 3, [tool], plain, hook=told).run("?")
    assert (end.state, time.perf_counter() - began < 5) == ("CANCELLED", True)
    observed = told.trace().of("observation")
    assert [e["error"]["kind"] for e in observed] == ["cancelled"] * 3


@pytest.mark.parametrize("order", [reversed, lambda seen: [1, 2]])
def test_an_observation_is_never_another_calls(order):
    """a run_in_parallel that mixes observations up, or loses one, ends the run"""
    told = TraceWriter()
    machine = at_once(["Read"] * 2, [noting([])], plain, hook=told)
    machine.parallel = lambda *asked: [*order(run_in_parallel(*asked))]
    assert machine.run("?").state == "ERROR"
    observed = told.trace().of("observation")
    assert [event["error"]["kind"] for event in observed] == ["run_ended"] * 2


def test_a_guard_of_ones_own_is_asked_before_each_call():
    """what it refuses is not made, also where calls may be made at once"""
    made = []
    machine = at_once(["Read"] * 3, [noting(made)])
    guard = with_guard(machine, lambda call, _: "no" if call.arguments["n"] else None)
    assert (guard.run("?").state, made) == ("DONE", [0])
