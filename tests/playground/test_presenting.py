"""The player for the last row, without a browser: room, turns, keys, scripts."""

import json
import re
import sys
import threading
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.playground.test_player import press, told
from workbook.models.langchain import ScriptedModel
from workbook.models.script import Script
from workbook.playground.engines import GALLERY, play
from workbook.playground.large import COLUMNS, PIN_ROWS, ROWS, fitted, large, pinned
from workbook.playground.player_view import BUTTONS, PRESSED
from workbook.playground.punchline import Pin
from workbook.playground.watch import player

JAPANESE = (
    "この文はとても長いので、教室の一番後ろの席からも読めるように大きく表示されます。\n"
)
TEXTS = ["x" * 5000, "word " * 900, JAPANESE * 30, "a\n" * 300, "\t|" * 999, "😀" * 300]
ANSWER = "Final Answer: 88"


def stage(shown):
    return re.sub(r"<[^>]+>", "", shown.view.stage.value)


@pytest.mark.parametrize("end", [True, False])
@pytest.mark.parametrize("text", TEXTS)
def test_a_long_text_has_as_many_lines_as_there_is_room_for(text, end):
    """No line is too long, and what is hidden and what is shown are the whole"""
    cut = fitted(text, ROWS, COLUMNS, end=end)
    lines = cut.text.split("\n")
    assert len(lines) <= ROWS
    assert max(map(cell_len, lines)) <= COLUMNS
    assert cut.hidden + len("".join(cut.text.split())) == len("".join(text.split()))
    assert cut.hidden > 0


@pytest.mark.parametrize("text", ["", "88", "a\r\nb", JAPANESE.strip()])
def test_a_short_text_is_whole(text):
    """What there is room for is shown, and nothing is said to be hidden"""
    cut = fitted(text, ROWS, COLUMNS)
    assert cut.hidden == 0
    assert "".join(cut.text.split()) == "".join(text.split())


def test_a_line_of_letters_that_are_words_is_filled():
    """Japanese after a number goes on in its line, as it does on paper"""
    first, *_ = fitted("29 " + JAPANESE, ROWS, COLUMNS).text.split("\n")
    assert cell_len(first) > COLUMNS - 2


def test_of_a_prompt_the_end_is_shown_and_of_an_error_the_beginning():
    """What is new stands at a prompt's end, what went wrong at an error's beginning"""
    prompt = {"kind": "model_request", "prompt": "old\n" * 50 + "new", "kept": 0}
    assert large(prompt).text.endswith("new")
    error = {"kind": "observation", "ok": False, "text": "Error (a): " + "b " * 900}
    assert large(error).text.startswith("error: Error (a)")


def test_a_short_event_is_larger_still():
    """What fits in letters half as large again is shown in them, whole"""
    short = {"kind": "observation", "ok": True, "text": "88"}
    assert large(short).big
    assert large(short).text == "88"
    assert not large(short | {"text": "word " * 50}).big


@pytest.mark.parametrize("together", [1, 2, 3, 4])
def test_what_stays_in_view_has_its_own_room(together):
    """Four things in view take no more lines than one"""
    cut = pinned(Pin("label", "word " * 200), together)
    assert (cut.text.count("\n") + 1) * together <= PIN_ROWS
    assert cut.hidden > 0


@pytest.mark.parametrize("engine", [*GALLERY, "guarded"])
def test_turn_goes_to_what_the_model_says_next(engine):
    """Five times Turn are the five turns of the agent, and once more is the end"""
    shown = player("price_question", engine)
    events = []
    for _ in range(5):
        press(shown, "turn")
        events.append(shown.playback.seen[-1])
    assert [event["kind"] for event in events] == ["model_turn"] * 5
    assert [event["step"] for event in events] == [1, 2, 3, 4, 5]
    assert not any("parent" in event for event in events)
    press(shown, "turn")
    assert shown.playback.at_end
    press(shown, "turn_back", "turn_back")
    assert shown.playback.seen[-1] == events[-2]
    press(shown, *["turn_back"] * 9)
    assert shown.playback.position == 0


def test_a_turn_that_is_still_to_come_is_waited_for():
    """Turn pressed while the model thinks stops at its turn, and not at the end"""
    go_on = threading.Event()

    class Waits(Script):
        def complete(self, *args, **kwargs):
            assert go_on.wait(10)
            return super().complete(*args, **kwargs)

    action = "Thought: a\nAction: Calculator\nAction Input: 1+1"
    shown = player("price_question", "naive", model=Waits([action, ANSWER]))
    shown.view.buttons["turn"].click()
    assert shown.playback.until_turn
    go_on.set()
    shown._thread.join(10)
    assert shown.playback.seen[-1]["kind"] == "model_turn"
    assert not shown.playback.at_end


