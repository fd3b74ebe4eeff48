"""Capstones that are good, that are not, and that break: the check says which."""

import gc
import threading
import time
from dataclasses import replace
from random import Random

import pytest

from tests.counting import count_calls
from tests.learner import report_on
from tests.measures.honest_capstones import HONEST
from workbook.checks.display import as_message
from workbook.measures.your_agent import my_agent as good
from workbook.measures.your_agent import play_story
from workbook.runtime.guards import all_guards, own_guard
from workbook.runtime.machine import Machine
from workbook.runtime.model import ToolRequest
from workbook.runtime.replay import replay, resume
from workbook.runtime.script import Script
from workbook.stage.scenarios import ScenarioError

DANGER = good().story(Random(1), True)  # euros at a rate that the model makes up
SAFE = good().story(Random(1), False)


def message_of(module, name, place):
    """Return what the check says of a function in a list of a module."""
    text = f"from {module} import {name}\nmy_agent = {name}[{place}]\n"
    return str(as_message(report_on("my_agent", text)))


@pytest.mark.parametrize("make", HONEST, ids=lambda make: make.__name__)
def test_honest_agents_of_other_kinds_pass(make):
    """text, numbers, a WRITE, a refusal, Japanese: whatever the story is about"""
    place = HONEST.index(make)
    message = message_of("tests.measures.honest_capstones", "HONEST", place)
    assert message == "my_agent · passed · 9 of 9"


def with_tool(run):
    return lambda: replace(good(), tool=replace(good().tool, run=run))


def with_own_guard(guard):
    return lambda: replace(good(), guard=guard)


def closed(**arguments):
    raise OSError("the bank is closed")


def endless(**arguments):
    while True: pass  # fmt: skip # noqa: E701


BROKEN = [
    (with_tool(closed), "the bank is closed"),
    (with_tool(lambda **given: "270"), "not a dict"),
    (with_own_guard(lambda call, observed: ""), "it owes a reason"),
    (with_tool(endless), "one call of your tool did not return"),
    (
        with_own_guard(lambda *given: threading.Event().wait()),
        "one call of your guard did not return",
    ),
    (with_own_guard(lambda call, observed: call.nothing), "no attribute 'nothing'"),
    (lambda: replace(good(), story=lambda dice, danger: "once"), "no Story"),
    (lambda: replace(good().tool, parameters=["n"]), "ContractError"),
]
MAKES = [make for make, _ in BROKEN]


@pytest.mark.parametrize("place", range(len(BROKEN)), ids=[word for _, word in BROKEN])
def test_one_that_breaks_is_reported_in_words(place):
    """whatever is wrong with it, the check says what, in time, with no traceback"""
    message = message_of("tests.measures.test_capstone", "MAKES", place)
    assert BROKEN[place][1] in message
    assert "Traceback" not in message


def test_the_collector_of_a_large_heap_is_not_what_a_tool_computes():
    """garbage collection in a long session does not count as a call that hangs"""

    def collect(phase, info):
        ends = time.thread_time() + 0.6
        while phase == "start" and time.thread_time() < ends:
            pass

    gc.callbacks.append(collect)
    try:
        made = count_calls(lambda: len([[] for _ in range(2_000)]), len, 0.5, (), {})
    finally:
        gc.callbacks.remove(collect)
    assert made[:2] == ("returned", 2_000)


def test_a_guard_changes_nothing():
    """what a guard does to a call, or to what was observed, the run does not see"""

    def meddles(call, observed):
        call.arguments.clear()
        for seen in observed:
            (seen.result or {}).clear()

    trace, _ = play_story(replace(good(), guard=meddles), SAFE)
    assert SAFE.is_right(trace.end)


def test_a_refusal_is_in_the_trace_and_is_replayed():
    """a decision of one's own guard has its reason, and a replay decides it again"""
    trace, machine = play_story(good(), DANGER)
    (decided,) = trace.of("decision")
    assert (decided["who"], decided["tool"]) == ("guard", "Convert")
    assert decided["why"] in trace.of("observation")[0]["text"]
    assert DANGER.is_right({"state": "DONE", "answer": replay(trace, machine).answer})


def test_of_several_calls_of_a_turn_each_is_asked_about():
    """a call that is refused takes no other with it, on the core's machine too"""
    made = good()
    calls = [ToolRequest("Convert", {"amount": 1, "rate": r}, f"{r}") for r in (1, 2)]
    turn = [calls[0], ToolRequest("Rates", {"input": "today"}, "b"), calls[1]]
    tools, script = [*SAFE.tools, made.tool], Script([turn, "Final Answer: no"])
    machine = Machine(script, tools, [own_guard(made.guard)], chat=True)
    trace = machine.run("How many dollars?").trace
    ok = [event["ok"] for event in trace.of("observation")]
    assert ok == [False, True, False]


def test_a_run_goes_on_after_a_refusal(tmp_path):
    """a run that dies, wherever, goes on with its guard and comes to the same end"""
    made, wanted = good(), play_story(good(), DANGER)[0].end["answer"]
    turns = [DANGER.turns[0], *DANGER.if_stopped[:-1], f"Final Answer: {wanted}"]

    def machine():
        guards = [*all_guards(), own_guard(made.guard)]
        return Machine(Script(turns), [*DANGER.tools, made.tool], guards)

    machine().run(DANGER.question, tmp_path / "run.jsonl")
    lines = (tmp_path / "run.jsonl").read_bytes().splitlines(keepends=True)
    for died in range(1, len(lines)):
        path = tmp_path / f"{died}.jsonl"
        path.write_bytes(b"".join(lines[:died]))
        assert resume(path, machine()).answer == wanted, died


def test_a_part_that_breaks_is_named():
    """an agent that cannot be put together says which part is at fault"""
    broken = {"audit": lambda table: 1 / 0}
    with pytest.raises(ScenarioError, match="division by zero"):
        play_story(replace(good(), parts=broken), SAFE)
