"""The player without a browser: what it shows of a run, what it asks, what it plays."""

import re
import sys

import pytest

from tests.stage.plays import played
from workbook.choice import ChoiceError
from workbook.runtime.script import Script
from workbook.runtime.trace import Trace
from workbook.stage import scenarios, steps
from workbook.stage.scenarios import ScenarioError, outcome, slugs
from workbook.stage.trace_player import player

ENGINES = ["naive", "langchain", "guarded_calls", "grounded"]
MINE = 'title = "t"\nquestion = "q"\nteaches = "x"\n'
MINE += '[[turn]]\ntext = "Final Answer: 88"\n'
MINE += '[[punchline]]\nlabel = "the end"\nkind = "run_finished"\n'
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
    """State and budgets are those of the trace, and what is shown is text"""
    for slug in [*slugs(), *slugs("trust")]:
        trace, machine = played(slug, engine)
        table = steps.table_at(trace.events)
        hostile = [trace.events[0] | {"question": "<img src=x>"}, *trace.events[1:]]
        for position in [*range(0, len(trace), 5), len(trace)]:
            seen = trace.events[:position]
            state = steps.state_at(seen, table)
            page = steps.page(hostile, position, table)
            assert not (table and seen) or f"class {state} lit" in page["diagram"], slug
            assert {*re.findall(r"<(\w+)", "".join(page.values()))} <= OURS, slug
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
        ("the end", "it says", "Event 4 of 4: DONE. The run ends in DONE"),
    ]:
        mine.write_text(MINE.replace(before, after))
        shown.press("again")
        shown.press("end")
        assert words(shown).startswith(status)
        assert after in words(shown, "pins")
    mine.write_text(MINE.replace("text =", "txt ="))
    shown.press("again")
    assert words(shown).startswith("mine.toml does not hold together: turn 1")


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
    assert "(you) answered reject for Pay: I do not want that. Nothing" in seen
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
        ("approve", '{"payee": "baker"}', "press Edit"),
        ("edit", "{", "This is not JSON"),
        ("edit", "[" * 100_000, "This is not JSON"),
        ("edit", "[1]", "Arguments are an object"),
    ],
)
def test_what_is_sent_is_what_was_shown(pressed, text, problem):
    """Changed arguments cannot be approved; an edit is an object of JSON"""
    shown = ended(*PAYS)
    shown.arguments.value = text
    shown.respond(pressed)
    assert problem in words(shown, "asks")
    assert paid(shown) == []


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


def test_what_a_demo_is_about_stays_in_view():
    """Of an entry its last event, or what it finds in a text; a tool's are apart"""
    asked, stuck = ("price_question", "langchain"), ("ping_pong", "guarded")
    pins = [words(ended(*run), "pins").split(" ★ ") for run in (asked, stuck)]
    assert pins[0] == [
        "★ requests of the agent to its model: 5",
        "requests of its calculator to a model: 4",
        "the end: DONE (final_answer): 88",
    ]
    assert pins[1][0] == "★ calls: 7"
    assert pins[1][1].startswith("a rule warns: The same steps, 3 times")


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
