"""The runtime behind the widget of lesson 00."""

import re

import pytest

from workbook.playground.role_play import TEXTS, Session, be_the_model

EXAMPLE = TEXTS["example"]


def calculator(text):
    return {"100*0.2": 20, "100-20": 80}[text]


def press(view, *names):
    for name in names:
        view.buttons[name].click()


@pytest.fixture
def session():
    return Session({"Calculator": calculator})


def test_an_action_is_run_and_observed(session):
    """The runtime runs the tool and writes the Observation."""
    said = session.send(EXAMPLE)
    assert [who for who, _ in session.transcript] == ["user", "model", "runtime"]
    assert session.transcript[-1][1] == "Observation: 20"
    assert "ran it" in said[-1]


def test_an_observation_of_the_model_is_not_kept(session):
    """What is kept of a turn is what was read, wherever the Observation stands."""
    for text in (f"**observation：** 99\n{EXAMPLE}", f"{EXAMPLE}\nObservation: 99"):
        said = session.send(text)
        assert session.transcript[-2] == ("model", EXAMPLE.strip())
        assert "You wrote an Observation" in said[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Your turn is empty"),
        ("I think it is 88.", "There is no step in it"),
        ("Action: Calculator", "no “Action Input:” line"),
        ("Action Input: 1+1", "No “Action:” line names a tool"),
        ("Final Answer:", "nothing behind it"),
    ],
)
def test_an_unreadable_turn_says_what_is_wrong_and_changes_nothing(
    session, text, words
):
    """Each kind of unreadable turn has its own sentence."""
    said = session.send(text)
    assert words in said[0]
    assert len(session.transcript) == 1


def test_an_unknown_tool_and_a_failing_tool_are_observations(session):
    """An error comes back as an Observation, and the run goes on."""
    unknown = session.send("Action: Oracle\nAction Input: 1")
    failing = session.send("Action: Calculator\nAction Input: 1/0")
    assert "found no such tool" in unknown[-1]
    assert "what went wrong" in failing[-1]
    observations = [text for who, text in session.transcript if who == "runtime"]
    assert "no tool named 'Oracle'" in observations[0]
    assert observations[1].startswith("Observation: Error")


def test_an_observation_alone_is_told_apart(session):
    """A turn that is only a made-up Observation is told whose words those are."""
    said = session.send("Observation: 80")
    assert "There is no step in it" in said[0]
    assert "An Observation is not yours to write" in said[1]
    assert len(session.transcript) == 1


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [("88", "That is right"), ("$88.", "That is right"), ("90", "answer is 88")],
)
def test_a_final_answer_ends_the_run(session, answer, verdict):
    """A Final Answer ends the run; another turn is refused."""
    said = session.send(f"Final Answer: {answer}")
    assert verdict in said[-1]
    assert "The run is over" in session.send(EXAMPLE)[0]


def test_whatever_is_typed_is_shown_as_text(session):
    """HTML that is typed as a turn does not become part of the page."""
    session.send("Action: <script>x</script>\nAction Input: <img src=x>")
    assert set(re.findall(r"<(\w+)", session.to_html())) <= {"div", "small", "b"}


def test_the_widget_sends_shows_and_restarts(session):
    """The buttons do what they say; after the end nothing can be sent."""
    view = be_the_model(session)
    press(view, "Show me one turn", "Send my turn")
    assert "Observation: 20" in view.transcript.value
    assert view.box.value == ""
    view.box.value = "Final Answer: 88"
    press(view, "Send my turn")
    assert view.buttons["Send my turn"].disabled
    press(view, "Start again")
    assert not view.buttons["Send my turn"].disabled
    assert "Observation" not in view.transcript.value


def test_an_example_does_not_overwrite_what_was_typed(session):
    """Show me one turn leaves what is in the box, and shows the turn above it."""
    view = be_the_model(session)
    view.box.value = "Thought: mine"
    press(view, "Show me one turn")
    assert view.box.value == "Thought: mine"
    assert "Action Input: 100*0.2" in view.said.value


def test_after_a_button_the_box_has_the_focus(session, monkeypatch):
    """Whoever goes on typing types into the box, which has a name."""
    view, asked = be_the_model(session), []
    assert view.box.description == "Your turn"
    monkeypatch.setattr(type(view.box), "focus", lambda box: asked.append(box))
    press(view, "Show me one turn")
    assert asked == [view.box]


@pytest.mark.parametrize(
    "more", ["Final Answer: 88", "Action: Calculator\nAction Input: 100-20"]
)
def test_two_steps_in_one_turn_are_told(session, more):
    """Of two steps in one turn the first is taken, and you are told so."""
    said = session.send(f"{EXAMPLE}\n{more}")
    assert "more than one step" in said[0]
    assert session.transcript[-1] == ("runtime", "Observation: 20")
    assert len(session.send(EXAMPLE)) == 1


def test_an_unreadable_turn_stays_in_the_box(session):
    """You can mend what you typed."""
    view = be_the_model()  # with a calculator
    view.box.value = "hello"
    press(view, "Send my turn")
    assert view.box.value == "hello"
    assert "Unreadable" in view.said.value
    assert view.session.send(EXAMPLE)
    assert view.session.transcript[-1][1] == "Observation: 20"
