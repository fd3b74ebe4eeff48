"""Be the model: what the runtime does with a turn, and what its widget shows."""

import pytest

from workbook.stage.role_play import EXAMPLE, RESTART, SEND, TEXTS
from workbook.stage.role_play import be_the_model as begin

TURN = TEXTS["example"]
AGAIN = [("model", TURN.strip()), ("runtime", "Observation: 20")]


def press(view, *names, text=None):
    view.box.value = view.box.value if text is None else text
    for name in names:
        view.buttons[name].click()


@pytest.mark.parametrize(
    ("text", "kinds", "words", "kept"),
    [
        (TURN, ["done"], "wrote the Observation", AGAIN),
        (f"{TURN}\nObservation: 99", ["note", "done"], "wrote an Obs", AGAIN),
        (f"{TURN}\nFinal Answer: 88", ["note", "done"], "more than one step", AGAIN),
        ("I think it is 88.", ["error"], "There is no step in it", []),
        ("Action: Calculator", ["error"], "no “Action Input:” line", []),
        ("Observation: 80", ["error"] * 2, "An Observation is not yours", []),
    ],
)
def test_a_turn_is_read_and_its_action_is_run(text, kinds, words, kept):
    """The runtime writes the Observation; an unreadable turn is an error, not kept"""
    session = begin()
    messages = session.read(text)
    assert [kind for kind, _ in messages] == kinds
    assert words in " ".join(text for _, text in messages)
    assert session.transcript[1:] == kept


@pytest.mark.parametrize(
    "text", ["Oracle\nAction Input: 1", "Calculator\nAction Input: 1/0"]
)
def test_a_failed_call_is_an_observation(text):
    """An error of a tool comes back as an Observation, and the run goes on"""
    session = begin()
    assert session.read(f"Action: {text}")[0][0] == "note"
    assert session.transcript[-1][1].startswith("Observation: Error: ")
    assert session.read(TURN)[0][0] == "done"


@pytest.mark.parametrize(
    ("answer", "kind"), [("88", "right"), ("$88.", "right"), ("90", "wrong")]
)
def test_a_final_answer_ends_the_run(answer, kind):
    """A Final Answer ends the run, right or wrong; another turn is refused"""
    session = begin()
    [(found, words)] = session.read(f"Final Answer: {answer}")
    assert (found, "stopped after turn 1." in words) == (kind, True)
    assert session.read(TURN)[0][0] == "error"


def test_the_buttons_do_what_they_say():
    """Show, send, restart; an example keeps what you typed; after the end no Send"""
    view = begin()
    assert "Question: " in view.page.value
    press(view, EXAMPLE, SEND)
    assert "Observation: 20" in view.page.value
    before = view.status.value
    press(view, EXAMPLE, text="Thought: mine")
    assert view.box.value == "Thought: mine"
    assert view.status.value.startswith(before)
    assert "Action Input: 100*0.2" in view.status.value
    press(view, SEND, text="Final Answer: 88")
    assert view.buttons[SEND].disabled
    press(view, RESTART)
    assert (view.buttons[SEND].disabled, len(view.transcript)) == (False, 1)


def test_a_saved_notebook_has_the_transcript():
    """What a page without widgets shows is the transcript of now, as escaped text"""
    view, pages = begin(), []
    view._replace = pages.append
    press(view, SEND, text="Action: <script>x</script>\nAction Input: <img src=x>")
    assert "Action: &lt;script&gt;" in pages[-1]
    assert not any(tag in pages[-1] for tag in ("<script", "<img"))
