"""The player without a browser: buttons, runs, what a person is asked, what is kept."""

import json
import re
import threading

import pytest

from workbook.choice import UnknownModel
from workbook.playground.engines import ENGINES, GALLERY, in_words, play
from workbook.playground.person import You, answered, shown_arguments
from workbook.playground.render import TEXTS
from workbook.playground.scenarios import ScenarioError
from workbook.playground.view import model_options
from workbook.playground.watch import player
from workbook.runtime.calls import ToolCall
from workbook.runtime.permission import Approve, Edit, Reject, Request
from workbook.runtime.script import Script
from workbook.runtime.tools import Tool
from workbook.runtime.trace import Trace

MINE = 'title = "t"\nquestion = "q"\nteaches = "x"\n'
MINE += '[[turn]]\ntext = "Final Answer: 88"\n'
MENDED, ANSWER = '"passed": true', "Final Answer: 88"
PRESSED = TEXTS["keys"]
FILE = Tool("write_file", "Writes.", {"properties": {}}, dict)


def press(shown, *names):
    """Press these buttons; after each, wait for the run or for its question."""
    for name in names:
        asked = shown.you.request if name in shown.view.form.buttons else None
        (shown.view.buttons | shown.view.form.buttons)[name].click()
        settle(shown, asked)


def settle(shown, asked=None):
    """Wait until the run has ended, or asks something else."""
    for _ in range(2000):
        if not shown.running or shown.you.request not in (None, asked):
            break
        shown._thread.join(0.01)
    shown._show()


def seen(shown):
    return shown.events[: shown.position]


def told(shown):
    return re.sub(r"<[^>]+>", "", shown.view.page["status"].value)


def displayed(shown, monkeypatch):
    """Return the outputs that a cell has which ends with the player."""
    outputs = []
    monkeypatch.setattr(
        "IPython.display.display", lambda data, raw: outputs.append(data)
    )
    shown._ipython_display_()
    return outputs


class Waits(Script):
    """A script that waits, at each turn, until it may go on."""

    def __init__(self, turns):
        super().__init__(turns)
        self.go_on = threading.Event()

    def again(self):
        return self

    def respond(self, request):
        assert self.go_on.wait(10)
        return super().respond(request)


@pytest.mark.parametrize("engine", GALLERY)
def test_run_shows_the_end(engine):
    """Run plays the scenario and shows how it ended; at its end it plays another"""
    shown = player("price_question", engine)
    press(shown, "step")
    first = shown.events[0]["trace_id"]
    press(shown, "run")
    assert told(shown).endswith(": DONE.")
    assert "DONE (final_answer): 88" in shown.view.page["events"].value
    assert shown.events[0]["trace_id"] == first
    press(shown, "run")
    assert shown.events[0]["trace_id"] != first


def test_step_back_slider_and_reset():
    """One event on and back; nothing to do at the ends; Reset forgets the run"""
    shown = player()
    press(shown, "step")
    assert told(shown) == "1 of 33 events: THINK."
    press(shown, "step", "step", "step", "back")
    assert told(shown) == "3 of 33 events: THINK."
    shown.view.slider.value = 4
    assert told(shown) == "4 of 33 events: EXECUTE_TOOL."
    press(shown, *["back"] * 6)
    assert told(shown).startswith("0 of 33")
    press(shown, "run", "step")
    assert told(shown).startswith("33 of 33")
    press(shown, "reset")
    assert told(shown) == "The price question. Press Run, or Step."
    assert shown.view.slider.value == 0


def test_steps_in_quick_succession_are_all_made(monkeypatch):
    """Who presses Step three times at once sees three events, however slow the start"""

    def slowly(*given, **more):
        threading.Event().wait(0.2)
        return play(*given, **more)

    monkeypatch.setattr("workbook.playground.watch.play", slowly)
    shown = player()
    for _ in range(3):
        shown.view.buttons["step"].click()
    settle(shown)
    assert shown.position == 3


