"""Lesson 14: capstones that are good, sham or broken, and what is measured."""

import gc
import inspect
import time
from dataclasses import replace
from random import Random

import pytest

from tests.counting import count_calls
from tests.learner import report_on
from tests.measures.honest_capstones import HONEST
from workbook.checks.display import as_message
from workbook.checks.export import export
from workbook.checks.parts import keep
from workbook.lessons.evaluation import paired_difference
from workbook.lessons.react_prompting import drawn_sums
from workbook.measures import your_agent as room
from workbook.measures.your_agent import action, ask_outside, play_story, run_agent
from workbook.measures.your_agent import my_agent as good
from workbook.runtime.script import Script
from workbook.stage.scenarios import ScenarioError

HERE = "tests.measures.test_your_agent"
DANGER = good().story(Random(1), True)  # euros at a rate that the model makes up


def message_of(module, name, place=""):
    """Return what the check says of a function of a module, or of one in a list."""
    text = f"from {module} import {name}\nmy_agent = {name}{place}\n"
    return str(as_message(report_on("my_agent", text)))


@pytest.mark.parametrize("make", HONEST, ids=lambda make: make.__name__)
def test_honest_agents_of_other_kinds_pass(make):
    """text, numbers, a WRITE, a refusal, Japanese: whatever the story is about"""
    place = f"[{HONEST.index(make)}]"
    message = message_of("tests.measures.honest_capstones", "HONEST", place)
    assert message == "my_agent · passed · 9 of 9"


def range_without_a_look_up():
    """A sham: its rates are between 1.05 and 1.15, and nothing tells them."""

    def story(dice, danger):
        drawn = good().story(dice, danger)
        right = drawn.if_stopped[1:]
        turns = drawn.turns if danger else right
        return replace(drawn, turns=turns, if_stopped=right, tools=[])

    def guard(call, observed):
        return None if 1.0 < call.arguments.get("rate", 1.1) < 1.18 else "not this rate"

    return replace(good(), story=story, guard=guard)


def test_what_the_check_cannot_see():
    """without a look-up a range passes: it is a limit, and the lesson says so"""
    assert "9 of 9" in message_of(HERE, "range_without_a_look_up")


def with_tool(run):
    return lambda: replace(good(), tool=replace(good().tool, run=run))


def with_own_guard(guard):
    return lambda: replace(good(), guard=guard)


def closed(**arguments):
    raise OSError("the bank is closed")


def endless(*given, **arguments):
    while True: pass  # fmt: skip # noqa: E701


BROKEN = [
    (with_tool(closed), "the bank is closed"),
    (with_tool(lambda **given: "270"), "not a dict"),
    (with_own_guard(lambda call, observed: ""), "return a reason"),
    (with_tool(endless), "one call of your tool did not return"),
    (with_own_guard(endless), "one call of your guard did not return"),
    (with_own_guard(lambda call, observed: call.nothing), "no attribute 'nothing'"),
    (lambda: replace(good(), story=lambda dice, danger: "once"), "no Story"),
    (lambda: replace(good().tool, parameters=["n"]), "ContractError"),
]
MAKES = [make for make, _ in BROKEN]


@pytest.mark.parametrize("place", range(len(BROKEN)), ids=[word for _, word in BROKEN])
def test_one_that_breaks_is_reported_in_words(place):
    """whatever is wrong with it, the check says what, in time, with no traceback"""
    message = message_of(HERE, "MAKES", f"[{place}]")
    assert BROKEN[place][1] in message
    assert "Traceback" not in message


def test_the_collector_of_a_large_heap_is_not_what_a_tool_computes():
    """garbage collection in a long session does not count as a call that hangs"""

    def collect(phase, info):
        ends = time.thread_time() + 0.3
        while phase == "start" and time.thread_time() < ends:
            pass

    gc.callbacks.append(collect)
    try:
        made = count_calls(lambda: len([[] for _ in range(2_000)]), len, 0.2, (), {})
    finally:
        gc.callbacks.remove(collect)
    assert made[:2] == ("returned", 2_000)


