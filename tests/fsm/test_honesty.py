"""The nine promises that make the machine honest, as far as this floor reaches.

Replay (5) and modes (8) belong to later lessons; what they rest on is tested here.
"""

import itertools
import json
import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.fsm import (
    CORE,
    HANDLERS,
    Event,
    FunctionCalls,
    IllegalTransition,
    Limits,
    Machine,
    State,
    Table,
    TextTurns,
    Transition,
    exits,
)
from workbook.models.base import ToolRequest
from workbook.models.script import Script
from workbook.tools.calls import Effect, ToolFailure
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import Tool
from workbook.traces import TraceWriter
from workbook.traces.events import check_event

EVENTS = sorted({rule.event for rule in CORE.rules})
PARAMETERS = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
}
ACT = "Action: Roll\nAction Input: {}"
FINAL = "Final Answer: 7"


def roll(run=lambda n: {"result": n}):
    return ToolRegistry(
        [Tool("Roll", "Rolls.", PARAMETERS, run, Effect.WRITE, timeout_s=None)]
    )


def play(turns, tools=None, **options):
    writer = TraceWriter()
    machine = Machine(Script(turns), tools or roll(), hook=writer, **options)
    return machine.run("What is it?"), writer.trace()


# 1. the table is honest


def test_the_core_is_deterministic_reachable_and_has_no_trap():
    """one event, one way; every state reachable; an end in reach; no way out of it"""
    assert CORE.audit() == []


def paths(rows):
    """Return all pairs (a, b) with a path from a to b, by Warshall's algorithm."""
    reach = {(r.source, r.target) for r in rows} | {(s, s) for s in WORDS}
    for middle, a, b in itertools.product(WORDS, WORDS, WORDS):
        if (a, middle) in reach and (middle, b) in reach:
            reach.add((a, b))
    return reach


WORDS = ("SCREEN", "THINK", "VERIFY", "DONE")
states = st.sampled_from(WORDS)
events = st.sampled_from(["observed", "drafted"])
rules = st.lists(
    st.builds(Transition, states, events, states, st.just("because")), max_size=7
)


@settings(max_examples=60, deadline=None)
@given(rules, states)
def test_the_audit_finds_every_breach(rows, start):
    """for any table, the audit has a sentence for each breach and no other"""
    table, reach = Table(tuple(rows), start), paths(rows)
    live = [s for s in table.states if s not in table.ends]
    twice = Counter((r.source, r.event) for r in rows)
    expected = Counter(
        rows=sum(count > 1 for count in twice.values()),
        reached=sum((start, s) not in reach for s in table.states),
        trap=sum(
            all((s, end) not in reach for end in table.ends if end in WORDS)
            for s in live
        ),
        end=sum(r.source in table.ends for r in rows),
    )
    word = re.compile(r"\b(rows for|never reached|trap|is an end)\b")
    names = {"rows for": "rows", "never reached": "reached", "is an end": "end"}
    found = [word.search(sentence)[1] for sentence in table.audit()]
    assert Counter(names.get(w, w) for w in found) == +expected


# 2. what is not in the table raises


def targets_of(state, event):
    """Return where the rows lead; without a row, that it must raise."""
    rows = [r.target for r in CORE.rules if (r.source, r.event) == (state, event)]
    return rows or [IllegalTransition]


def advanced(state, event):
    """Return where `advance` leads, or what it raised if that names state and event."""
    try:
        return [CORE.advance(state, event)]
    except IllegalTransition as refused:
        return [re.search(rf"{state}\b.*\b{event}", str(refused)) and type(refused)]


def test_every_pair_has_a_row_or_raises():
    """each of all pairs of state and event has exactly its row's target, or raises"""
    pairs = list(itertools.product([*CORE.states, "NOWHERE"], [*EVENTS, "rain"]))
    assert {p: advanced(*p) for p in pairs} == {p: targets_of(*p) for p in pairs}


# 3. handlers return events; only `advance` changes the state


@pytest.mark.parametrize("answer", [*CORE.states, "VERIFY"])
def test_a_handler_cannot_choose_a_state(answer):
    """a handler that returns a state, any state, has FAILED"""
    end, _ = play([FINAL], handlers={State.THINK: lambda run: answer})
    assert (end.state, end.reason) == (State.ERROR, Event.FAILED)


