"""The paper's agent: what it asks, how it acts, when it ends."""

import pytest

from tests.loop.asked import Asked
from workbook.loop.paper_agent import read_step, run
from workbook.loop.prompting import ACT, REACT, PaperStep
from workbook.loop.text_world import StepResult, ToolWorld
from workbook.runtime.journal import Journal
from workbook.runtime.model import Usage
from workbook.runtime.script import Script

QUESTION = "How many eggs are in 7 boxes of 12?"
SUM = " I multiply.\nAction: Sum[12 * 7]"
END = " I know.\nAction: Finish[84]"
WORLD = ToolWorld({"Sum": lambda text: 84})


def reads_angles(text):
    """Read `Sum<1>` in place of `Sum[1]`."""
    verb, angle, argument = text.rstrip(">").partition("<")
    return (verb.lower(), argument) if angle else None


def test_each_prompt_ends_where_the_model_goes_on():
    """The second prompt holds the first step and its observation, then a new label."""
    script = Asked([SUM, END])
    run("react", script, QUESTION, [], WORLD)
    first, second = script.prompts
    assert second == (
        f"{first} I multiply.\nAction: Sum[12 * 7]\nObservation: 84\nThought:"
    )
    assert first == f"Question: {QUESTION}\nThought:"
    assert script.requests[1].stop[0] == "\nObservation:"


def test_a_reply_without_an_action_is_followed_by_a_second_call():
    """A thought alone is kept, the action asked for; the trace has it all in order."""
    journal = Journal(secrets=())
    script = Asked([" I multiply.\nThen I see.", " Sum[12 * 7]", END])
    attempt = run("react", script, QUESTION, [], WORLD, emit=journal.emit)
    assert script.prompts[1].endswith("\nThought: I multiply.\nAction:")
    assert script.requests[1].stop == ("\n",)
    assert attempt.steps == (
        PaperStep("I multiply.", "Sum[12 * 7]", "84"),
        PaperStep("I know.", "Finish[84]", "Episode finished."),
    )
    assert attempt.calls == 3
    events = journal.trace()
    ask, act = ("model_request", "model_turn"), ("tool_call", "observation")
    kinds = ["run_started", *ask, *ask, *act, *ask, *act, "run_finished"]
    assert [event["kind"] for event in events] == kinds
    turns = [event["turn"]["kind"] for event in events.of("model_turn")]
    assert turns == ["malformed", "action", "final"]
    assert (events.end["state"], events.end["answer"]) == ("DONE", "84")


def test_prompt_and_actions_may_be_anothers():
    """A first prompt of one's own grows with the steps; a parser reads each action."""

    def prompt(question, exemplars, *, numbered):
        return f"Mind {len(exemplars)}, {numbered}.\n\nQuestion: {question}\nAction:"

    journal, script = Journal(secrets=()), Asked([" Sum<12 * 7>", " Finish<84>"])
    mine = {"prompt": prompt, "parse": reads_angles}
    attempt = run("act", script, "7 * 12?", [], WORLD, emit=journal.emit, **mine)
    assert attempt.answer == "84"
    turns = [event["turn"]["kind"] for event in journal.trace().of("model_turn")]
    assert turns == ["action", "final"]
    first, second = script.prompts
    assert first == "Mind 0, False.\n\nQuestion: 7 * 12?\nAction:"
    assert second == f"{first} Sum<12 * 7>\nObservation: 84\nAction:"


class Garden:
    """A world that knows no Finish; it is over once the rose is watered."""

    def step(self, action):
        return StepResult("Nothing.", done=action == "water rose")


@pytest.mark.parametrize(
    ("action", "answer"), [("water rose", None), ("Finish[x]", "x")]
)
def test_the_world_or_the_model_ends_the_run(action, answer):
    """A world that is over ends it, without an answer; Finish ends it in any world."""
    attempt = run("act", Script([f" {action}"]), "Water the rose.", [], Garden())
    assert (attempt.answer, attempt.calls) == (answer, 1)