@pytest.mark.parametrize("audited", [False, True])
def test_the_machine_has_the_guards_of_the_lessons(audited):
    """budget, stuck detector, policy and taint; the audit where a story asks for it"""
    story = replace(DANGER, audited=audited, turns=["Final Answer: 12 [w001]."] * 3)
    trace, machine = play_story(good(), story)
    names = {guard.name for guard in machine.guards}
    assert names >= {"taint", "stuck", "limits", "permission", "guard"}
    assert ("grounding" in names) == audited
    assert trace.end["state"] == ("REFUSED" if audited else "DONE")


def test_a_part_that_breaks_is_named():
    """an agent that cannot be put together says which part is at fault"""
    broken = {"audit": lambda table: 1 / 0}
    with pytest.raises(ScenarioError, match="division by zero"):
        play_story(replace(good(), parts=broken), DANGER)


def test_sums_are_asked_with_examples_and_with_a_guard():
    """each sum gets the examples, what was calculated is kept, a guard may stop it"""
    sums, prompts = drawn_sums(2, seed=15), []
    right = [f"Final Answer: {each.answers[0]}" for each in sums]
    call = action("Calculator", expression="1 + 1")
    turns = iter([call, right[0], "Final Answer: 7"])  # of both runs

    def respond(prompt):
        prompts.append(prompt)
        return next(turns)

    model = Script([respond], repeat_last=True)
    rows = room.on_sums(model, sums, guard=lambda call, observed: "not now")
    assert [row["right"] for row in rows] == [True, False]
    assert [row["calculated"] for row in rows] == ["1 + 1", ""]
    assert "Action Input: 12 * 14" in prompts[0]
    assert "not now" in prompts[1]


def test_pairs_in_words():
    """both shares, p, and how many tasks it takes; none where nothing differs"""
    said = str(
        room.verdict(paired_difference([(False, True)] * 5 + [(True, True)] * 5))
    )
    assert "before 5 of 10 50 % (24 % to 76 %)\nafter 10 of 10" in said
    assert "won 5, lost 0: p = 0.062, which luck alone can do" in said
    assert "tasks" not in str(room.verdict(paired_difference([(True, True)])))


def test_a_model_is_asked_the_questions_of_stories():
    """a model that answers at once is graded by the gold, and nothing is stopped"""
    hasty = action("Convert", amount=1, rate=9.9), "Final Answer: 9.9"
    rows = [*room.on_model(Script(hasty, loop=True), good(), 2)]
    assert [row["calls stopped"] for row in rows] == [0, 2]
    assert {row["right"] for row in rows} == {"0 of 2"}


IMPORTS = """
import re
from collections.abc import Sequence
from random import Random
from workbook.lessons.evaluation import Gold
from workbook.measures.your_agent import Capstone, Story, action, tells
from workbook.runtime.calls import Observation, ToolCall
from workbook.runtime.tools import Tool, tool
"""


def test_the_exported_agent_has_the_tool_and_the_guard(tmp_path, monkeypatch):
    """a process of its own calls the tool, stops what is dangerous, answers right"""
    monkeypatch.setenv("WORKBOOK_DATA", str(tmp_path / "data"))
    story, home = good().story(Random(7), True), tmp_path / "mine"
    needs_more = replace(good().tool, name="Other")  # it is left out
    story = replace(story, tools=[*story.tools, needs_more])
    assert "has not passed" in ask_outside(tmp_path, story)
    functions = room.my_tool, room.my_guard, room.my_story, good
    keep("my_agent", "\n".join([IMPORTS, *map(inspect.getsource, functions)]))
    assert "Yours: my_tool, my_guard." in export(home)
    came = ask_outside(home, story)
    assert f"exit code 0: {story.gold.values[0]} dollars" in came
    assert "stopped by a guard: no tool has returned this rate" in came
    tools = run_agent(home, "--tools")
    assert "Convert(amount: number, rate: number)" in tools
    assert "Rates" in tools
    assert "Other" not in tools