@pytest.mark.parametrize("engine", [*GALLERY, "guarded"])
def test_turn_goes_to_what_the_model_says_next(engine):
    """Five times Turn are the five turns of the agent, and once more is the end"""
    shown = player("price_question", engine)
    events = []
    for _ in range(5):
        press(shown, "turn")
        events.append(seen(shown)[-1])
    assert [(e["kind"], e["step"]) for e in events] == [
        ("model_turn", n) for n in (1, 2, 3, 4, 5)
    ]
    assert not any("parent" in event for event in events)
    press(shown, "turn")
    assert shown.position == len(shown.events)
    press(shown, "turn_back", "turn_back")
    assert seen(shown)[-1] == events[-2]
    press(shown, *["turn_back"] * 9)
    assert shown.position == 0


def test_a_turn_that_is_still_to_come_is_waited_for():
    """Turn pressed while the model thinks stops at its turn, and not at the end"""
    model = Waits(["Thought: a\nAction: Calculator\nAction Input: 1+1", ANSWER])
    shown = player("price_question", "naive", model=model)
    shown.view.buttons["turn"].click()
    assert shown.until_turn
    shown._thread.join(0.5)
    assert told(shown) == "2 of 2 events so far; the run goes on."
    model.go_on.set()
    settle(shown)
    assert seen(shown)[-1]["kind"] == "model_turn"
    assert shown.position < len(shown.events)


def test_many_events_at_once_are_shown_once(monkeypatch):
    """A run of 33 events draws the page a few times, and the last time is its end"""
    pages = []
    made = "workbook.playground.watch.render"
    monkeypatch.setattr(
        made, lambda events, *a, **told: pages.append(len(events)) or {}
    )
    shown = player()
    pages.clear()
    press(shown, "run")
    assert len(pages) < 8
    assert pages[-1] == 33


def test_another_choice_is_another_run():
    """Choosing another engine resets the player; run twice at once is one run"""
    model = Waits([ANSWER])
    shown = player(model=model)
    shown.view.buttons["run"].click()
    first = shown.you
    shown.view.buttons["run"].click()
    assert shown.you is first
    model.go_on.set()
    settle(shown)
    shown.view.choices["engine"].value = "naive"
    assert shown.events == []
    shown.view.choices["model"].value = "scripted"
    press(shown, "run")
    assert shown.events[0]["engine"] == "naive"


def test_an_edited_scenario_is_played_as_it_is_now(tmp_path, monkeypatch):
    """Run plays the file as it was saved last; a slip in it is told on the page"""
    monkeypatch.setattr("workbook.playground.scenarios.FOLDER", tmp_path)
    path = tmp_path / "mine.toml"
    path.write_text(MINE, encoding="utf-8")
    shown = player("mine")
    press(shown, "run")
    path.write_text(MINE.replace("88", "99"), encoding="utf-8")
    press(shown, "run")
    assert "99" in shown.view.page["now"].value
    path.write_text(MINE.replace('"t"', '"t'), encoding="utf-8")
    press(shown, "run")
    assert "ScenarioError: mine.toml is not TOML" in told(shown)
    press(shown, "reset")
    assert told(shown).endswith("Mend it, then press Run.")
    path.write_text(MINE, encoding="utf-8")
    press(shown, "run")
    assert told(shown).endswith(": DONE.")


def test_cancel_stops_a_run_that_waits():
    """Cancel ends a run whose model takes its time"""
    model = Waits([ANSWER])
    shown = player(model=model)
    shown.view.buttons["run"].click()
    assert shown.running
    assert not shown.view.buttons["cancel"].disabled
    shown.view.buttons["cancel"].click()
    model.go_on.set()
    settle(shown)
    assert told(shown).endswith("CANCELLED. You stopped this run.")
    assert shown.view.buttons["cancel"].disabled
    press(shown, "reset")
    assert "stopped" not in told(shown)


