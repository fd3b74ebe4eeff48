"""The paper's agent: what it asks, how it acts, when it ends."""

import pytest

from workbook.loop.paper_agent import read_step, run
from workbook.loop.prompting import ACT, REACT, PaperStep
from workbook.loop.text_world import StepResult, ToolWorld
from workbook.models.base import Usage
from workbook.models.script import Script
from workbook.traces.events import REQUIRED
from workbook.traces.writer import TraceWriter

QUESTION = "How many eggs are in 7 boxes of 12?"
SUM = " I multiply.\nAction 1: Sum[12 * 7]"
END = " I know.\nAction 2: Finish[84]"


def world(**options):
    return ToolWorld({"Sum": lambda text: 84}, gold="84", **options)


def reads_angles(text):
    """Read `Sum<1>` in place of `Sum[1]`."""
    verb, angle, argument = text.rstrip(">").partition("<")
    return (verb.lower(), argument) if angle else None


class OnlyChats:
    """A model that takes messages and nothing else."""

    name = "chat"

    def __init__(self, turns):
        self.script = Script(turns)

    def chat(self, messages, *, tools=(), stop=()):
        return self.script.chat(messages, tools=tools, stop=stop)


def test_react_thinks_acts_and_finishes():
    """ReAct goes on until Finish: one call a step, and the world's reward is told."""
    attempt = run("react", Script([SUM, END]), QUESTION, [], world())
    assert attempt.steps == (
        PaperStep("I multiply.", "Sum[12 * 7]", "84"),
        PaperStep("I know.", "Finish[84]", "Episode finished."),
    )
    assert (attempt.answer, attempt.reward, attempt.calls) == ("84", 1.0, 2)


@pytest.mark.parametrize("numbered", [True, False])
def test_each_prompt_ends_where_the_model_goes_on(numbered):
    """The second prompt holds the first step and its observation, then a new label."""
    one, two = (" 1", " 2") if numbered else ("", "")
    turns = [f" I multiply.\nAction{one}: Sum[1]", f" Yes.\nAction{two}: Finish[84]"]
    script = Script(turns)
    run("react", script, QUESTION, [], world(), numbered=numbered)
    assert script.requests[1].prompt == (
        f"Question: {QUESTION}\nThought{one}: I multiply.\nAction{one}: Sum[1]\n"
        f"Observation{one}: 84\nThought{two}:"
    )
    assert script.requests[1].stop[0] == f"\nObservation{two}:"


def test_a_reply_without_an_action_is_followed_by_a_second_call():
    """A thought alone is kept, and the action is asked for with a stop at the line."""
    script = Script([" I multiply.\nThen I see.", " Sum[12 * 7]", END])
    attempt = run("react", script, QUESTION, [], world())
    second = script.requests[1]
    assert second.prompt.endswith("\nThought 1: I multiply.\nAction 1:")
    assert second.stop == ("\n",)
    assert attempt.steps[0] == PaperStep("I multiply.", "Sum[12 * 7]", "84")
    assert attempt.calls == 3


def test_the_first_prompt_may_be_written_by_another():
    """A writer of one's own is asked once, and its prompt grows with the steps."""

    def prompt(question, exemplars, *, numbered):
        return f"Mind {len(exemplars)}, {numbered}.\n\nQuestion: {question}\nThought 1:"

    script = Script([SUM, END])
    run("react", script, "7 * 12?", [], world(), prompt=prompt)
    first, second = (request.prompt for request in script.requests)
    assert first == "Mind 0, True.\n\nQuestion: 7 * 12?\nThought 1:"
    assert second == (
        f"{first} I multiply.\nAction 1: Sum[12 * 7]\nObservation 1: 84\nThought 2:"
    )


def test_actions_may_be_read_by_another():
    """A parser of one's own reads every action, for the world and for the trace."""
    trace = TraceWriter(secrets=())
    script = Script([" Sum<12 * 7>", " Finish<84>"])
    attempt = run("act", script, "?", [], world(), parse=reads_angles, emit=trace)
    assert (attempt.answer, attempt.reward) == ("84", 1.0)
    turns = [event["turn"]["kind"] for event in trace.trace().of("model_turn")]
    assert turns == ["action", "final"]


class Garden:
    """A world that knows no Finish; it is over once the rose is watered."""

    def step(self, action):
        watered = action == "water rose"
        text = "You did it." if watered else "Nothing."
        return StepResult(text, float(watered), watered)


def test_a_world_may_end_the_run_without_an_answer():
    """When the world says that it is over, it is: rewarded, and without an answer."""
    script = Script([" I water it.\nAction 1: water rose"])
    attempt = run("react", script, "Water the rose.", [], Garden())
    assert (attempt.answer, attempt.reward, attempt.calls) == (None, 1.0, 1)


def test_a_long_observation_is_cut():
    """The model sees the first sentences of a long observation."""
    script = Script([" Read[]", " Finish[]"])
    book = ToolWorld({"Read": lambda _: "One. Two. Three."})
    run("act", script, QUESTION, [], book, observation_chars=9)
    assert script.requests[1].prompt.endswith("Observation 1: One. Two.\nAction 2:")


