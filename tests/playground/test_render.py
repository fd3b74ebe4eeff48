"""What the player shows at each place of a run, without a widget."""

import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.playground.engines import ENGINES, GALLERY, GUARDED, SUSPICIOUS, play
from workbook.playground.machines import ByScript
from workbook.playground.render import (
    budgets,
    render,
    sent,
    static_html,
    table_of,
    turn,
)
from workbook.playground.scenarios import slugs
from workbook.runtime.journal import Journal
from workbook.runtime.messages import render_messages
from workbook.runtime.table import CORE, State
from workbook.runtime.trace import Trace

TAINTED = "⚑ tainted:"


@pytest.fixture(scope="module")
def traces():
    return {engine: play("price_question", engine) for engine in GALLERY}


@pytest.fixture(scope="module")
def machine(traces):
    return traces["fsm"].events


def at(trace, position, part, table=None):
    """Return one part of the page at a place of a trace."""
    return render(trace.events, position, table or table_of(trace))[part]


def lit(events, table):
    """Return the state that is lit when all of these have been seen."""
    drawn = render(events, len(events), table)["diagram"]
    box = re.search(r'<g class="now">.*?</g>', drawn, re.DOTALL)
    return "".join(re.findall(r">(\w+)</text>", box[0])) if box else None


def walk(trace):
    """Return what is lit after each event, without repeats."""
    table = table_of(trace)
    names = [lit(trace.events[: n + 1], table) for n in range(len(trace))]
    return [b for a, b in zip([None, *names], names, strict=False) if a != b]


@pytest.mark.parametrize("table", [CORE, GUARDED, SUSPICIOUS, None])
def test_before_the_first_event_the_engine_is_drawn_and_nothing_else(table):
    """Its states stand there; nothing is lit, sent, read or spent"""
    page = render([], 0, table)
    assert f"{table.start if table else 'MODEL'}</text>" in page["diagram"]
    assert 'class="now"' not in page["diagram"]
    assert "Nothing yet." in page["prompt"]
    assert "nothing is spent yet" in page["budgets"]
    assert page["pins"] == page["now"] == ""


def test_a_machine_s_state_follows_its_transitions(traces):
    """The lit state is where the last transition led"""
    round_ = ["THINK", "EXECUTE_TOOL", "OBSERVE"]
    assert walk(traces["fsm"]) == [*round_ * 4, "THINK", "DONE"]


def test_a_loop_has_phases(traces):
    """An engine without states shows what it is doing; nested calls are its tool's"""
    round_ = ["ASK_MODEL", "READ_TURN", "RUN_TOOL", "APPEND"]
    assert walk(traces["langchain"]) == [*round_ * 4, "ASK_MODEL", "READ_TURN", "DONE"]


@pytest.mark.parametrize("engine", GALLERY)
def test_one_state_is_lit_and_the_boxes_stand_still(traces, engine):
    """At every event one box is lit, in a picture whose boxes do not move"""
    trace = traces[engine]
    boxes = set()
    for position in range(1, len(trace) + 1):
        drawn = at(trace, position, "diagram")
        assert drawn.count('<g class="now">') == 1
        boxes.add(tuple(re.findall(r'viewBox=".*?"|<rect x="[\d.]+"', drawn)))
    assert len(boxes) == 1


def test_of_a_large_machine_the_ways_on_from_here_are_drawn():
    """Of many arrows those that leave the lit state, and the last one taken"""
    trace = play("mend_the_test", "guarded")
    moved = next(e for e in trace if e.get("target") == "PENDING_APPROVAL")
    drawn = at(trace, moved["seq"] + 1, "diagram")
    labels = re.findall(r">([a-z_]+)</text>", drawn)
    assert sorted(labels) == ["approved", "ask", "edit_refused", "edited", "rejected"]


@pytest.mark.parametrize("engine", GALLERY)
def test_the_prompt_is_the_one_that_was_sent(traces, engine):
    """Old part and new part together are the exact prompt, at every request"""
    trace = traces[engine]
    for event in trace.of("model_request"):
        found = sent(trace.events[: event["seq"] + 1])
        assert found["old"] + found["new"] == trace.prompt(event["seq"])
        assert found["new"] == event["prompt"]
        assert found["nested"] == ("parent" in event)


def test_messages_are_shown_as_text_and_the_new_part_is_marked():
    """A prompt of messages is text, with the part that is new apart"""
    user = {"role": "user", "content": "2+2?"}
    more = {"role": "assistant", "content": "4"}
    journal = Journal()
    for prompt in ([user], [user, more]):
        journal.emit("model_request", prompt=prompt)
    found = sent(journal.trace().events)
    assert found["old"] == render_messages([user])
    assert found["new"] == render_messages([more])
    page = at(journal.trace(), 2, "prompt")
    assert (
        re.search(r'<mark class="new">(.*?)</mark>', page, re.DOTALL)[1] == found["new"]
    )


def test_a_turn_is_shown_until_the_next_request(machine):
    """What was read belongs to the prompt above it; a new prompt has no answer yet"""
    first, second = Trace(machine).of("model_request")[:2]
    assert turn(machine[: first["seq"] + 1]) is None
    assert turn(machine[: second["seq"]])["turn"]["input"] == "100*0.2"
    assert turn(machine[: second["seq"] + 1]) is None


def test_budgets_count_down_and_back(machine):
    """What is left is the limit less what was spent so far"""
    found = [(b.name, b.spent, b.left) for b in budgets(machine[:1])]
    assert found[:2] == [("steps", 0, 12), ("tool_calls", 0, 24)]
    found = [(b.name, b.spent, b.left) for b in budgets(machine)]
    assert found[:2] == [("steps", 5, 7), ("tool_calls", 4, 20)]


