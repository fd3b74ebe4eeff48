"""The player without a browser: what it shows of a run, what it asks, what it plays."""

import asyncio
import re
import sys

import pytest

from tests.stage.plays import played
from workbook.choice import ChoiceError
from workbook.runtime.calls import ToolCall
from workbook.runtime.permission import Approve, Reject, Request
from workbook.runtime.script import Script
from workbook.runtime.tools import Tool
from workbook.runtime.trace import Trace
from workbook.stage import scenarios, steps, trace_player
from workbook.stage.engines import play
from workbook.stage.scenarios import ScenarioError, outcome, slugs
from workbook.stage.trace_player import as_json, player, response_to

ENGINES = ["naive", "langchain", "guarded_calls", "grounded"]
MINE = 'title = "t"\nquestion = "q"\nteaches = "x"\n'
MINE += '[[turn]]\ntext = "Final Answer: 88"\n'
OURS = {"b", "div", "small", "span", "style", "table", "tr", "td", "progress"}
PAYS = ("payment_other_call_id", "guarded")
LAST = "Event 33 of 33: DONE. The run ends in DONE (final_answer): 88"


def words(shown, part="status"):
    """Return the text of a part of the page, as it is read."""
    html = re.sub(r"(?s)<style>.*?</style>|<[^>]*>", "", shown.page[part].value)
    return " ".join(html.split())


def ended(*given, **named):
    """Return a player at the end of its run."""
    shown = player(*given, **named)
    shown.press("end")
    return shown


def paid(shown, field="amount"):
    """Return what was paid in a player's run."""
    calls = [e["arguments"] for e in shown.events if e["kind"] == "tool_call"]
    return [call[field] for call in calls]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_run_can_be_stepped_through(engine):
    """State, prompt and budgets are those of the trace, and what is shown is text"""
    for slug in [*slugs(), *slugs("trust")]:
        trace, machine = played(slug, engine)
        table = steps.table_at(trace.events)
        hostile = [trace.events[0] | {"question": "<img src=x>"}, *trace.events[1:]]
        for position in [*range(0, len(trace), 3), len(trace)]:
            seen = trace.events[:position]
            state = steps.state_at(seen, table)
            if table and state:
                assert state in table.states, slug
                assert f"class {state} lit" in steps.diagram(seen, table), slug
            shown = "".join(steps.page(hostile, position, table).values())
            assert {*re.findall(r"<(\w+)", shown)} <= OURS, slug
            if seen and isinstance(seen[-1].get("prompt"), str):
                parts = "".join(text for _, text in steps.prompt_at(seen)["parts"])
                assert parts.split() == trace.prompt(seen[-1]["seq"]).split(), slug
        assert state in (outcome(trace)["state"], *steps.PHASES.values()), slug
        if machine:
            spent = [number for _, number, _ in steps.budgets_at(trace.events)]
            recorded = trace.end["spent"]
            assert spent[:2] == [recorded[n] for n in ("steps", "tool_calls")], slug


def test_buttons_slider_and_clock_move_through_the_run():
    """Step, Back, Turn, To the end; Run is Pause meanwhile, and begins again"""
    shown = player("price_question")
    assert words(shown) == "Event 0 of 33: not begun."
    for name, place in [("step", 1), ("turn", 3), ("turn", 10), ("back", 9)]:
        shown.press(name)
        assert words(shown).startswith(f"Event {place} of 33")
    shown.slider.value = 4
    assert words(shown).startswith("Event 4 of 33: EXECUTE_TOOL. THINK → EXECUTE_TOOL")
    shown.press("run")
    assert (shown.run.description, shown.clock.playing) == ("Pause", True)
    shown.clock.value = 5
    shown.press("run")
    assert (shown.run.description, shown.position) == ("Run", 5)
    shown.press("end")
    shown.press("step")
    assert words(shown) == LAST
    shown.press("run")
    assert (shown.run.description, shown.position) == ("Pause", 0)


def test_play_again_reads_the_file_and_the_budgets_anew(tmp_path, monkeypatch):
    """A changed file and a changed budget hold; a mistake is shown as its sentence"""
    shown = player("price_question", "guarded")
    shown.limits["steps"].value = 2
    shown.press("again")
    shown.press("end")
    assert "EXHAUSTED" in words(shown)
    assert "steps 2 of 2" in words(shown, "budgets")
    monkeypatch.setattr(scenarios, "FOLDER", tmp_path)
    mine = tmp_path / "mine.toml"
    mine.write_text(MINE)
    shown = player("mine", "naive")
    for before, after, status in [
        ("88", "45", "Event 4 of 4: DONE. The run ends in DONE (final_answer): 45"),
        ("text =", "txt =", "mine.toml does not hold together: turn 1"),
    ]:
        mine.write_text(MINE.replace(before, after))
        shown.press("again")
        shown.press("end")
        assert words(shown).startswith(status)


def test_an_approved_call_is_made_and_playing_goes_on():
    """The run waits in its file; the answer resumes it, from where the player was"""
    shown = ended(*PAYS)
    assert "The run waits for you: Pay." in words(shown)
    place = shown.position
    shown.respond("approve")
    assert (shown.position, shown.clock.playing) == (place, True)
    assert shown.form.layout.display == "none"
    assert paid(shown) == [25]


