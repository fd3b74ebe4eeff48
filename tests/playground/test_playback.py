"""Stepping through a trace: the state that is lit, the prompt, what is left."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.fsm import CORE, FunctionCalls, Limits, Machine, State
from workbook.models.base import ToolRequest
from workbook.models.prompts import render_messages
from workbook.models.script import Script
from workbook.playground.engines import GALLERY, SUSPICIOUS, play
from workbook.playground.playback import Playback
from workbook.playground.player_view import macros, static_html
from workbook.playground.scenarios import slugs
from workbook.tools import ToolRegistry
from workbook.tools.calculator import calculator
from workbook.traces.trace import Trace
from workbook.traces.writer import TraceWriter


@pytest.fixture(scope="module")
def traces():
    return {engine: play("price_question", engine) for engine in GALLERY}


@pytest.fixture
def machine(traces):
    return Playback.of(traces["fsm"])


def walk(playback):
    """Step to the end and return what is lit after each event."""
    lit = []
    while not playback.at_end:
        playback.move(1)
        lit.append(playback.lit)
    return lit


def without_repeats(names):
    return [b for a, b in zip([None, *names], names, strict=False) if a != b]


def test_nothing_has_happened_before_the_first_step(machine):
    """Before the first event nothing is lit, sent, read or spent"""
    assert machine.seen == []
    assert machine.lit is None
    assert machine.sent() is None
    assert machine.turn() is None
    assert machine.budgets() == []


@pytest.mark.parametrize(("table", "drawn"), [(CORE, "THINK"), (None, "ASK_MODEL")])
def test_before_a_run_its_engine_is_drawn(table, drawn):
    """Before the first event the diagram is that of the engine that will play"""
    assert f"[*] --> {drawn}" in Playback(table=table).diagram()


def test_a_machine_s_state_follows_its_transitions(machine):
    """The lit state is where the last transition led"""
    round_ = ["THINK", "EXECUTE_TOOL", "OBSERVE"]
    assert without_repeats(walk(machine)) == [*round_ * 4, "THINK", "DONE"]


@pytest.mark.parametrize("engine", ["naive", "langchain"])
def test_a_loop_has_phases(traces, engine):
    """An engine without states shows what it is doing; nested calls are its tool's"""
    round_ = ["ASK_MODEL", "READ_TURN", "RUN_TOOL", "APPEND"]
    lit = without_repeats(walk(Playback.of(traces[engine])))
    assert lit == [*round_ * 4, "ASK_MODEL", "READ_TURN", "DONE"]


@pytest.mark.parametrize("engine", GALLERY)
def test_the_lit_state_is_drawn(traces, engine):
    """At every event the diagram marks the lit state, and no other"""
    playback = Playback.of(traces[engine])
    for _ in range(len(traces[engine])):
        playback.move(1)
        marked = [line for line in playback.diagram().splitlines() if "class " in line]
        expected = [f"    class {playback.lit} now"] if playback.lit else []
        assert marked == expected


@pytest.mark.parametrize("engine", GALLERY)
def test_the_diagram_stands_still_while_one_steps(traces, engine):
    """Between two steps of a finished run only the mark moves"""
    playback = Playback.of(traces[engine])
    drawings = set()
    while not playback.at_end:
        playback.move(1)
        lines = playback.diagram().splitlines()
        drawings.add(tuple(line for line in lines if "class" not in line))
    assert len(drawings) == 1


def test_back_undoes_a_step(machine):
    """A step forward and one back leave everything as it was"""
    for _ in range(10):
        machine.move(1)
    before = (machine.position, machine.lit, machine.sent(), machine.budgets())
    machine.move(1)
    machine.move(-1)
    assert (machine.position, machine.lit, machine.sent(), machine.budgets()) == before


def test_the_ends_cannot_be_passed(machine):
    """Back stops before the first event, forward at the last"""
    machine.move(-1)
    assert machine.position == 0
    machine.seek(math.inf)
    machine.move(1)
    assert machine.position == len(machine.events)