def test_a_saved_trace_is_played_back(tmp_path, monkeypatch):
    """A trace is stepped through and never replaced by a run; an empty one says so"""
    path = tmp_path / "trace.jsonl"
    play("endless_retry", "naive", path=path)
    shown = player(trace=Trace.read(path))
    press(shown, "step", "step")
    assert told(shown).endswith(": ASK_MODEL.")
    press(shown, "run")
    assert told(shown).endswith("EXHAUSTED.")
    press(shown, "run", "reset")
    assert told(shown) == f"0 of {len(shown.events)} events: not begun."
    empty = player(trace=Trace(()))
    press(empty, "run", "step", "back")
    assert told(empty) == "A trace without events."
    text = displayed(empty, monkeypatch)[1]["text/plain"]
    assert text == "A trace without events. 0 events."


@pytest.mark.parametrize("engine", ["naive", "fsm"])
def test_a_page_without_widgets_shows_the_run(engine, monkeypatch):
    """The whole trace and its picture are an output of their own, beside the widget"""
    widget, page = displayed(player("price_question", engine), monkeypatch)
    assert "application/vnd.jupyter.widget-view+json" in widget
    assert "application/vnd.jupyter.widget-view+json" not in page
    text = page["text/html"]
    assert text.startswith('<details class="instead" open><summary>A picture of a run')
    assert "run this cell again" in text
    assert text.count("<tr>") > 15
    assert re.search(r"<svg.*>DONE<.*</svg>", text, re.DOTALL)


def test_a_live_model_is_not_asked_for_a_static_page(monkeypatch):
    """To show itself, the player asks no model that costs something"""
    script = Script([ANSWER])
    displayed(player(model=script), monkeypatch)
    assert script.asked == 0


def test_the_models_that_can_be_chosen(monkeypatch):
    """The one that WORKBOOK_MODEL names is among them; without its key this is told"""
    shown = player(model="gpt-4o-mini")
    press(shown, "run")
    assert told(shown).startswith("MissingKey: ")
    monkeypatch.setenv("WORKBOOK_MODEL", "two words")  # a slip that the lesson has told
    assert len(model_options("scripted")) == 2
    monkeypatch.setenv("WORKBOOK_MODEL", "openai:gpt-4o-mini")
    assert model_options("scripted")[-1] == ("hosted: gpt-4o-mini", "gpt-4o-mini")


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"scenario": "endles_retry"}, ScenarioError, "Did you mean 'endless_retry'"),
        ({"engine": "fms"}, ScenarioError, "there is no engine 'fms'; there is naive"),
        ({"model": "gpt 4"}, UnknownModel, "'gpt 4' names no model"),
        ({"trace": "run.jsonl"}, TypeError, "player.trace=Trace.read"),
    ],
)
def test_a_wrong_name_is_told_at_once(arguments, error, words):
    """A slip in a name is told when the player is made, with what was meant"""
    with pytest.raises(error, match=words):
        player(**arguments)


@pytest.mark.parametrize("engine", [*GALLERY, "create_agent"])
def test_a_script_that_is_given_plays_again(engine):
    """Run pressed again plays the same turns, and the script itself is not used up"""
    shown = player("price_question", engine, model=Script(["Thought: t\n" + ANSWER]))
    press(shown, "run")
    first = [event["kind"] for event in shown.events]
    press(shown, "run")
    assert [event["kind"] for event in shown.events] == first
    assert "88" in seen(shown)[-1]["answer"]


@pytest.mark.parametrize("engine", [*GALLERY, "guarded", "create_agent"])
def test_why_a_run_has_no_answer_is_on_the_page(engine):
    """A script that is used up has a frame of its own; an error is told in words"""
    shown = player("price_question", engine, model=Script([]))
    press(shown, "run")
    assert 'class="used-up"' in shown.view.page["status"].value
    assert "Run plays it again" in told(shown)
    press(shown, "back")
    assert "used-up" not in shown.view.page["status"].value
    shown = player("price_question", engine, model=Script([TimeoutError("no answer")]))
    press(shown, "run")
    assert "used-up" not in shown.view.page["status"].value
    assert "no answer" in shown.view.page["now"].value


