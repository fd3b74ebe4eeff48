"""The last lesson's measurements: a change in pairs, and the agent outside."""

import inspect
from random import Random

from tests.experiments.watched import Watched
from workbook.checks.export import export
from workbook.checks.parts import keep
from workbook.evaluation.statistics import paired_difference
from workbook.experiments.own_agent import (
    ask_outside,
    on_model,
    on_stories,
    on_sums,
    played,
    run_agent,
    verdict,
)
from workbook.experiments.questions import drawn_sums
from workbook.measures import your_agent as capstone
from workbook.measures.your_agent import action
from workbook.runtime.script import Script

MADE = capstone.my_agent()


def answer():
    """Return the text of our capstone as a learner's, with its functions in it."""
    home = inspect.getsource(capstone)
    imports = home[home.index("import re") : home.index("STEPS")]
    names = "my_tool", "my_guard", "my_story", "my_agent"
    functions = [inspect.getsource(getattr(capstone, name)) for name in names]
    own = "from workbook.measures.your_agent import Capstone, Story, action, tells"
    return "\n\n\n".join([f"{imports}\n{own}", *functions])


def test_stories_before_and_after_are_pairs():
    """with danger the guard wins each story, without danger it loses none"""
    before, after = on_stories(MADE, False, 5), on_stories(MADE, True, 5)
    found = paired_difference(zip(before, after, strict=True))
    assert found[:4] == (5, 5, 0, 0)
    said = str(verdict(found))
    assert "before 5 of 10 50 % (24 % to 76 %)\nafter 10 of 10" in said
    assert "won 5, lost 0: p = 0.062, which luck alone can do" in said
    assert "tasks" not in str(verdict(paired_difference([(True, True)])))


def test_a_story_is_played_without_the_guard_and_with_it():
    """what is shown is its question and how the run ended: wrong, then right"""
    story = MADE.story(Random(1), True)
    rows = [played(MADE, story, guard) for guard in (False, True)]
    assert [row["ends"]["right"] for row in rows] == [False, True]
    assert {row["question"] for row in rows} == {story.question}


def test_sums_are_asked_with_examples_and_with_a_guard():
    """each sum gets the examples, what was calculated is kept, a guard may stop it"""
    sums = drawn_sums(2, seed=15)
    right = [f"Final Answer: {each.answers[0]}" for each in sums]
    call = action("Calculator", expression="1 + 1")
    turns = iter([call, right[0], "Final Answer: 7"])  # of both runs
    model = Watched([lambda prompt: next(turns)], repeat_last=True)
    found = on_sums(model, sums, guard=lambda call, observed: "not now")
    assert [(s.calculated, s.right) for s in found] == [(["1 + 1"], True), ([], False)]
    assert "Action Input: 12 * 14" in model.prompts[0]
    assert "not now" in model.prompts[1]


def test_a_model_is_asked_the_questions_of_stories():
    """a model that answers at once is graded by the gold, and nothing is stopped"""
    hasty = action("Convert", amount=1, rate=9.9), "Final Answer: 9.9"
    found = on_model(Script(hasty, loop=True), MADE, 2)
    wanted = {"without the guard": 0, "with it": 2}
    assert found == {k: f"0 of 2 right, {n} calls stopped" for k, n in wanted.items()}


def test_the_exported_agent_has_the_tool_and_the_guard(tmp_path, monkeypatch):
    """a process of its own calls the tool, stops what is dangerous, answers right"""
    monkeypatch.setenv("WORKBOOK_DATA", str(tmp_path / "data"))
    assert "has not passed" in ask_outside(tmp_path, MADE.story(Random(7), True))
    keep("my_agent", answer())
    home = tmp_path / "mine"
    assert "Yours: my_tool, my_guard." in export(home)
    story = MADE.story(Random(7), True)
    told = ask_outside(home, story)
    assert f"exit code 0: {story.gold.values[0]} dollars" in told
    assert "stopped by a guard: no tool has told you this rate" in told
    assert "Convert(amount: number, rate: number)" in run_agent(home, "--tools")