@pytest.mark.parametrize(
    ("method", "turns"),
    [
        ("standard", ["Answer: 84"]),
        ("cot", ["Thought: 12 * 7 = 84.\nAnswer: 84"]),
        ("act", ["Action 1: Sum[1]", "Action 2: Finish[84]"]),
        ("react", [f"Thought 1:{SUM}", f"Thought 2:{END}"]),
    ],
)
def test_a_model_that_only_chats_will_do(method, turns):
    """A chat model is asked to continue the text, and may repeat its last label."""
    model = OnlyChats(turns)
    attempt = run(method, model, QUESTION, [], world())
    assert attempt.answer == "84"
    (message,) = model.script.requests[0].prompt
    assert message["role"] == "user"
    assert QUESTION in message["content"]


def test_the_trace_tells_the_run_in_order():
    """The trace has each request, turn, action and observation, and the end."""
    trace = TraceWriter(secrets=())
    run("react", Script([" Hm.", " Sum[1]", END]), QUESTION, [], world(), emit=trace)
    events = trace.trace()
    ask, act = ("model_request", "model_turn"), ("tool_call", "observation")
    kinds = ["run_started", *ask, *ask, *act, *ask, *act, "run_finished"]
    assert [event["kind"] for event in events] == kinds
    assert all(set(REQUIRED[event["kind"]]) <= set(event) for event in events)
    turns = [event["turn"]["kind"] for event in events.of("model_turn")]
    assert turns == ["malformed", "action", "final"]
    assert events.end["state"] == "DONE"
    assert events.end["answer"] == "84"


@pytest.mark.parametrize(
    ("method", "reply", "expected"),
    [
        (REACT, " t\nAction 1: S[a]", ("t", "S[a]")),
        (REACT, "Thought 1: t\nAction 1: S[a]\nThought 2: u", ("t", "S[a]")),
        (REACT, " t\nmore\nAction: S[a]\nAction: S[b]", ("t", "S[a]")),
        (REACT, " t\nObservation: o\nAction: S[a]", ("t", "")),
        (REACT, "Action 1: S[a]", ("", "S[a]")),
        (REACT, "", ("", "")),
        (ACT, " S[a]", ("", "S[a]")),
        (ACT, "Action 1: S[a]\nObservation", ("", "S[a]")),
        (ACT, "", ("", "")),
    ],
)
def test_a_reply_is_split_into_thought_and_action(method, reply, expected):
    """The first thought and the first action count, one line of each."""
    assert read_step(method, reply) == expected


@pytest.mark.parametrize(
    ("method", "turns", "answer", "calls", "reward"),
    [
        ("standard", [" 84\nQuestion: 1+1?"], "84", 1, 0.0),
        ("cot", [" 12 * 7 = 84.\nAnswer: 84\n\nQuestion: 1?\nAnswer: 2"], "84", 1, 0.0),
        ("cot", [" 12 * 7 = 84."], None, 1, 0.0),
        ("act", [" Sum[12 * 7]", " Finish[84] and so on."], "84", 2, 1.0),
        ("act", [" Fly[home]", " Finish[84]"], "84", 2, 1.0),
        ("act", [" Finish[]"], None, 1, 0.0),
        ("act", [" Sum[1]"] * 9, None, 7, 0.0),
        ("react", [f"{SUM}\nObservation 1: 99\nAction 2: Finish[99]", END], "84", 2, 1),
    ],
)
def test_how_a_run_ends(method, turns, answer, calls, reward):
    """The line behind "Answer:", or Finish in brackets; no answer after seven steps."""
    trace = TraceWriter(secrets=())
    attempt = run(method, Script(turns), QUESTION, [], world(), emit=trace)
    assert (attempt.answer, attempt.calls, attempt.reward) == (answer, calls, reward)
    end = trace.trace().end
    gave_up = answer is None and turns != [" Finish[]"]
    assert (end["state"] == "EXHAUSTED", end["answer"]) == (gave_up, answer)
    spent = [Usage(**event["usage"]) for event in trace.trace().of("model_turn")]
    assert attempt.usage == sum(spent, Usage())


def test_finish_ends_the_run_in_any_world():
    """A model that finishes is not asked again, whatever the world says to it."""
    attempt = run("act", Script([" Finish[done]"]), "Water the rose.", [], Garden())
    assert (attempt.answer, attempt.reward, attempt.calls) == ("done", 0.0, 1)


@pytest.mark.parametrize(
    ("method", "words"),
    [("react", "give it a world"), ("tot", r"'tot' is none of .* standard, cot, act")],
)
def test_what_cannot_be_run_is_refused_in_words(method, words):
    """A method that acts needs a world, and must be one of the four."""
    with pytest.raises(ValueError, match=words):
        run(method, Script([]), QUESTION, [])
