"""The player without a browser: what it shows of a run, what it asks, what it plays."""

import asyncio
import re
import threading
import time

import pytest

from tests.stage.plays import played
from workbook.choice import ChoiceError
from workbook.runtime.calls import ToolCall
from workbook.runtime.permission import Approve, Reject, Request
from workbook.runtime.script import Script
from workbook.runtime.tools import Tool
from workbook.runtime.trace import Trace
from workbook.stage import scenarios, steps
from workbook.stage.engines import play
from workbook.stage.scenarios import ScenarioError, outcome, slugs
from workbook.stage.trace_player import as_json, player, response_to

ENGINES = ["naive", "langchain", "fsm", "guarded", "guarded_calls", "grounded"]
MINE = 'title = "t"\nquestion = "q"\nteaches = "x"\n'
MINE += '[[turn]]\ntext = "Final Answer: 88"\n'
OURS = {"b", "div", "small", "span", "style", "table", "tr", "td", "progress"}
PAYS = ("payment_other_call_id", "guarded")
LAST = "Event 33 of 33: DONE. The run ends in DONE (final_answer): 88"


def words(html):
    """Return the text of a page, as it is read."""
    html = re.sub(r"(?s)<style>.*?</style>|<[^>]*>", "", getattr(html, "value", html))
    return " ".join(html.split())


def status(shown):
    return words(shown.page["status"])


def ended(*given, **named):
    """Return a player at the end of its run."""
    shown = player(*given, **named)
    shown.press("end")
    return shown


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """The file of a scenario that can be changed."""
    monkeypatch.setattr(scenarios, "FOLDER", tmp_path)
    (tmp_path / "mine.toml").write_text(MINE)
    return tmp_path / "mine.toml"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("slug", [*slugs(), *slugs("trust")])
def test_every_run_can_be_stepped_through(slug, engine):
    """State, prompt and budgets are those of the trace, and what is shown is text"""
    trace, machine = played(slug, engine)
    table = steps.table_at(trace.events)
    hostile = [trace.events[0] | {"question": "<img src=x>"}, *trace.events[1:]]
    for position in [*range(0, len(trace), 2), len(trace)]:
        seen = trace.events[:position]
        state = steps.state_at(seen, table)
        if table and state:
            assert f"class {state} lit" in steps.diagram(seen, table)
        shown = "".join(steps.page(hostile, position, table).values())
        assert {*re.findall(r"<(\w+)", shown)} <= OURS
        if seen and isinstance(seen[-1].get("prompt"), str):
            parts = "".join(text for _, text in steps.prompt_at(seen)["parts"])
            assert parts.split() == trace.prompt(seen[-1]["seq"]).split()
    assert state in (outcome(trace)["state"], *steps.PHASES.values())
    if machine:
        spent = [number for _, number, _ in steps.budgets_at(trace.events)]
        assert spent[:2] == [trace.end["spent"][n] for n in ("steps", "tool_calls")]


def test_buttons_and_slider_move_through_the_run():
    """Step, Back, Turn, To the end and the slider; at the end nothing more comes"""
    shown = player("price_question")
    assert status(shown) == "Event 0 of 33: not begun."
    for name, place in [("step", 1), ("turn", 3), ("turn", 10), ("back", 9)]:
        shown.press(name)
        assert status(shown).startswith(f"Event {place} of 33")
    shown.slider.value = 4
    assert status(shown).startswith("Event 4 of 33: EXECUTE_TOOL. THINK → EXECUTE_TOOL")
    shown.press("end")
    shown.press("step")
    assert status(shown) == LAST


def test_run_is_pause_meanwhile_and_begins_again_at_the_end():
    """The browser's clock moves the page; at its end Run shows the run once more"""
    shown = player("price_question")
    shown.press("run")
    assert (shown.run.description, shown.clock.playing) == ("Pause", True)
    shown.clock.value = 2
    assert status(shown).startswith("Event 2 of 33")
    shown.press("run")
    assert (shown.run.description, shown.position) == ("Run", 2)
    shown.press("end")
    shown.press("run")
    assert (shown.run.description, shown.position) == ("Pause", 0)


def test_a_fault_that_is_typed_into_the_file_is_played(mine):
    """Play again reads the file anew; a mistake in it is shown as its sentence"""
    shown = player("mine", "naive")
    mine.write_text(MINE.replace("88", "45"))
    shown.press("again")
    shown.press("end")
    assert status(shown).endswith(": 45")
    mine.write_text(MINE.replace("text =", "txt ="))
    shown.press("again")
    assert status(shown).startswith("mine.toml does not hold together: turn 1")


def test_a_budget_that_is_changed_holds_when_it_is_played_again():
    """Each budget with a limit has a field, which Play again uses"""
    shown = player("price_question", "guarded")
    shown.limits["steps"].value = 2
    shown.press("again")
    shown.press("end")
    assert "EXHAUSTED" in status(shown)
    assert "steps 2 of 2" in words(shown.page["budgets"])
    assert [*player("price_question", "naive").limits] == []