@pytest.mark.parametrize("engine", ENGINES)
def test_wherever_a_run_is_stopped_it_has_one_end(engine):
    """Whatever the engine is doing when the stop comes, its trace ends, and once"""
    whole = play("price_question", engine)
    for seq in range(len(whole)):
        you = You()
        you.listener = lambda event, at=seq, you=you: event["seq"] == at and you.stop()
        trace = play("price_question", engine, listener=you.sees)
        assert len(trace.of("run_finished")) == 1
        assert trace.events[-1]["kind"] == "run_finished"
        if seq == len(whole) - 1:  # it has its answer, whatever is pressed then
            assert trace.end["answer"] == whole.end["answer"]


@pytest.mark.parametrize("engine", ["fsm", "guarded"])
def test_a_stop_in_the_middle_of_a_turn_keeps_what_was_written(engine):
    """A turn that was stopped is in the trace as far as it went, and makes no call"""
    words, heard = "Thought: a long one.\nAction: Calculator\nAction Input: 1 + 1", []

    def on_text(piece):
        heard.append(piece)
        if len("".join(heard)) > 40:
            you.stop()

    you = You(on_text=on_text)
    trace = play("price_question", engine, Script([words, ANSWER]), person=you)
    (turn,) = trace.of("model_turn")
    assert turn["text"] == "".join(heard)
    assert words.startswith(turn["text"])
    assert words != turn["text"]
    assert turn["usage"]["output"] > 0
    assert trace.end["state"] == "CANCELLED"
    assert trace.of("tool_call") == []


# What a person is asked.


@pytest.fixture
def asks():
    """Return a function that plays mend_the_test in a player until it asks."""
    players = []

    def asks(**options):
        shown = player("mend_the_test", "guarded", **options)
        players.append(shown)
        press(shown, "run")
        return shown

    yield asks
    for shown in players:
        shown.you.stop()
        shown._thread.join(20)


def decisions(shown):
    trace = Trace(tuple(shown.events))
    return [(e["what"], e["why"]) for e in trace.of("decision") if e["who"] == "you"]


def last_seen(shown):
    return Trace(tuple(shown.events)).of("observation")[-1]["text"]


def test_you_are_asked_and_what_you_approve_is_done(asks):
    """The form shows the change and the arguments; answered, it goes, and it is done"""
    shown = asks()
    assert told(shown).endswith("it waits for you: write_file.")
    assert shown.view.form.widget.layout.display == "flex"
    assert "-    return listed" in shown.view.form.about.value
    assert json.loads(shown.view.form.arguments.value)["path"] == "price.py"
    shown.view.form.why.value = "good"
    press(shown, "approve")
    assert told(shown).endswith(": DONE.")
    assert shown.view.form.widget.layout.display == "none"
    assert decisions(shown) == [("approve", "good")]
    assert MENDED in last_seen(shown)


def test_an_edit_that_is_refused_loses_nothing(asks):
    """What is no JSON, or breaks the schema, comes back with the problem, as typed"""
    shown = asks()
    shown.view.form.arguments.value = '{"path": '
    shown.view.form.buttons["edit"].click()
    assert "not JSON" in shown.view.form.about.value
    shown.view.form.arguments.value = '{"path": 3, "text": ""}'
    press(shown, "edit")
    assert "3 is not of type &#34;string&#34;" in shown.view.form.about.value
    assert shown.view.form.arguments.value == '{"path": 3, "text": ""}'
    shown.view.form.why.value = "no"
    press(shown, "reject")
    assert decisions(shown) == [("edit", ""), ("reject", "no")]
    assert MENDED not in last_seen(shown)


