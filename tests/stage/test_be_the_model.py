"""Be the model: the runtime behind it, and what its widget shows."""

import pytest

from workbook.stage.role_play import EXAMPLE, RESTART, SEND, TEXTS, Session
from workbook.stage.role_play import be_the_model as begin

TURN = TEXTS["example"]


def press(view, *names, text=None):
    view.box.value = view.box.value if text is None else text
    for name in names:
        view.buttons[name].click()


def kinds(messages):
    return [kind for kind, _ in messages]


def test_an_action_is_run_and_observed():
    """The runtime runs the tool and writes the Observation"""
    session = Session()
    assert kinds(session.send(TURN)) == ["done"]
    assert session.transcript[1:] == [
        ("model", TURN.strip()),
        ("runtime", "Observation: 20"),
    ]


def test_an_observation_of_the_model_is_not_kept():
    """What is kept of a turn is what was read, wherever the Observation stands"""
    session = Session()
    for text in (f"**observation：** 99\n{TURN}", f"{TURN}\nObservation: 99"):
        (kind, words), _ = session.send(text)
        assert session.transcript[-2] == ("model", TURN.strip())
        assert kind == "note"
        assert "You wrote an Observation" in words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Your turn is empty"),
        ("I think it is 88.", "There is no step in it"),
        ("Action: Calculator", "no “Action Input:” line"),
        ("Observation: 80", "An Observation is not yours"),
    ],
)
def test_an_unreadable_turn_says_what_is_wrong_and_changes_nothing(text, words):
    """Each kind of unreadable turn has its own sentence, as an error"""
    session = Session()
    messages = session.send(text)
    assert {*kinds(messages)} == {"error"}
    assert words in messages[-1][1]
    assert len(session.transcript) == 1


@pytest.mark.parametrize(
    "text", ["Oracle\nAction Input: 1", "Calculator\nAction Input: 1/0"]
)
def test_a_failed_call_is_an_observation(text):
    """An error of a tool comes back as an Observation, and the run goes on"""
    session = Session()
    assert kinds(session.send(f"Action: {text}")) == ["note"]
    assert session.transcript[-1][1].startswith("Observation: Error: ")
    assert kinds(session.send(TURN)) == ["done"]


@pytest.mark.parametrize(
    ("answer", "kind"), [("88", "right"), ("$88.", "right"), ("90", "wrong")]
)
def test_a_final_answer_ends_the_run(answer, kind):
    """A Final Answer ends the run, right or wrong; another turn is refused"""
    session = Session()
    assert kinds(session.send(f"Final Answer: {answer}")) == [kind]
    assert kinds(session.send(TURN)) == ["error"]


def test_of_two_steps_the_first_is_taken():
    """Of two steps in one turn the first is taken, and a message says so"""
    session = Session()
    (_, words), _ = session.send(f"{TURN}\nFinal Answer: 88")
    assert "more than one step" in words
    assert session.transcript[-1] == ("runtime", "Observation: 20")


def test_the_buttons_do_what_they_say():
    """Show, send and restart; after the end nothing can be sent"""
    view = begin()
    press(view, EXAMPLE, SEND)
    assert "Observation: 20" in view.transcript.value
    press(view, SEND, text="Final Answer: 88")
    assert view.buttons[SEND].disabled
    press(view, RESTART)
    assert (view.buttons[SEND].disabled, len(view.session.transcript)) == (False, 1)


def test_an_error_is_an_alert_and_a_verdict_is_none():
    """An error, a wrong answer and a right one look different, each in its place"""
    view = begin()
    press(view, SEND, text="hello")
    assert 'class="note error' in view.alert.value
    assert "note" not in view.status.value
    assert view.box.value == "hello"  # it can be put right
    press(view, SEND, text="Final Answer: 90")
    assert "note" not in view.alert.value
    assert 'class="note wrong' in view.status.value


def test_an_example_wipes_nothing():
    """Show me one turn leaves what is in the box, and the verdict"""
    view = begin()
    press(view, EXAMPLE, SEND)
    before = view.status.value
    press(view, EXAMPLE, text="Thought: mine")
    assert view.box.value == "Thought: mine"
    assert view.status.value.startswith(before)
    assert "Action Input: 100*0.2" in view.status.value


def test_a_saved_notebook_has_the_transcript():
    """What a page without widgets shows is the transcript of now, as escaped text"""
    view, pages = begin(), []
    view._replace = pages.append
    press(view, SEND, text="Action: <script>x</script>\nAction Input: <img src=x>")
    assert "Action: &lt;script&gt;" in pages[-1]
    assert not any(tag in pages[-1] for tag in ("<script", "<img"))