def test_an_approved_call_is_made_and_playing_goes_on():
    """The run waits in its file; the answer resumes it, from where the player was"""
    before = threading.active_count()
    shown = ended(*PAYS)
    assert "The run waits for you: Pay." in status(shown)
    place = shown.position
    shown.respond("approve")
    assert (shown.position, shown.clock.playing) == (place, True)
    assert shown.form.layout.display == "none"
    calls = [e["arguments"]["amount"] for e in shown.events if e["kind"] == "tool_call"]
    assert calls == [25]
    assert threading.active_count() == before


def test_a_rejected_call_is_not_made_and_the_page_says_so():
    """After Reject nothing is done; the events and the reason are on the page"""
    shown = ended(*PAYS)
    shown.why.value = "I do not want that"
    shown.respond("reject")
    assert steps.budgets_at(shown.events)[1][:2] == ("tool_calls", 0)
    told = []
    while shown.position < len(shown.events):
        shown.press("step")
        told.append(status(shown))
    assert any(
        "reject to Pay: I do not want that. Nothing was done." in t for t in told
    )
    assert any("Pay is not called, nothing is done" in text for text in told)
    assert not any("runtime calls Pay" in text for text in told)


def test_an_edit_that_breaks_a_rule_stays_in_the_form():
    """The reason is shown once the run waits again; a right edit is then made"""
    shown = ended(*PAYS)
    shown.arguments.value = '{"payee": 3}'
    shown.respond("edit")
    shown.press("end")
    assert "not valid" in words(shown.page["asks"])
    assert shown.arguments.value == '{"payee": 3}'
    shown.arguments.value = '{"payee": "baker", "amount": 2}'
    shown.respond("edit")
    calls = [e["arguments"]["payee"] for e in shown.events if e["kind"] == "tool_call"]
    assert calls == ["baker"]


def test_what_is_sent_is_what_was_shown():
    """Changed arguments cannot be approved; an edit is an object of JSON"""
    tool = Tool("Pay", "Pays.", {"properties": {}}, dict)
    call = ToolCall("Pay", {"amount": 25}, "call_1")
    asked, text = Request(call, tool, ""), as_json(call.arguments)
    assert isinstance(response_to(asked, "approve", text, ""), Approve)
    assert response_to(asked, "reject", "{", "no") == Reject("no", who="you")
    for pressed, given, problem in [
        ("approve", text.replace("25", "25.0"), "press Edit"),
        ("edit", "{", "This is not JSON"),
        ("edit", "[" * 100_000, "This is not JSON"),
        ("edit", "[1]", "Arguments are an object"),
    ]:
        assert problem in response_to(asked, pressed, given, "")


def test_a_file_that_another_process_writes_is_followed(tmp_path):
    """New events come as they are written; whoever is at the end stays there"""
    path, whole = tmp_path / "run.jsonl", tmp_path / "whole.jsonl"
    play("price_question", "fsm", path=whole)
    lines = whole.read_bytes().splitlines(True)
    shown = player(trace=path)
    assert "No event" in status(shown)
    path.write_bytes(b"".join(lines[:4]) + lines[4][:9])  # half a line is no event

    async def writes():
        follows = asyncio.ensure_future(shown._follow())
        while len(shown.events) < 4:
            await asyncio.sleep(0.01)
        shown.press("end")
        path.write_bytes(b"".join(lines))
        await asyncio.wait_for(follows, 10)

    asyncio.run(writes())
    assert status(shown) == LAST


def test_a_live_model_is_asked_at_the_first_press_and_a_script_at_once():
    """Nothing is asked before Run or Step; a script begins anew in each run"""
    script = Script(["Final Answer: 88"])
    live = type("Live", (), {"name": "live", "respond": script.respond})()
    shown = player("price_question", "naive", model=live)
    assert "press Run or Step" in status(shown)
    shown.press("step")
    assert status(shown).startswith("Event 1 of 4")
    shown = player("price_question", "naive", model=Script(["Final Answer: 45"]))
    shown.press("again")
    shown.press("end")
    assert status(shown).endswith(": 45")


def test_a_suspended_trace_is_shown_without_a_form():
    """Without its machine a run cannot be resumed here; the page says who is missing"""
    shown = player(*PAYS)
    saved = ended(trace=Trace(shown.events))
    assert "The run waits for a person: Pay." in status(saved)
    assert saved.form.layout.display == "none"
    asked = steps.waits_for(shown.events)
    assert (asked["tool"], asked["arguments"]["amount"]) == ("Pay", 25)


def test_a_reason_that_ends_with_a_full_stop_gets_no_second_one():
    """A guard's reason is a sentence of its own, as the warning of a cycle is"""
    events = words(ended("ping_pong", "guarded").page["lately"])
    assert "with nothing new" in events
    assert ".." not in events


@pytest.mark.parametrize("wrong", ["scenario", "engine", "model"])
def test_a_wrong_name_is_reported_at_once(wrong):
    """It is reported by the call, and not at the first press"""
    with pytest.raises((ScenarioError, ChoiceError), match="no such"):
        player(**{wrong: "no such"})


def test_ten_thousand_events_are_shown_at_once():
    """To the end of a long trace takes well under a second"""
    trace, _ = played("price_question", "fsm")
    events = [*trace.events[:-2] * 330, *trace.events[-2:]]
    numbered = [event | {"seq": seq} for seq, event in enumerate(events)]
    shown = player(trace=Trace(numbered))
    began = time.perf_counter()
    shown.press("end")
    assert time.perf_counter() - began < 1