@pytest.mark.parametrize("engine", GALLERY)
def test_the_prompt_is_the_one_that_was_sent(traces, engine):
    """Old part and new part together are the exact prompt, at every request"""
    trace = traces[engine]
    playback = Playback.of(trace)
    for event in trace.of("model_request"):
        playback.seek(event["seq"] + 1)
        sent = playback.sent()
        assert sent.old + sent.new == trace.prompt(event["seq"])
        assert sent.new == event["prompt"]
        assert sent.nested == ("parent" in event)


def test_messages_are_shown_as_text():
    """A prompt of messages is text, with the part that is new apart."""
    user, more = (
        {"role": "user", "content": "2+2?"},
        {"role": "assistant", "content": "4"},
    )
    emit = TraceWriter()
    for prompt in ([user], [user, more]):
        emit("model_request", prompt=prompt, stop=[])
    playback = Playback.of(emit.trace())
    playback.seek(2)
    assert playback.sent()[1:3] == (render_messages([user]), render_messages([more]))


def test_a_turn_is_shown_until_the_next_request(machine):
    """What was read belongs to the prompt above it; a new prompt has no answer yet"""
    first, second = Trace(tuple(machine.events)).of("model_request")[:2]
    machine.seek(first["seq"] + 1)
    assert machine.turn() is None
    machine.seek(second["seq"])
    assert machine.turn()["turn"]["input"] == "100*0.2"
    machine.seek(second["seq"] + 1)
    assert machine.turn() is None


def test_budgets_count_down(machine):
    """What is left is the limit less what was spent so far"""
    machine.move(1)
    assert [(b.name, b.left) for b in machine.budgets()][:2] == [
        ("steps", 12), ("tool_calls", 24),
    ]  # fmt: skip
    machine.seek(math.inf)
    assert [(b.name, b.spent, b.left) for b in machine.budgets()][:2] == [
        ("steps", 5, 7), ("tool_calls", 4, 20),
    ]  # fmt: skip


def test_a_machine_s_budgets_agree_with_its_own_count():
    """At the end of each scenario the player has counted what the machine has"""
    for slug in slugs():
        trace = play(slug, "fsm")
        playback = Playback.of(trace)
        playback.seek(math.inf)
        steps, tool_calls, _ = playback.budgets()
        spent = trace.end["spent"]
        assert (steps.spent, tool_calls.spent) == (spent["steps"], spent["tool_calls"])


def test_a_call_that_was_closed_unmade_is_not_spent():
    """Of two calls one is allowed: one is spent, though the trace must close both"""
    calls = [ToolRequest("Calculator", {"expression": e}, e) for e in ("1+1", "2+2")]
    emit = TraceWriter()
    machine = Machine(
        Script([calls]),
        ToolRegistry([calculator()]),
        limits=Limits(tool_calls=1),
        adapter=FunctionCalls,
        hook=emit,
    )
    machine.run("?")
    playback = Playback.of(emit.trace())
    playback.seek(math.inf)
    assert len(emit.trace().of("tool_call")) == 2
    assert playback.budgets()[1] == ("tool_calls", 1, 1, 0, 0)


def test_an_engine_without_limits_says_so(traces):
    """The naive loop declares no limit, so everything is left"""
    playback = Playback.of(traces["naive"])
    playback.seek(math.inf)
    assert {budget.left for budget in playback.budgets()} == {None}


def test_a_run_that_goes_on_can_be_followed_or_stepped(traces):
    """Who follows sees each event as it comes; who waits for one step sees one"""
    following, stepping = Playback(), Playback()
    following.seek(math.inf)
    stepping.move(1)
    for event in traces["fsm"]:
        following.events.append(event)
        stepping.events.append(event)
        assert following.seen[-1] is event
        assert stepping.position == 1


def test_a_way_out_that_nobody_had_drawn_is_drawn():
    """A loop that dies shows where it died, and of what"""
    playback = Playback.of(play("missing_action", "naive"))
    playback.seek(math.inf)
    assert "READ_TURN --> ERROR : AttributeError" in playback.diagram()
    assert playback.lit == "ERROR"


def test_seldom_rows_are_drawn_when_they_were_taken(machine):
    """The way to EXHAUSTED is drawn in a run that took it"""
    assert "EXHAUSTED" not in machine.diagram()
    assert "THINK --> OBSERVE : unreadable_turn" in machine.diagram()
    playback = Playback.of(play("endless_retry", "fsm"))
    playback.seek(math.inf)
    assert "THINK --> EXHAUSTED : out_of_steps" in playback.diagram()
    assert playback.lit == State.EXHAUSTED


