"""The capstone: is the agent honest, is its guard needed, and does it do no harm?

What is a learner's is called within a time, and with an eye on what it does again and
again inside of one call: a loop that no trace shows is one that no limit holds.
"""

import random
import re
from collections import Counter
from dataclasses import replace
from decimal import Decimal

import pytest

from tests.counting import TimeUp, count_calls
from workbook.evaluation.grader import grade
from workbook.evaluation.tasks import tasks
from workbook.playground.capstone import Capstone, play_capstone
from workbook.playground.scenarios import ScenarioError, as_scenario, outcome
from workbook.tools.calls import Effect, Observation, ToolError
from workbook.tools.threads import TimedOut, call_with_timeout
from workbook.tools.tool import Tool
from workbook.traces import TraceError
from workbook.traces.replay import replay

FIVE = ["tunnel_length", "longer_main_span", "skytree_eiffel", "formula"]
FIVE = [task for task in tasks() if task.slug in [*FIVE, "order_on_a_page"]]
LIMIT_S = 0.5  # of computing time, for one call of a learner's tool or guard
AGAIN = 3  # as often the same, inside of one call, is a loop
NUMBER = re.compile(r"(?<![\w.:/-])\d{1,15}(?:,\d{3})*(?:\.\d+)?(?![\w:/-]|\.\d)")
HUNG = []  # what did not return: it is not waited for in each test


class Played:
    """One run of a capstone, and what its tool and its guard did in it."""

    def __init__(self, made, guard=True, mode=None):
        self.calls, self.repeated = Counter(), []
        assert not HUNG, HUNG[0]
        assert isinstance(made, Capstone), "it owes a Capstone"
        assert isinstance(made.tool, Tool), "its tool is no Tool"
        assert callable(made.guard), "its guard is no function"
        self.run = made.tool.run
        used = self.watching("tool", self.run)

        def counted(**arguments):
            self.calls[repr(arguments)] += 1
            return used(**arguments)

        own = {"tool": replace(made.tool, run=counted)}
        watched, self.stopped = self.watching("guard", made.guard), []
        self.gave_way = False

        def noted(call, observed):
            why = watched(call, observed)
            if why:
                self.stopped.append(call.arguments)
                said = ToolError("denied", f"{call.name} was not called: {why}.")
                no = Observation.failed(call.call_id, said, call.name)
                self.gave_way |= not watched(call, (*observed, *[no] * AGAIN))
            return why

        own["guard"] = noted
        try:
            self.trace, self.machine = play_capstone(replace(made, **own), guard, mode)
        except ScenarioError as error:
            pytest.fail(str(error), pytrace=False)
        assert not HUNG, HUNG[0]
        self.end = outcome(self.trace)
        message = (self.trace.end or {}).get("message")
        self.told = f"{self.end['state']}: {self.end['answer'] or message}"
        decided = self.trace.of("decision")
        self.refused = [e["why"] for e in decided if e["who"] == "guard"]
        seen = self.trace.of("observation")
        self.own = [e for e in seen if e["tool"] == made.tool.name]
        fine = {e["call_id"] for e in self.own if e["ok"]}
        calls = self.trace.of("tool_call")
        self.worked = [e["arguments"] for e in calls if e["call_id"] in fine]

    def watching(self, what, function):
        """Return the function, called in time, and looked at while it runs."""

        def call(*args, **kwargs):
            own = {"args": args, "kwargs": kwargs, "limit_s": LIMIT_S}
            own |= {"function": function, "other": self.run}
            try:
                ended, came, made = call_with_timeout(count_calls, own, 4 * LIMIT_S)
            except (TimeUp, TimedOut):
                ended, made = "hung", []
            for name, times, is_tool in made:
                said = f"one call of your {what} calls {name}"
                if what == "guard" and is_tool:
                    self.repeated.append(f"{said}: that is your tool")
                elif times >= AGAIN:
                    self.repeated.append(f"{said} {times} times alike")
            if ended == "hung":
                HUNG.append(f"one call of your {what} did not return")
                raise TimeoutError(HUNG[0])
            if ended == "raised":
                raise came
            return came

        return call


def changed(data, change):
    """Return the same lists and tables, with each text and number in them changed."""
    if isinstance(data, dict):
        return {k: v if k == "times" else changed(v, change) for k, v in data.items()}
    if isinstance(data, list | tuple):
        return [changed(each, change) for each in data]
    if isinstance(data, str):
        return NUMBER.sub(lambda found: change(found[0]), data)
    is_number = isinstance(data, int | float) and not isinstance(data, bool)
    return type(data)(change(str(data)).replace(",", "")) if is_number else data


def numbers_of(data):
    """Return the numbers in lists, tables and their texts."""
    found = []
    changed(data, lambda number: found.append(number) or number)
    return {Decimal(number.replace(",", "")) for number in found}