def test_a_long_observation_is_cut():
    """The model sees the first sentences of a long observation."""
    script = Asked([" Read[]", " Finish[]"])
    book = ToolWorld({"Read": lambda _: "One. Two. Three."})
    run("act", script, QUESTION, [], book, observation_chars=9)
    assert script.prompts[1].endswith("Observation: One. Two.\nAction:")


@pytest.mark.parametrize(
    ("method", "reply", "expected"),
    [
        (REACT, " t\nAction 1: S[a]", ("t", "S[a]")),
        (REACT, "Thought 1: t\nAction 1: S[a]\nThought 2: u", ("t", "S[a]")),
        (REACT, " t\nmore\nAction: S[a]\nAction: S[b]", ("t", "S[a]")),
        (REACT, " t\nObservation: o\nAction: S[a]", ("t", "")),
        (REACT, "", ("", "")),
        (ACT, " S[a]", ("", "S[a]")),
        (ACT, "Action 1: S[a]\nObservation", ("", "S[a]")),
    ],
)
def test_a_reply_is_split_into_thought_and_action(method, reply, expected):
    """The first thought and the first action count, one line of each."""
    assert read_step(method, reply) == expected


@pytest.mark.parametrize(
    ("method", "turns", "answer", "calls"),
    [
        ("standard", [" 84\nQuestion: 1+1?"], "84", 1),
        ("cot", [" 12 * 7 = 84.\nAnswer: 84\n\nQuestion: 1?\nAnswer: 2"], "84", 1),
        ("act", [" Sum[12 * 7]", " Finish[84] and so on."], "84", 2),
        ("act", [" Fly[home]", " Finish[84]"], "84", 2),
        ("act", [" Finish[]"], None, 1),
        ("act", [" Sum[1]"] * 9, None, 7),
        ("react", [f"{SUM}\nObservation: 99\nAction: Finish[99]", END], "84", 2),
    ],
)
def test_how_a_run_ends(method, turns, answer, calls):
    """The line behind "Answer:", or Finish in brackets; no answer after seven steps."""
    journal = Journal(secrets=())
    attempt = run(method, Script(turns), QUESTION, [], WORLD, emit=journal.emit)
    assert (attempt.answer, attempt.calls) == (answer, calls)
    end = journal.trace().end
    gave_up = answer is None and turns != [" Finish[]"]
    assert (end["state"] == "EXHAUSTED", end["answer"]) == (gave_up, answer)
    spent = [Usage(**event["usage"]) for event in journal.trace().of("model_turn")]
    assert attempt.usage == sum(spent, Usage())


def test_the_reasoning_before_an_answer_is_its_thought():
    """CoT's trace has the reasoning apart from the answer."""
    journal = Journal(secrets=())
    run("cot", Script([" 12 * 7 = 84.\nAnswer: 84"]), QUESTION, [], emit=journal.emit)
    (turn,) = journal.trace().of("model_turn")
    assert turn["turn"]["thought"] == "12 * 7 = 84."


@pytest.mark.parametrize(
    ("method", "reply"), [("cot", " 84, I think."), ("standard", " ")]
)
def test_a_reply_without_an_answer_is_malformed(method, reply):
    """Without a line "Answer:", or without a word, there is no answer to take."""
    journal = Journal(secrets=())
    assert run(method, Script([reply]), QUESTION, [], emit=journal.emit).answer is None
    (turn,) = journal.trace().of("model_turn")
    assert turn["turn"]["reason"] == "missing_answer"
    assert journal.trace().end["state"] == "EXHAUSTED"


@pytest.mark.parametrize(
    ("method", "words"),
    [("react", "give it a world"), ("tot", r"'tot' is none of .* standard, cot, act")],
)
def test_what_cannot_be_run_is_refused_in_words(method, words):
    """A method that acts needs a world, and must be one of the four."""
    with pytest.raises(ValueError, match=words):
        run(method, Script([]), QUESTION, [])
