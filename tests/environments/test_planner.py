"""The planner: fixed rules, the same question gives the same steps."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.environments.planner import plan, planner
from workbook.environments.search import bundled_search
from workbook.environments.wiki import wiki_tasks
from workbook.tools.calls import ToolCall
from workbook.tools.registry import ToolRegistry

ASKED = {task.slug: task for task in wiki_tasks() if task.lang == "en"}
NOBEL = ASKED["wq22"].text
PLANS = {
    "What is 3 * (4 + 5)?": ["calculate 3 * (4 + 5)"],
    "What is 5! + 3?": ["calculate 5! + 3"],
    "１２ times ３?": ["calculate 12 times 3"],
    "What is the atomic number of radium?": [
        "look_up What is the atomic number of radium?"
    ],
    "What is the population of the U.S. in 2020?": [
        "look_up What is the population of the U.S. in 2020?"
    ],
    "Which is higher, Mount Fuji or Mount Etna?": [
        "look_up Mount Fuji",
        "look_up Mount Etna",
        "compare Which is higher, Mount Fuji or Mount Etna? 1 2",
    ],
    "Is Kyoto older than Nara?": [
        *("look_up Kyoto", "look_up Nara", "compare Is Kyoto older than Nara? 1 2"),
    ],
    "Compare the Danube and the Rhine.": [
        "look_up the Danube",
        "look_up the Rhine",
        "compare Compare the Danube and the Rhine. 1 2",
    ],
    "Find the height of Mount Fuji, then take half of it.": [
        "look_up Find the height of Mount Fuji",
        "calculate take half of it. 1",
    ],
    "What is half of the height of the Eiffel Tower?": [
        "look_up What is half of the height of the Eiffel Tower?",
        "calculate What is half of the height of the Eiffel Tower? 1",
    ],
    NOBEL: [
        "look_up the man whose will set up the Nobel Prize",
        "look_up the element named after [1] 1",
        "look_up the atomic number of [2] 2",
    ],
    "What is the capital of the country where the author of Faust was born?": [
        "look_up the author of Faust",
        "look_up the country where [1] was born 1",
        "look_up the capital of [2] 2",
    ],
    "Who is Queen Victoria's eldest son's wife?": [
        *("look_up Queen Victoria's eldest son", "look_up [1]'s wife 1"),
    ],
    "Who wrote the book on which the film Blade Runner is based?": [
        "look_up the book on which the film Blade Runner is based",
        "look_up Who wrote [1]? 1",
    ],
    "Who is the head of the company that makes the iPhone?": [
        *("look_up the company that makes the iPhone", "look_up the head of [1] 1"),
    ],
    "Who wrote Faust? Did the father of Ada Lovelace read his book?": [
        *("look_up Who wrote Faust?", "look_up the father of Ada Lovelace 1"),
        "look_up Did [2] read his book? 2",
    ],
    "When did the inventor of the steam engine die?": [
        *("look_up the inventor of the steam engine", "look_up When did [1] die? 1"),
    ],
    "Who wrote Faust? When was he born? Where did the father of Ada Lovelace die?": [
        *("look_up Who wrote Faust?", "look_up When was he born? 1"),
        *("look_up the father of Ada Lovelace", "look_up Where did [3] die? 3"),
    ],
}


@pytest.mark.parametrize("question", PLANS)
def test_each_kind_of_question_is_split(question):
    """arithmetic, comparisons, facts, and descriptions from the inside, as [1], [2]"""
    found = [" ".join([do, what, *map(str, n)]) for _, do, what, n in plan(question)]
    assert found == PLANS[question]


@pytest.mark.parametrize("task", ASKED.values(), ids=ASKED.keys())
def test_the_first_look_up_finds_the_first_article(task):
    """where a bundled question has a plan, its first step finds the first article"""
    found = plan(task.text)
    if task.slug == "wq24":  # where its clause ends can't be told by a rule
        assert found == []
        return
    assert len(found) >= task.hops
    documents = bundled_search().search(found[0].what, 3)
    assert task.titles[0] in [document.title for document in documents]


@pytest.mark.parametrize(
    "question",
    [
        *("Hello!", "Why is the sky blue?", "How do I get rich?", "", "???", " \n"),
        "Write a poem about the capital of France.",
        "When was the man who knows which city burned born?",
        "Where was the man who invented dynamite born?",
        "1 + 1? Sing a song.",
        "Who is " + "the friend of " * 9 + "Ann?",
        *("もののけ姫の監督は誰ですか", "法国最高的山有多高？", "What is 富士山?"),
    ],
)
def test_no_rule_no_plan(question):
    """a question that no rule fits, or that is not English, has no plan"""
    assert plan(question) == []
    assert planner().run(question)["note"].startswith("No rule fits")


@given(st.text(max_size=200) | st.text("1+ (,.?aTthe of'then ", max_size=200))
@settings(max_examples=100, deadline=None)
def test_steps_are_numbered_and_need_earlier_ones(question):
    """steps are numbered 1, 2, 3 … and need earlier steps only"""
    found = plan(question)
    assert [step.number for step in found] == list(range(1, len(found) + 1))
    assert all(0 < need < step.number for step in found for need in step.needs)


@pytest.mark.parametrize(
    "question",
    [
        *("1 " * 3000 + "x", "(" * 5000, "which " * 900, ", and" * 900, "A-" * 1000),
        *("the a of " * 300, "A " * 1000, "the man who " * 200, "Ann's " * 400 + "x"),
        *("the king of " * 160 + "Spain", "the a b c " * 200, "[1] " * 500),
        *("the cat who " + "A of " * 400, "the cat who " + "a " * 990, "the " * 600),
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