@pytest.mark.parametrize("engine", [*GALLERY, "create_agent"])
@pytest.mark.parametrize("kind", [Script, ScriptedModel])
def test_a_script_that_is_given_plays_again(kind, engine):
    """Run pressed again plays the same turns, and the script itself is not used up"""
    model = kind(["Thought: t\n" + ANSWER])
    shown = player("price_question", engine, model=model)
    press(shown, "run")
    first = [event["kind"] for event in shown.playback.events]
    press(shown, "run")
    assert [event["kind"] for event in shown.playback.events] == first
    assert "88" in shown.playback.seen[-1]["answer"]


def test_a_script_that_was_played_elsewhere_begins_anew():
    """A script that a run before has used up has its turns again in the player"""
    model = Script([ANSWER])
    play("price_question", "fsm", model=model)
    shown = player("price_question", "fsm", model=model)
    press(shown, "run")
    assert shown.playback.seen[-1]["answer"] == "88"
    assert model.asked == 1


@pytest.mark.parametrize("engine", [*GALLERY, "guarded", "create_agent"])
def test_a_script_that_is_too_short_says_so_in_its_own_frame(engine):
    """The page tells a script that is used up from an error of the run"""
    shown = player("price_question", engine, model=Script([]))
    press(shown, "run")
    assert 'class="used-up"' in shown.view.status.value
    assert "Run plays it again" in told(shown)
    press(shown, "back")
    assert "used-up" not in shown.view.status.value
    failing = Script([TimeoutError("no answer")])
    shown = player("price_question", engine, model=failing)
    press(shown, "run")
    assert "used-up" not in shown.view.status.value


def test_the_mode_is_asked_for_and_left():
    """present=True and the button fill the window; pressed again, the page is back"""
    shown = player(present=True)
    assert shown.view.presenting
    assert "presenting" in shown.view.widget._dom_classes
    assert shown.view.buttons["present"].description == "Leave Esc"
    press(shown, "present")
    assert "presenting" not in shown.view.widget._dom_classes
    assert shown.view.buttons["present"].description == "Present"
    assert shown.view.stage.value == ""
    assert not player().view.presenting


def test_one_thing_at_a_time():
    """The event, whose it is and where the machine stands; what comes is not told"""
    shown = player("price_question", "fsm", present=True)
    assert "The model says" not in stage(shown)
    press(shown, "turn")
    assert "The model says" in stage(shown)
    assert "Action Input" in stage(shown)
    press(shown, "step", "step")
    assert "▶ EXECUTE_TOOL" in stage(shown)
    assert "Action Input" not in stage(shown)


def test_a_class_is_not_told_what_waits():
    """The run waits for a person; a class that is not there yet does not read of it"""
    shown = player("payment_twice", "guarded", present=True)
    shown.view.buttons["step"].click()
    for _ in range(100):
        if shown.you.request:
            break
        shown._thread.join(0.05)
    shown._show()
    assert "waits" not in told(shown)
    assert shown.view.form.request is None
    shown.playback.seek(len(shown.playback.events))
    shown._show()
    assert "waits for you: Pay" in told(shown)
    assert shown.view.form.request is not None
    assert shown.view.form.buttons["approve"].description == "Approve A"
    press(shown, "cancel")


def test_what_a_tool_brings_is_text_on_the_large_page():
    """HTML in an observation is escaped, large as well"""
    shown = player("html_from_a_tool", "naive", present=True)
    press(shown, "run")
    for position in range(len(shown.playback.events) + 1):
        shown.view.slider.value = position
        for part in (shown.view.stage, shown.view.parts["punchline"]):
            assert not re.search(r"<(img|script|b>S)", part.value)


def test_each_key_presses_one_button():
    """Every button but the edit has a key, and no key presses two"""
    keys = [key for _, *several in PRESSED.values() for key in several]
    assert len(keys) == len(set(keys))
    assert set(PRESSED) == {*BUTTONS, "approve", "reject", "later"}


def test_the_key_that_switches_is_none_of_jupyterlabs():
    """P, pressed alone, does nothing else in JupyterLab"""
    jupyter = Path(sys.prefix) / "share" / "jupyter" / "lab" / "schemas"
    schemas = list(jupyter.rglob("*.json"))
    taken = {
        tuple(shortcut.get("keys", ()))
        for path in schemas
        for shortcut in json.loads(path.read_text(encoding="utf-8")).get(
            "jupyter.lab.shortcuts", ()
        )
    }
    assert ("A",) in taken
    assert ("P",) not in taken
    assert "p" in PRESSED["present"]
