"""The paper's agent: what it asks, how it acts, when it ends; and who gives way."""

import pytest

from tests.lessons.asked import Asked
from workbook.lessons.paper_agent import Order, experiment, majority, paper_agent
from workbook.lessons.react_prompting import (
    ArithmeticQuestion,
    PaperStep,
    calculator_world,
    same_number,
)
from workbook.wait import Waiting
from workbook.worlds.text_world import StepResult, ToolWorld

REACT_FIRST = Order.REACT_TO_COT_SC
COT_FIRST = Order.COT_SC_TO_REACT
# back_off


def test_react_first_keeps_the_answer_of_react(back_off):
    """ReAct → CoT-SC: when ReAct has an answer, it is taken, whatever the votes"""
    assert back_off(REACT_FIRST, "88", ["90", "90", "90"]) == "88"


def test_react_first_backs_off_without_an_answer(back_off):
    """ReAct → CoT-SC: when ReAct has none, the most frequent vote is taken"""
    assert back_off(REACT_FIRST, None, ["90", "88", "90", None, None]) == "90"


@pytest.mark.parametrize("votes", [["90", "90", "88"], ["90", "90", "91", "92"]])
def test_half_is_enough(back_off, votes):
    """CoT-SC → ReAct: an answer that at least half of the samples give is taken"""
    assert back_off(COT_FIRST, "88", votes) == "90"


def test_cot_first_backs_off_when_the_votes_are_scattered(back_off):
    """CoT-SC → ReAct: when the top answer has fewer than half, ReAct's is taken"""
    assert back_off(COT_FIRST, "88", ["90", "90", "91", "92", "93"]) == "88"


def test_a_sample_without_an_answer_counts_as_a_sample(back_off):
    """half means half of all samples: one without an answer (None) counts, too"""
    assert back_off(COT_FIRST, "88", ["90", "90", None, None, None]) == "88"


@pytest.mark.parametrize("votes", [["The Nile", "nile.", "Rhine"], ["NILE", "Nile"]])
def test_votes_are_compared_normalised(back_off, votes):
    """two spellings of one answer are one answer; its first spelling is returned"""
    assert back_off(COT_FIRST, "Rhine", votes) == votes[0]


@pytest.mark.parametrize("order", [REACT_FIRST, COT_FIRST])
@pytest.mark.parametrize("votes", [[], [None, None]])
def test_without_any_vote_react_is_all_there_is(back_off, order, votes):
    """without a single vote, the answer is ReAct's"""
    assert back_off(order, "88", votes) == "88"


@pytest.mark.parametrize(("order", "votes"), [(REACT_FIRST, []), (COT_FIRST, ["1", "2", "3"])])  # fmt: skip  # noqa: E501
def test_when_both_give_up_there_is_no_answer(back_off, order, votes):
    """when both methods pass the question on, the result is None"""
    assert back_off(order, None, votes) is None


# what else the package's own does


def test_the_most_frequent_answer_wins():
    """Votes are counted normalised; a tie goes to the answer that was given first"""
    assert majority([None, "", "."]) == (None, 0)
    assert majority(["Nara", "The Kyoto", "kyoto", "nara", "A"]) == ("Nara", 2)


QUESTION = "How many eggs are in 7 boxes of 12?"
SUM = " I multiply.\nAction: Sum[12 * 7]"
END = " I know.\nAction: Finish[84]"
WORLD = ToolWorld({"Sum": lambda text: 84})
CAPS = {"thought": 100, "action": 20, "observation": 5}


def agent(method, *turns, world=WORLD, **options):
    """Run the agent on a model with these turns; return its row and the model."""
    model = Asked(turns)
    return paper_agent(method, model, QUESTION, [], world, **options), model


def test_each_prompt_ends_where_the_model_goes_on():
    """A prompt holds the steps before; a thought alone is kept, and the action asked"""
    row, model = agent("react", SUM, " I see.\nThen I know.", " Finish[84]", caps=CAPS)
    first, second, third = model.prompts
    assert first == f"Question: {QUESTION}\nThought:"
    assert second == f"{first}{SUM}\nObservation: 84\nThought:"
    assert third == f"{second} I see.\nAction:"
    stops = [request.stop[0] for request in model.requests]
    assert stops == ["\nObservation:", "\nObservation:", "\n"]
    assert [request.max_tokens for request in model.requests] == [120, 120, 20]
    assert row["steps"] == [
        PaperStep("I multiply.", "Sum[12 * 7]", "84"),
        PaperStep("I see.", "Finish[84]", "Episode finished."),
    ]
    assert (row["answer"], row["calls"]) == ("84", 3)