@pytest.mark.parametrize("event", [*EVENTS, "supported"])
def test_a_handler_can_only_take_a_row(event):
    """for each event a handler may return, the state that follows is the table's"""
    end, trace = play([FINAL], handlers={State.THINK: lambda run: event}, limits=SMALL)
    first = trace.of("transition")[0]
    row = CORE.rows.get((State.THINK, event), CORE.rows[State.THINK, Event.FAILED])
    assert first["target"] == row.target
    assert end.state in CORE.ends


def test_only_advance_decides():
    """a table whose advance leads elsewhere leads the machine elsewhere"""

    class Elsewhere(Table):
        def advance(self, state, event):
            super().advance(state, event)
            return State.EXHAUSTED

    end, _ = play([FINAL], table=Elsewhere(CORE.rules))
    assert end.state == State.EXHAUSTED


@pytest.mark.parametrize("handler", HANDLERS.values(), ids=lambda h: h.__name__)
def test_handlers_say_that_they_return_events(handler):
    """every handler of the core is declared to return an event, a text"""
    assert handler.__annotations__["return"] == "str"


# 4 and 6. one end, one observation a call: for any script and any tool

SMALL = Limits(steps=4, tool_calls=3, wall_s=50)


class NastyError(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class Signal(BaseException):
    """Raised by a library that means to get past every `except Exception`."""


raised = st.sampled_from(
    [
        ConnectionError("down"),
        NastyError(),
        SystemExit(2),
        Signal("now"),
        KeyboardInterrupt(),
        MemoryError(),
    ]
)
arguments = st.sampled_from(
    [{"n": 1}, {"n": "2"}, {"n": [3]}, {"m": 1, "k": 2}, {}, None, '{"n": 1}', [1]]
)
requests = st.builds(
    ToolRequest,
    st.sampled_from(["Roll", "roll", "Nope", ""]),
    arguments,
    st.sampled_from(["", "a", "b", "c", "call_1", None, 7]),
)
text_turns = st.one_of(
    st.sampled_from([ACT.format(n) for n in ("1", "one", "[1, 2]", "{", "")]),
    st.sampled_from([ACT.format(1) + "\nObservation: 9\nFinal Answer: 9", "Action: x"]),
    st.sampled_from([FINAL, "Thought: hm", "", "Action: Nope\nAction Input: 1"]),
    st.text(max_size=30),
    raised,
)
chat_turns = st.one_of(
    st.lists(requests, min_size=1, max_size=4), st.sampled_from(["7", "", " "]), raised
)
outcomes = st.lists(
    st.sampled_from(
        [
            *({"result": 1}, {"a": [1]}, "no dict", {"x": {1, 2}}, {"x": float("nan")}),
            *(ZeroDivisionError("by zero"), ToolFailure("busy", "later"), NastyError()),
            *(SystemExit(1), Signal("now"), KeyboardInterrupt(), "cancel", "late"),
        ]
    ),
    min_size=1,
    max_size=4,
)
scripts = st.one_of(
    st.tuples(st.just(TextTurns), st.lists(text_turns, max_size=6)),
    st.tuples(st.just(FunctionCalls), st.lists(chat_turns, max_size=6)),
)
limits = st.builds(Limits, st.integers(1, 4), st.integers(0, 4), st.just(50.0))


@settings(max_examples=200, deadline=None)
@given(scripts, outcomes, limits)
def test_every_run_is_honest(script, outcomes, limits):
    """any model, any tools: one end, within budget, no gap, one observation a call"""
    adapter, turns = script
    now, ran = [0.0], []
    results = itertools.cycle(outcomes)

    def run(n):
        ran.append(n)
        result = next(results)
        if isinstance(result, BaseException):
            raise result
        if result == "cancel":
            machine.cancel()
        if result == "late":
            now[0] += 60
        return result

    writer, model = TraceWriter(), Script(turns)
    machine = Machine(
        model,
        roll(run),
        limits=limits,
        adapter=adapter,
        hook=writer,
        clock=lambda: now[0],
    )
    end, trace = machine.run("What is it?"), writer.trace()

    assert_one_end(end, trace)
    assert_within_budget(end, model, ran, limits)
    assert_gapless(trace)
    assert_one_observation_per_call(trace)


def assert_one_end(end, trace):
    assert end.state in CORE.ends
    assert (end.answer is not None) == (end.state == State.DONE)
    assert [e["seq"] for e in trace.of("run_finished")] == [len(trace) - 1]
    assert (trace.end["state"], trace.end["reason"]) == (end.state, end.reason)
    assert end.message
    rows = trace.of("transition")
    states = [CORE.start, *(row["target"] for row in rows)]
    assert states[:-1] == [row["source"] for row in rows]
    assert [s for s in states if s in CORE.ends] == [end.state]
    assert rows[-1]["event"] == end.reason
    for row in rows:
        assert CORE.advance(row["source"], row["event"]) == row["target"]


def assert_within_budget(end, model, ran, limits):
    assert model.asked == end.spent.steps <= limits.steps
    assert len(ran) <= end.spent.tool_calls <= limits.tool_calls


def assert_gapless(trace):
    for seq, event in enumerate(trace):
        check_event(event, seq)
        assert json.loads(json.dumps(event)) == event


def assert_one_observation_per_call(trace):
    asked = [
        call["call_id"]
        for event in trace.of("model_turn")
        for call in event["turn"].get("calls", ())
    ]
    called = [event["call_id"] for event in trace.of("tool_call")]
    seen = [e["call_id"] for e in trace.of("observation") if e["call_id"] is not None]
    assert seen == called
    assert len(set(seen)) == len(seen)
    actions = [e for e in trace.of("model_turn") if e["turn"]["kind"] == "action"]
    assert len(called) == len(asked) + len(actions)
    assert set(asked) <= set(called)


# 5. what replay will rest on


@settings(max_examples=25, deadline=None)
@given(scripts)
def test_the_same_script_is_the_same_run(script):
    """the same model and tools give the same events, but for times and ids"""
    adapter, turns = script
    clock = lambda: 0.0  # noqa: E731
    runs = []
    for _ in range(2):
        writer = TraceWriter(clock=clock, unix_clock=clock)
        writer.trace_id = "same"
        model = Script(turns)
        Machine(
            model, roll(), limits=SMALL, adapter=adapter, hook=writer, clock=clock
        ).run("What is it?")
        runs.append(writer.events)
    assert runs[0] == runs[1]


# 7. one call_id, one effect


@pytest.mark.parametrize("again", [{"n": 1}, {"n": 2}])
def test_a_call_id_has_its_effect_once(again):
    """the same call_id, with the same or with other arguments, is refused: no effect"""
    ran = []
    tools = roll(lambda n: ran.append(n) or {"result": n})
    first, second = ToolRequest("Roll", {"n": 1}, "a"), ToolRequest("Roll", again, "a")
    _, trace = play([[first], [second], "7"], tools, adapter=FunctionCalls)
    assert ran == [1]
    refused = trace.of("observation")[1]
    assert (refused["ok"], refused["error"]["kind"]) == (False, "duplicate_call_id")


# 8. what modes will rest on


def test_a_state_before_the_tool_can_keep_every_write_from_running():
    """with a row through POLICY there is no path to a tool around it"""
    rows = (
        Transition(State.THINK, Event.TOOL_REQUESTED, "POLICY", "may it?"),
        Transition(State.OBSERVE, Event.MORE_CALLS, "POLICY", "may it?"),
        Transition("POLICY", "allowed", State.EXECUTE_TOOL, "it may"),
        *exits("POLICY"),
    )
    table = CORE.with_rules(*rows)
    into = {rule.source for rule in table.rules if rule.target == State.EXECUTE_TOOL}
    assert table.audit() == []
    assert into == {"POLICY"}


# 9. the diagram is the table


@pytest.mark.parametrize("lit", [None, *CORE.states])
def test_the_diagrams_edges_are_the_tables_rows(lit):
    """the arrows of the diagram are the rows of the table, one for one"""
    diagram = CORE.mermaid(lit)
    arrows = re.findall(r"^ +(\w+) --> (\w+) : (\S+)$", diagram, re.MULTILINE)
    assert sorted(arrows) == sorted((r.source, r.target, r.event) for r in CORE.rules)
    assert re.findall(r"\[\*\] --> (\w+)", diagram) == [CORE.start]
    ends = re.findall(r"(\w+) --> \[\*\]", diagram)
    assert set(ends) == {s for s in CORE.states if s in CORE.ends}
    assert re.findall(r"class (\w+) now", diagram) == ([lit] if lit else [])