def test_a_state_that_no_machine_has_is_a_word_in_the_diagram(machine):
    """A trace from elsewhere with a made-up state cannot break the drawing"""
    event = {**machine.events[3], "target": "</script>;", "seq": len(machine.events)}
    machine.events.append(event)
    machine.seek(math.inf)
    assert f"class {machine.lit} now" in machine.diagram()
    assert machine.lit.isidentifier()


@pytest.mark.parametrize("engine", GALLERY)
def test_a_run_that_was_stopped_at_once_is_drawn(engine):
    """Of a run that ended before it asked anything, the end is lit"""

    def stop(event):
        if event["kind"] == "run_started":
            raise KeyboardInterrupt

    playback = Playback.of(play("price_question", engine, listener=stop))
    playback.seek(math.inf)
    assert playback.lit == playback.events[-1]["state"]
    assert f"--> {playback.lit}" in playback.diagram()


def to_the_start(playback):
    playback.seek(0)


def to_the_end(playback):
    playback.seek(math.inf)


def forward(playback):
    playback.move(1)


def back(playback):
    playback.move(-1)


MOVES = [forward, back, to_the_start, to_the_end]


@settings(max_examples=25, deadline=None)
@given(
    slug=st.sampled_from([s for s in slugs() if s != "slow_tool"]),
    engine=st.sampled_from(["naive", "fsm"]),
    moves=st.lists(st.sampled_from(MOVES)),
)
def test_every_walk_stays_in_the_trace(slug, engine, moves):
    """However one steps, position and lit state stay those of the trace"""
    playback = Playback.of(play(slug, engine))
    for move in moves:
        move(playback)
        assert 0 <= playback.position <= len(playback.events)
        if playback.at_end:
            assert playback.lit == playback.events[-1]["state"]
        elif engine == "fsm":
            assert playback.lit not in CORE.ends or playback.seen[-1]["kind"] in (
                "transition", "tool_call", "observation",
            )  # fmt: skip


def test_the_diagram_stands_upright_beside_the_events():
    """In half of a page's width a diagram that lies on its side has tiny words"""
    playback = Playback.of(play("price_question", "fsm"))
    assert "direction TB" in playback.diagram()
    assert "direction LR" not in playback.diagram()


TAINTED = "⚑ tainted:"


@pytest.mark.parametrize("engine", ["grounded", "grounded_calls"])
def test_what_is_tainted_is_shown_from_there_on(engine):
    """From the event on that says so the labels are on view; going back takes them"""
    trace = play("image_link_with_a_secret", engine)
    playback = Playback.of(trace)
    first, second = (e["seq"] for e in trace.of("decision") if e["what"] == "tainted")
    shown = []
    for position in (first, first + 1, second + 1, first):
        playback.seek(position)
        page = macros().events(playback)
        shown.append((list(playback.labels), TAINTED in page))
    both = ["outside", "secret"]
    assert shown == [([], False), (["secret"], True), (both, True), ([], False)]
    playback.seek(math.inf)
    assert f"{TAINTED} outside, secret" in static_html(playback, "A run")


@pytest.mark.parametrize("engine", ["grounded", "grounded_calls"])
def test_what_came_from_outside_is_marked(engine):
    """Where the model is told what others wrote, there alone the list has a mark"""
    trace = play("image_link_with_a_secret", engine)
    playback = Playback.of(trace)
    playback.seek(math.inf)
    marked = [event["seq"] for event in trace if playback.from_outside(event)]
    _, _, looked, *_ = (event["seq"] for event in trace.of("model_request"))
    assert marked == [looked]
    playback.seek(looked + 1)
    assert macros().events(playback).count("⚑ from outside") == 1
    assert not Playback.of(play("page_pays", "guarded")).labels


def test_a_trace_of_the_grounded_machine_has_its_states():
    """A saved run begins in RECALL, and no way leads past VERIFY to DONE"""
    playback = Playback.of(play("page_pays", "grounded"))
    assert playback.table == SUSPICIOUS
    playback.move(1)
    assert playback.lit == "RECALL"
    assert "THINK --> DONE" not in playback.diagram()