def test_not_now_and_later_on(asks):
    """Not now suspends the run in its trace; Continue asks again, and goes on"""
    shown = asks()
    press(shown, "later")
    assert told(shown).endswith(": SUSPENDED.")
    assert shown.view.buttons["go_on"].layout.display == "flex"
    waits = Trace(tuple(shown.events))
    assert in_words(waits) == "SUSPENDED (suspended) after 4 turns"
    press(shown, "go_on")
    assert told(shown).endswith("it waits for you: write_file.")
    press(shown, "approve")
    assert told(shown).endswith(": DONE.")
    assert shown.view.buttons["go_on"].layout.display == "none"
    assert MENDED in last_seen(shown)
    assert shown.events[: len(waits)] == list(waits)


def test_a_run_that_goes_on_can_be_stopped(asks):
    """Cancel ends a run also where it was put off before"""
    shown = asks()
    press(shown, "later", "go_on", "cancel")
    assert shown.events[-1]["state"] == "CANCELLED"


def test_a_stop_while_a_call_waits_ends_the_run(asks):
    """Cancel while you are asked ends the run at once, and the call is not made"""
    shown = asks()
    press(shown, "cancel")
    assert shown.events[-1]["state"] == "CANCELLED"
    made = [e["tool"] for e in shown.events if e["kind"] == "tool_call"]
    assert "write_file" not in made
    you = You()
    you.stop()  # before a question has come: it is not asked
    with pytest.raises(KeyboardInterrupt):
        you.ask(asked())


def test_what_waits_is_not_told_before_you_are_there(asks):
    """Who steps through a run comes to the question when it came"""
    shown = asks()
    press(shown, "back")
    assert "waits" not in told(shown)
    assert shown.view.form.request is None
    press(shown, "step")
    assert shown.view.form.request is shown.you.request


def test_the_mode_that_you_choose_is_the_one_that_holds(asks):
    """Who switches to plan while a call waits has it refused, also when approving it"""
    shown = asks()
    shown.view.mode.value = "plan"
    press(shown, "approve")
    assert ("mode", "you chose it in the player") in decisions(shown)
    assert MENDED not in last_seen(shown)
    plan = player("mend_the_test", "guarded")
    plan.view.mode.value = "plan"
    press(plan, "run")
    assert [e["what"] for e in plan.events if e["kind"] == "decision"] == ["deny"]
    plan.view.choices["engine"].value = "fsm"
    assert plan.view.mode.layout.display == "none"


def asked(**arguments):
    return Request(ToolCall("write_file", arguments, "call_1"), FILE, "", "")


def test_two_presses_answer_one_question():
    """A second press does not answer the question after it"""
    you = You()
    questions = iter([lambda: you.say("first"), lambda: you.say("third")])

    def twice():
        if you.request is not None:
            next(questions)()
            you.say("second")

    you.on_request = twice
    assert [you.ask(asked()), you.ask(asked())] == ["first", "third"]


def test_what_is_pressed_becomes_an_answer():
    """Approve is for the call as shown; an edit holds the text; reject says why"""
    request = asked(path="a")
    approval = answered(request, "approve", shown_arguments(request), "w")
    assert isinstance(approval, Approve)
    assert (approval.call_id, approval.who, approval.why) == ("call_1", "you", "w")
    edit = answered(request, "edit", '{"path": "b"}', "")
    assert edit == Edit({"path": "b"}, "call_1", who="you")
    assert answered(request, "reject", "{", "bad") == Reject("bad", who="you")
    assert answered(request, "later", "{", "") is None
    for said, text, words in (
        ("edit", "[" * 100_000, "not JSON"),
        ("edit", "[1]", "are an object"),
        ("approve", '{"path": "b"}', "press Approve the edit"),
    ):
        assert words in answered(request, said, text, "")


# In front of a class.


def test_each_key_presses_one_button():
    """Each button but the edit has a key, and no key presses two"""
    keys = [key for _, *several in PRESSED.values() for key in several]
    assert len(keys) == len(set(keys))
    assert set(PRESSED) == {*TEXTS["buttons"], *TEXTS["answers"]} - {"edit"}
