"""The planner: fixed rules, the same question gives the same steps."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.environments.planner import plan, planner
from workbook.runtime.calls import ToolCall
from workbook.runtime.tools import ToolRegistry

PLANS = {
    "What is 3 * (4 + 5)?": ["calculate 3 * (4 + 5)"],
    "What is the atomic number of radium?": [
        "look_up What is the atomic number of radium?"
    ],
    "Which is higher, Mount Fuji or Mount Etna?": [
        "look_up Mount Fuji",
        "look_up Mount Etna",
        "compare Which is higher, Mount Fuji or Mount Etna? 1 2",
    ],
    "Is Kyoto older than Nara?": [
        *("look_up Kyoto", "look_up Nara", "compare Is Kyoto older than Nara? 1 2"),
    ],
    "What is the capital of the country where the author of Faust was born?": [
        "look_up the author of Faust",
        "look_up the country where [1] was born 1",
        "look_up the capital of [2] 2",
    ],
    "How high is the glass pyramid of the museum in which the Mona Lisa hangs?": [
        "look_up the museum in which the Mona Lisa hangs",
        "look_up the glass pyramid of [1] 1",
        "look_up How high is [2]? 2",
    ],
    "How old was the author of Pride and Prejudice when she died?": [
        "look_up the author of Pride and Prejudice",
        "look_up How old was [1] when she died? 1",
    ],
}


@pytest.mark.parametrize("question", PLANS)
def test_each_kind_of_question_is_split(question):
    """arithmetic, comparisons, facts, and descriptions from the inside, as [1], [2]"""
    found = [" ".join([do, what, *map(str, n)]) for _, do, what, n in plan(question)]
    assert found == PLANS[question]


@pytest.mark.parametrize(
    "question",
    [
        *("Hello!", "Why is the sky blue?", "How do I get rich?", "", "???"),
        "Write a poem about the capital of France.",
        "When was the man who invented dynamite born?",
        "Who wrote Faust? When was he born?",
        "もののけ姫の監督は誰ですか",
    ],
)
def test_no_rule_no_plan(question):
    """a question that no rule fits has no plan, and the tool says so"""
    assert plan(question) == []
    assert planner().run(question)["note"].startswith("No rule fits")


@given(st.text(max_size=200) | st.text("1+ (,.?aTthe of'wn ", max_size=200))
@settings(max_examples=100, deadline=None)
def test_steps_are_numbered_and_need_earlier_ones(question):
    """steps are numbered 1, 2, 3 … and need earlier steps only"""
    found = plan(question)
    assert [step.number for step in found] == list(range(1, len(found) + 1))
    assert all(0 < need < step.number for step in found for need in step.needs)


@pytest.mark.parametrize(
    "question",
    [
        *("1 " * 3000 + "x", "(" * 5000, "which " * 900, "who " + "A-" * 1000),
        *("who " + "the man who " * 200, "who the king of " * 100 + "Spain"),
        *("which a, " + "or b" * 400, "who the cat who " + "A of " * 390),
    ],
)
def test_a_hostile_question_takes_no_time(question):
    """a question made to keep a pattern busy is planned within half a second"""
    started = time.thread_time()
    plan(question)
    assert time.thread_time() - started < 0.5


def test_the_plan_is_an_observation():
    """as a tool, the plan is a list of numbered steps"""
    call = ToolCall("Plan", {"question": "What is 1 + 1?"}, "call_1")
    assert ToolRegistry([planner()]).run(call).result == {
        "steps": [{"number": 1, "do": "calculate", "what": "1 + 1", "needs": []}]
    }