def test_one_model_may_think_and_another_act():
    """Each step has two calls, with the caps of a thought and of an action"""
    actor = Asked([" Sum[1]\nThought: x", " Finish[84]"])
    row, thinker = agent("react", SUM, END, actor=actor, caps=CAPS)
    assert [step.action for step in row["steps"]] == ["Sum[1]", "Finish[84]"]
    assert (row["answer"], row["calls"]) == ("84", 4)
    assert [each.max_tokens for each in thinker.requests] == [100, 100]
    assert [each.max_tokens for each in actor.requests] == [20, 20]
    assert thinker.requests[0].stop[0] == "\nAction"
    assert actor.prompts[0].endswith("Thought: I multiply.\nAction:")


@pytest.mark.parametrize(
    ("method", "turns", "answer", "calls"),
    [
        ("standard", [" 84\nQuestion: 1+1?"], "84", 1),
        ("standard", [" "], None, 1),
        ("cot", [" 12 * 7 = 84.\nAnswer: 84\n\nQuestion: 1?\nAnswer: 2"], "84", 1),
        ("cot", [" 84, I think."], None, 1),
        ("act", [" Sum[12 * 7]", " Finish[84] and so on."], "84", 2),
        ("act", [" Fly[home]", "Action 1: Finish[84]\nObservation"], "84", 2),
        ("act", [" Finish[]"], None, 1),
        ("act", [" Sum[1]"] * 9, None, 7),
        ("react", [f"{SUM}\nObservation: 99\nAction: Finish[99]", END], "84", 2),
        ("react", ["Thought 1: t\nmore\nAction 1: Finish[1]\nAction 2: S[a]"], "1", 1),
        ("react", [" t\nObservation: o\nAction: Finish[1]", " Finish[2]"], "2", 2),
    ],
)
def test_how_a_run_ends(method, turns, answer, calls):
    """The line after "Answer:", or the first Finish; no answer after seven steps"""
    row, _ = agent(method, *turns)
    assert (row["answer"], row["calls"]) == (answer, calls)
    assert row["usage"].input > 0 < row["usage"].output
    assert (row["reward"], row["steps"] == []) == (0.0, method in ("standard", "cot"))


class Garden:
    """A world that knows no Finish; it is over once the rose is watered."""

    def step(self, action):
        done = action == "water rose"
        return StepResult("Nothing.", float(done), done)


def test_the_world_or_the_model_ends_the_run():
    """A world that is over ends it, with its reward; Finish ends it in any world"""
    for action, ends in ("water rose", (None, 1.0)), ("Finish[x]", ("x", 0.0)):
        row, _ = agent("act", f" {action}", world=Garden())
        assert (row["answer"], row["reward"], row["calls"]) == (*ends, 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("This is twenty long. Two.", "This is twenty long."),
        ("This is twenty longs. Two.", "This is twenty"),
        ("It is 3.14 m. It is old.", "It is 3.14 m."),
        ('He said "Go!" Then he went on.', 'He said "Go!"'),
        ("「行け！」と言った。そして行ったのだ、とある。", "「行け！」と言った。"),
        ("It is 3.14 metres long", "It is 3.14 metres"),
        ("longwordwithoutanyend", "longwordwithoutanyen"),
    ],
)
def test_an_observation_is_cut_after_a_sentence(text, expected):
    """Whole sentences are kept; else whole words; else as much as there is room"""
    book = ToolWorld({"Read": lambda _: text})
    row, _ = agent("act", " Read[]", world=book, max_steps=1, caps=CAPS)
    assert row["steps"][0].observation == expected


def test_every_question_is_asked_with_every_method(monkeypatch):
    """A row a run, one method after the other, each in its own world; a wait counts"""
    made, waits = [], []
    monkeypatch.setattr(Waiting, "__call__", lambda wait: waits.append(wait.total))
    questions = [ArithmeticQuestion(slug, "2 * 3?", ("6",)) for slug in ("q1", "q2")]
    script = Asked(["6", "8", " calculator 2*3", " finish 6.0", " finish 1"])

    def world(question):
        made.append(question.slug)
        return calculator_world(question)

    prompts = {"act": lambda question, exemplars, numbered: f"{question} {numbered}"}
    given = {"is_right": same_number, "prompts": prompts}
    given["parse"] = lambda text: tuple(text.split())
    rows = experiment(["standard", "act"], script, questions, [], world, **given)
    found = [(row["method"], row["slug"], row["right"], row["calls"]) for row in rows]
    assert found[:2] == [("standard", "q1", True, 1), ("standard", "q2", False, 1)]
    assert found[2:] == [("act", "q1", True, 2), ("act", "q2", False, 1)]
    assert (made, waits) == (["q1", "q2"] * 2, [4] * 4)
    assert [each[:12] for each in script.prompts[1:3]] == [
        "Question: 2 ",
        "2 * 3? False",
    ]