def test_a_machine_s_budgets_agree_with_its_own_count():
    """At the end of each scenario the player has counted what the machine has"""
    for slug, engine in product(slugs(), ("fsm", "guarded")):
        trace = play(slug, engine)
        steps, tool_calls, *_ = budgets(trace.events)
        spent = trace.end["spent"]
        found = {"steps": steps.spent, "tool_calls": tool_calls.spent}
        assert found.items() <= spent.items(), (slug, engine)


def test_a_call_that_was_refused_is_not_spent():
    """A call that the policy or a person refuses costs nothing, though it is closed"""
    trace = play("plan_mode_writes", "guarded")
    made = trace.end["spent"]["tool_calls"]
    assert len(trace.of("tool_call")) > made
    assert budgets(trace.events)[1].spent == made


def test_an_engine_without_limits_says_so(traces):
    """The naive loop declares no limit, so everything is left"""
    trace = traces["naive"]
    assert {budget.left for budget in budgets(trace.events)} == {None}
    assert "asks no budget before it spends" in at(trace, len(trace), "budgets")


def test_a_way_out_that_nobody_had_drawn_is_drawn():
    """A loop that dies shows where it died, and of what; a machine its odd end"""
    died = play("missing_action", "naive")
    assert ">AttributeError</text>" in at(died, len(died), "diagram")
    assert lit(died.events, None) == "ERROR"
    spent = play("endless_retry", "fsm")
    assert "EXHAUSTED" not in at(spent, 3, "diagram")
    assert ">out_of_steps</text>" in at(spent, len(spent), "diagram")
    assert lit(spent.events, CORE) == State.EXHAUSTED


def test_a_state_that_no_machine_has_is_text(machine):
    """A trace from elsewhere with a made-up state cannot break the page"""
    event = {**machine[3], "target": "</script><b>", "seq": len(machine)}
    page = render([*machine, event], len(machine) + 1, CORE)
    assert "&lt;/script&gt;" in page["diagram"]
    assert "<b>" not in page["diagram"]


@pytest.mark.parametrize("engine", GALLERY)
def test_a_run_that_was_stopped_at_once_is_drawn(engine):
    """Of a run that ended before it asked anything, the end is lit"""

    def stop(event):
        if event["kind"] == "run_started":
            raise KeyboardInterrupt

    trace = play("price_question", engine, listener=stop)
    assert lit(trace.events, ENGINES[engine].table) == trace.end["state"]
    assert "It did not answer." in at(trace, len(trace), "turn") or not trace.of(
        "model_request"
    )


@settings(max_examples=25, deadline=None)
@given(
    slug=st.sampled_from([s for s in slugs() if s != "slow_tool"]),
    engine=st.sampled_from(["naive", "fsm"]),
    place=st.floats(0, 1),
)
def test_every_place_has_a_page(slug, engine, place):
    """Wherever one stands, the page is there and tells nothing that is to come"""
    trace, table = play(slug, engine), ENGINES[engine].table
    position = round(place * len(trace))
    page = render(trace.events, position, table)
    assert f"{len(trace) - position} later" in page["events"]
    assert ("run_finished" in page["events"]) == (position == len(trace))
    assert page["events"].count("<tr") == min(position, 7)


@pytest.mark.parametrize("engine", GALLERY)
def test_what_a_tool_brings_is_text_everywhere(engine):
    """HTML in an observation is escaped at every step and on the static page"""
    trace = play("html_from_a_tool", engine)
    table = table_of(trace)
    for position in range(len(trace) + 1):
        for part in render(trace.events, position, table).values():
            assert not re.search(r"<(img|script|b>S)", part)
    page = static_html(trace, table, "A run")
    assert "&lt;script&gt;" in page
    assert not re.search(r"<(img|script)", page)


def test_what_is_tainted_is_shown_from_there_on():
    """From the event on that says so the labels are on view; going back takes them"""
    trace = play("image_link_with_a_secret", "grounded")
    first, second = (e["seq"] for e in trace.of("decision") if e["what"] == "tainted")
    shown = [at(trace, n, "events") for n in (first, first + 1, second + 1, first)]
    assert [TAINTED in page for page in shown] == [False, True, True, False]
    assert f"{TAINTED} secret</b>" in shown[1]
    assert f"{TAINTED} outside, secret</b>" in shown[2]


def test_what_came_from_outside_is_marked():
    """Where the model is told what others wrote, there alone the list has a mark"""
    trace = play("image_link_with_a_secret", "grounded")
    _, _, looked, *_ = (event["seq"] for event in trace.of("model_request"))
    marked = [
        n for n in range(len(trace)) if "it is from outside" in at(trace, n + 1, "now")
    ]
    assert marked == [looked]
    assert at(trace, looked + 1, "events").count("⚑ from outside") == 1


def test_a_saved_trace_has_the_table_of_its_machine():
    """In a grounded run no way leads past VERIFY to DONE"""
    trace = play("page_pays", "grounded")
    assert table_of(trace) == SUSPICIOUS
    assert {row.source for row in SUSPICIOUS.rules if row.target == "DONE"} == {
        "VERIFY"
    }
    assert table_of(play("page_pays", "guarded")) == GUARDED
    assert table_of(play("page_pays", "naive")) is table_of(Trace(())) is None


def test_a_saved_run_that_waits_is_shown_as_waiting():
    """The page without widgets says that a person is waited for, waits"""
    waits = play("mend_the_test", "guarded", person=ByScript(["later"]))
    page = static_html(waits, GUARDED, "A run")
    assert "SUSPENDED." in page
    assert "policy: ask write_file" in page