def with_other_numbers(scenario, numbers, factors):
    """Return a scenario in which each of these numbers is another one, everywhere."""
    known, others = numbers_of(scenario), {}
    for number in numbers:
        step = Decimal(1).scaleb(number.as_tuple().exponent)
        other = (number * Decimal(random.uniform(*factors))).quantize(step)
        while other in known:
            other += step
        others[number] = other

    def change(number):
        other = others.get(Decimal(number.replace(",", "")))
        return (
            number if other is None else f"{other:,}" if "," in number else f"{other}"
        )

    story = {key: changed(scenario.get(key), change) for key in ("question", "turn")}
    tools = [
        {**tool, "returns": changed(tool["returns"], change)}
        if "returns" in tool
        else tool
        for tool in scenario.get("tool", [])
    ]
    return {**scenario, **story, "tool": tools}


def test_it_can_be_played(my_agent):
    """it returns a `Capstone`; its scenario has all keys, and a `right_if`"""
    made = my_agent()
    played = Played(made)
    wrong = played.machine.table.audit()
    assert wrong == [], f"the table of the machine has faults: {wrong}"
    scenario = as_scenario(made.scenario, "your scenario")
    assert scenario.right_if is not None, "your scenario has no right_if"


@pytest.mark.parametrize("guard", [False, True])
def test_each_run_is_honest(my_agent, guard):
    """with and without its guard it ends once, and each call has one observation"""
    played = Played(my_agent(), guard)
    ends = played.trace.of("run_finished")
    assert ends == [played.trace.end], played.told
    begun = Counter(e["call_id"] for e in played.trace.of("tool_call"))
    seen = Counter(e["call_id"] for e in played.trace.of("observation"))
    del seen[None]  # of turns that could not be read
    assert begun == seen, f"calls {dict(begun)} have the observations {dict(seen)}"
    assert set(begun.values()) <= {1}, f"a call was made twice: {dict(begun)}"


def test_a_run_can_be_played_again(my_agent):
    """a run that is played again is the same: a guard uses only what it is given"""
    played = Played(my_agent())
    said = ""
    try:
        replay(played.trace, played.machine)
    except TraceError as error:
        said = str(error)
    assert said == "", f"played again, the run is another one: {said}"


def test_a_write_is_done_once(my_agent):
    """a tool that is a WRITE has each effect once, and none in plan mode"""
    made = my_agent()
    if made.tool.effect is Effect.WRITE:
        for mode, most in {"build": 1, "plan": 0}.items():
            played = Played(my_agent(), mode=mode)
            done = max(played.calls.values(), default=0)
            assert done <= most, f"one effect came {done} times in {mode} mode"


@pytest.mark.parametrize("guard", [False, True])
def test_no_loop_is_hidden(my_agent, guard):
    """no call of tool or guard does one thing three times; a guard calls no tool"""
    repeated = Played(my_agent(), guard).repeated
    assert repeated == [], "; ".join(repeated)


def test_the_guard_is_needed(my_agent):
    """without its guard the run ends, not in ERROR, and with a wrong answer"""
    made = my_agent()
    played = Played(made, guard=False)
    right = as_scenario(made.scenario, "your scenario").is_right(played.end)
    assert played.end["state"] != "ERROR", played.told
    assert not right, played.told


def test_the_guard_holds(my_agent):
    """its guard refuses a call, also asked again; the run ends right, its tool works"""
    made = my_agent()
    played = Played(made)
    idle = "your guard refuses nothing (does it remember an earlier run?)"
    assert played.refused, f"{idle}; {played.told}"
    again = f"refused {AGAIN} times, the same call is allowed: no tool has told more"
    assert not played.gave_way, again
    assert as_scenario(made.scenario, "your scenario").is_right(played.end), played.told
    came = played.own[-1]["text"] if played.own else "nobody called it"
    assert played.worked, f"your tool has not worked: {came}"


# A limit refuses what is larger, or what is smaller: one of these ways is enough.
WAYS = [(0.2, 0.7), (0.2, 0.7), (1.4, 3), (1.4, 3)]


def test_the_guard_knows_no_number_by_heart(my_agent):
    """with other numbers in the story the guard still refuses, the tool still works"""
    made = my_agent()
    played, scenario = Played(made), made.scenario
    told = numbers_of([tool.get("returns") for tool in scenario.get("tool", [])])
    refused, allowed = numbers_of(played.stopped), numbers_of(played.worked[-1:]) & told
    for numbers, kept, said in [
        (refused, "refused", "the guard refuses nothing"),
        (allowed, "worked", "the guard refuses your tool's calls"),
    ]:
        others = [with_other_numbers(scenario, numbers, way) for way in WAYS]
        plays = [Played(replace(made, scenario=story)) for story in others if numbers]
        shown = ", ".join(map(str, sorted(numbers)))
        assert not plays or any(getattr(play, kept) for play in plays), (
            f"with other numbers than {shown} in the story {said}"
        )


@pytest.mark.parametrize("task", FIVE, ids=[task.slug for task in FIVE])
def test_other_tasks_are_left_alone(my_agent, task):
    """five of the 29 tasks are solved with tool and guard there, and nothing refused"""
    data = {"title": task.slug, "teaches": "", "question": task.question}
    data |= {"tools": [*task.tools], "turn": [{"text": t} for t in task.expert]}
    played = Played(replace(my_agent(), scenario=data))
    assert played.refused == [], f"your guard said no to {task.slug}: {played.refused}"
    assert grade(played.end["answer"], task.gold), played.told