def test_the_clock_stops_at_the_end():
    """at the end, and where a person is waited for, nothing plays any more"""
    shown = player(*PAYS)
    shown.press("run")
    assert shown.clock.playing
    shown.clock.value = end = len(shown.events)
    assert (shown.position, shown.clock.playing) == (end, False)
    shown.clock.value = 3
    assert shown.position == end
    shown.slider.value = 3
    assert shown.position == 3


def test_a_rejected_call_is_not_made_and_the_page_says_so():
    """After Reject nothing is done; the events and the reason are on the page"""
    shown = ended(*PAYS)
    shown.why.value = "I do not want that"
    shown.respond("reject")
    assert steps.budgets_at(shown.events)[1][:2] == ("tool_calls", 0)
    seen = ""
    while shown.position < len(shown.events):
        shown.press("step")
        seen += words(shown)
    assert "reject for Pay: I do not want that. Nothing was done." in seen
    assert "Pay is not called, nothing is done" in seen
    assert "runtime calls Pay" not in seen


def test_an_edit_that_breaks_a_rule_stays_in_the_form():
    """The reason is shown once the run waits again; a right edit is then made"""
    shown = ended(*PAYS)
    shown.arguments.value = '{"payee": 3}'
    shown.respond("edit")
    shown.press("end")
    assert "not valid" in words(shown, "asks")
    assert shown.arguments.value == '{"payee": 3}'
    shown.arguments.value = '{"payee": "baker", "amount": 2}'
    shown.respond("edit")
    assert paid(shown, "payee") == ["baker"]


@pytest.mark.parametrize(
    ("pressed", "text", "problem"),
    [
        ("approve", '{"amount": 25.0}', "press Edit"),
        ("edit", "{", "This is not JSON"),
        ("edit", "[" * 100_000, "This is not JSON"),
        ("edit", "[1]", "Arguments are an object"),
    ],
)
def test_what_is_sent_is_what_was_shown(pressed, text, problem):
    """Changed arguments cannot be approved; an edit is an object of JSON"""
    call = ToolCall("Pay", {"amount": 25}, "call_1")
    asked = Request(call, Tool("Pay", "Pays.", {"properties": {}}, dict), "")
    shown = as_json(call.arguments)
    assert isinstance(response_to(asked, "approve", shown, ""), Approve)
    assert response_to(asked, "reject", text, "no") == Reject("no", who="you")
    assert problem in response_to(asked, pressed, text, "")


def test_a_file_that_another_process_writes_is_followed(tmp_path, monkeypatch):
    """New events come as they are written; whoever is at the end stays there"""
    monkeypatch.setattr(trace_player, "POLL_S", 0)
    path, whole = tmp_path / "run.jsonl", tmp_path / "whole.jsonl"
    play("price_question", "fsm", path=whole)
    lines = whole.read_bytes().splitlines(True)
    shown = player(trace=path)
    assert "No event" in words(shown)
    path.write_bytes(b"".join(lines[:4]) + lines[4][:9])  # half a line is no event

    async def follow():
        follows = asyncio.ensure_future(shown._follow())
        while len(shown.events) < 4:
            await asyncio.sleep(0)
        shown.press("end")
        path.write_bytes(b"".join(lines))
        await follows

    asyncio.run(asyncio.wait_for(follow(), 60))
    assert words(shown) == LAST


def test_a_live_model_is_asked_at_the_first_press_and_a_script_at_once():
    """Nothing is asked before Run or Step; a script begins anew in each run"""
    script = Script(["Final Answer: 88"])
    live = type("Live", (), {"name": "live", "respond": script.respond})()
    shown = player("price_question", "naive", model=live)
    assert "press Run or Step" in words(shown)
    shown.press("step")
    assert words(shown).startswith("Event 1 of 4")
    shown = player("price_question", "naive", model=Script(["Final Answer: 45"]))
    shown.press("again")
    shown.press("end")
    assert words(shown).endswith(": 45")


def test_a_suspended_trace_is_shown_without_a_form():
    """Without its machine a run cannot be resumed here; the page says who is missing"""
    shown = player(*PAYS)
    saved = ended(trace=Trace(shown.events))
    assert "The run waits for a person: Pay." in words(saved)
    assert saved.form.layout.display == "none"


@pytest.mark.parametrize("wrong", ["scenario", "engine", "model"])
def test_a_wrong_name_is_reported_at_once(wrong):
    """It is reported by the call, and not at the first press"""
    with pytest.raises((ScenarioError, ChoiceError), match="no such"):
        player(**{wrong: "no such"})


def test_a_long_trace_takes_no_more_calls_an_event_than_a_short_one():
    """From 1,000 events to 10,000, the calls of To the end grow tenfold at most"""
    trace, _ = played("price_question", "fsm")
    made = []
    for many in (33, 330):
        events = [*trace.events[:-2] * many, *trace.events[-2:]]
        numbered = [event | {"seq": seq} for seq, event in enumerate(events)]
        shown, calls = player(trace=Trace(numbered)), []
        sys.setprofile(lambda *of, calls=calls: of[1] == "call" and calls.append(1))
        shown.press("end")
        sys.setprofile(None)
        made.append(len(calls))
    assert made[1] <= 11 * made[0]
