"""The capstone: is the agent honest, is its guard needed, and does it do no harm?

Its stories are drawn anew in each check. A call of a learner's function has a limit of
computing time, and the calls that it repeats inside are counted: a loop that no trace
shows is one that no limit holds. One that only waits is ended by the check's process.
"""

import inspect
import random
import re
import tempfile
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tests.counting import TimeUp, count_calls
from workbook.lessons.evaluation import Gold, grade, tasks
from workbook.measures.your_agent import Capstone, Story, play_story
from workbook.runtime.calls import (
    Effect,
    Observation,
    ToolCall,
    ToolError,
    ToolFailure,
    result_text,
)
from workbook.runtime.ledger import Ledger
from workbook.runtime.replay import replay
from workbook.runtime.tools import Tool, ToolRegistry
from workbook.runtime.trace import TraceError
from workbook.stage.scenarios import ScenarioError, outcome
from workbook.worlds.catalogue import builtin_tools

FIVE = ["tunnel_length", "longer_main_span", "skytree_eiffel", "formula"]
FIVE = [task for task in tasks() if task.slug in [*FIVE, "order_on_a_page"]]
DICE = [random.randrange(10**6) for _ in range(20)]  # anew in each check
OTHER, RESULTS = 15, 10  # of twenty stories: different calls, different results
LIMIT_S = 0.5  # of computing time, for one call of a learner's tool or guard
FACTORS = 0.8, 1.25  # of the numbers of another story
AGAIN = 3  # as often the same, inside of one call, is a loop
HUNG = []  # what did not return: it is not waited for in each test


class Played:
    """One run of a story, and what its tool and its guard did in it."""

    def __init__(self, made, story, guard=True, dice=None, **options):
        self.story, self.dice = story, dice
        self.calls, self.repeated = Counter(), []
        self.stopped, self.allowed = [], []  # calls, each with what was observed
        self.gave_way = False
        assert not HUNG, HUNG[0]
        self.run = made.tool.run
        used = self.watching("tool", self.run)
        watched = self.watching("guard", made.guard)

        def counted(**arguments):
            self.calls[repr(arguments)] += 1
            return used(**arguments)

        def noted(call, observed):
            why = watched(call, observed)
            if why:
                self.stopped.append((call, observed))
                said = ToolError("denied", f"{call.name} was stopped: {why}.")
                no = Observation.failed(call.call_id, said, call.name)
                self.gave_way |= not watched(call, (*observed, *[no] * AGAIN))
            elif call.name == made.tool.name:
                self.allowed.append((call, observed))
            return why

        own = replace(made.tool, run=counted, timeout_s=None)
        own = replace(made, tool=own, guard=noted)
        try:
            self.trace, self.machine = play_story(own, story, guard, **options)
        except ScenarioError as error:
            pytest.fail(str(error), pytrace=False)
        assert not HUNG, HUNG[0]
        self.end, calls = outcome(self.trace), self.trace.of("tool_call")
        self.right = story.is_right(self.end)
        own = [e for e in self.trace.of("observation") if e["tool"] == made.tool.name]
        self.results = [e["result"] for e in own if e["ok"]]
        fine = {e["call_id"] for e in own if e["ok"]}
        self.worked = [e["arguments"] for e in calls if e["call_id"] in fine]
        self.came = own[-1]["text"] if own else "nobody called it"

    def __str__(self):
        message = (self.trace.end or {}).get("message")
        drawn = f"with Random({self.dice}) " if self.dice is not None else ""
        said = f"{self.end['state']}: {self.end['answer'] or message}"
        return f"{drawn}{self.story.question!r} ends in {said}"

    def watching(self, what, function):
        """Return the function, called in time, and looked at while it runs."""

        def call(*args, **kwargs):
            found = "hung", None, []
            with suppress(TimeUp):
                found = count_calls(function, self.run, LIMIT_S, args, kwargs)
            ended, came, made = found
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


def state_of(story):
    """Return the data around a story function: what it could pass on in secret."""
    story = inspect.unwrap(story)
    around = {**story.__globals__, **inspect.getclosurevars(story).nonlocals}
    for name, value in [*around.items()]:
        if inspect.isfunction(value):
            around |= {f"{name}.{key}": kept for key, kept in vars(value).items()}
    plain = int, float, str, list, dict, set, tuple
    return {
        k: repr(v) for k, v in around.items() if isinstance(v, plain) and k[0] != "_"
    }


@cache
def drawn(my_agent):
    """Return the agent, and a story with danger and one without for each of the dice.

    All are drawn before the first is played: a guard cannot know which it is in.
    """
    made = my_agent()
    assert isinstance(made, Capstone), "it owes a Capstone"
    assert isinstance(made.tool, Tool), "its tool is no Tool"
    assert callable(made.guard), "its guard is no function"
    assert callable(made.story), "its story is no function"
    before = state_of(made.story)
    stories = {
        danger: [made.story(random.Random(each), danger) for each in DICE]
        for danger in (True, False)
    }
    after = state_of(made.story)
    stories["changed"] = sorted(k for k in after if after[k] != before.get(k))
    for story in stories[True] + stories[False]:
        assert isinstance(story, Story), f"your story returned {story!r:.80}, no Story"
        assert isinstance(story.gold, Gold), "the gold of your story is no Gold"
    return made, stories


@cache
def all_played(my_agent, danger, guard=True):
    """Return the runs of all stories, with danger or without, guarded or not."""
    made, stories = drawn(my_agent)
    pairs = zip(stories[danger], DICE, strict=True)
    return [Played(made, story, guard, dice=dice) for story, dice in pairs]


def test_its_stories_differ(my_agent):
    """it returns a `Capstone`; 15 of 20 stories differ; none changes outer variables"""
    _, stories = drawn(my_agent)
    changed = ", ".join(stories["changed"])
    assert changed == "", f"your story changes {changed}: tool and guard could read it"
    for danger, words in (False, "your tool works"), (True, "your guard stops a call"):
        runs = all_played(my_agent, danger)
        calls = [[c for c, _ in p.stopped] if danger else p.worked for p in runs]
        different = len({repr(each) for each in calls})
        found = f"{words} in {different} different ways in 20 stories"
        assert different >= OTHER or not all(calls), found


def test_what_is_harmless_passes(my_agent):
    """without danger each story ends right; the tool works, and nothing is stopped"""
    for played in all_played(my_agent, danger=False):
        assert not played.stopped, f"your guard stops {played.stopped[0][0]}"
        assert played.worked, f"your tool has not worked: {played.came}; {played}"
        assert played.right, str(played)


def test_the_guard_is_needed(my_agent):
    """with danger and without the guard every story ends wrong, but not in ERROR"""
    for played in all_played(my_agent, danger=True, guard=False):
        assert played.end["state"] != "ERROR", str(played)
        assert not played.right, f"{played}, and that is right"


def test_the_guard_holds(my_agent):
    """with danger a call is stopped, also if it comes again; each story ends right"""
    for played in all_played(my_agent, danger=True):
        assert played.stopped, f"your guard stops nothing: {played}"
        again = f"stopped {AGAIN} times, the same call is allowed: nothing new is known"
        assert not played.gave_way, again
        assert played.right, str(played)


def test_the_answer_is_the_tools(my_agent):
    """the answer needs the tool; it takes any numbers; 10 of 20 results differ"""
    made, stories = drawn(my_agent)
    runs = all_played(my_agent, danger=False)
    results = {result_text(result) for played in runs for result in played.results}
    assert len(results) >= RESULTS, f"in 20 stories your tool returns {sorted(results)}"
    tools, works = ToolRegistry([made.tool]), []
    for played in runs:
        last = [str(value) for value in played.worked[-1].values()]
        words = f"your tool repeats {last}"
        assert result_text(played.results[-1]) not in last, words
        for given in played.worked:
            calls = [ToolCall(made.tool.name, other(given, f), "c") for f in FACTORS]
            works += [[tools.run(c).ok for c in calls if c.arguments != given]]
    assert most(works), "with numbers that no story has drawn your tool does not work"

    def broken(**arguments):
        raise ToolFailure("broken", "it returns nothing")

    for story in stories[False]:
        without = replace(made, tool=replace(made.tool, run=broken))
        played = Played(without, story)
        assert not played.right, f"your tool is broken, and yet {played}, and is right"


def other(arguments, factor):
    """Return arguments with each number changed."""
    changed = {}
    for name, value in arguments.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            digits = len(str(value).partition(".")[2]) if value != int(value) else 0
            near = round(value * factor, digits)
            near += 10**-digits * (near == value)
            value = int(near) if isinstance(value, int) else float(near)
        changed[name] = value
    return changed


def most(calls):
    """Say whether half of the calls hold, of those with smaller or larger numbers."""
    ways = list(zip(*[each for each in calls if each], strict=True))
    return not ways or max(sum(way) / len(way) for way in ways) >= 0.5


def test_numbers_of_no_story(my_agent):
    """the guard also stops numbers that no story has, and values not looked up"""
    made, _ = drawn(my_agent)
    stops = []
    for played in all_played(my_agent, danger=True):
        for call, seen in played.stopped:
            new = [replace(call, arguments=other(call.arguments, f)) for f in FACTORS]
            new = [each for each in new if each.arguments != call.arguments]
            stops += [[bool(made.guard(each, seen)) for each in new]]
    assert most(stops), "with numbers that no story has drawn your guard stops nothing"
    pairs = [p for run in all_played(my_agent, danger=False) for p in run.allowed]
    looked_up = [pair for pair in pairs if any(o.tool != pair[0].name for o in pair[1])]
    if not looked_up:
        return
    stopped = [made.guard(call, seen) for call, _ in looked_up for _, seen in looked_up]
    words = "your guard allows a call also after the look-up of any other story"
    assert any(stopped), words
    compares = [differs(made.guard, *pair) for pair in looked_up]
    call, seen = looked_up[compares.index(False)] if False in compares else pairs[0]
    told = "; ".join(each.text() for each in seen)
    words = f"after {told!r:.100} your guard allows {call.arguments}"
    words += ", and the same call with any one value changed a little"
    assert sum(compares) >= len(compares) / 2, words


def differs(guard, call, seen):
    """Say whether a small change of one argument, or of what was told, is noticed."""
    told = " ".join(each.text() for each in seen)
    numbers = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", told)]

    def stops(name, value):
        try:
            return bool(
                guard(replace(call, arguments=call.arguments | {name: value}), seen)
            )
        except Exception:  # no tool takes such a value
            return True

    for name, value in call.arguments.items():
        near = [(value, not value)] if isinstance(value, bool) else []
        if isinstance(value, str):
            near = [(value, value[:-1] + chr(ord(value[-1:] or "a") + 1))]
            near += [(value, word) for word in told.split()]
        elif isinstance(value, int | float) and not near:
            digits = max(len(str(n).partition(".")[2]) for n in (value, *numbers))
            unit = 1 if isinstance(value, int) else 10**-digits
            near = [
                (type(value)(n), type(value)(round(n + step, digits)))
                for n in (value, *numbers)
                for step in (-unit, unit)
            ]
        if any(stops(name, one) != stops(name, two) for one, two in near):
            return True
    return False


def test_no_loop_is_hidden(my_agent):
    """inside a call no function is called three times alike; a guard calls no tool"""
    runs = all_played(my_agent, danger=True) + all_played(my_agent, danger=False)
    repeated = [said for played in runs for said in played.repeated]
    assert repeated == [], "; ".join(sorted({*repeated}))


@pytest.mark.parametrize("danger", [False, True])
def test_each_run_is_honest(my_agent, danger):
    """each call is observed once; a WRITE is not made in plan mode; a replay agrees"""
    made, stories = drawn(my_agent)
    story, writes = stories[danger][0], made.tool.effect is Effect.WRITE
    with tempfile.TemporaryDirectory() as home:
        once = Ledger(Path(home, "ledger.db")) if writes else None
        played = Played(made, story, ledger=once)
    wrong = played.machine.table.audit()
    assert wrong == [], f"the table of the machine has faults: {wrong}"
    begun = Counter(e["call_id"] for e in played.trace.of("tool_call"))
    seen = Counter(e["call_id"] for e in played.trace.of("observation"))
    del seen[None]  # of turns that could not be read
    waits = played.end["state"] == "SUSPENDED"
    assert waits or len(played.trace.of("run_finished")) == 1, str(played)
    assert waits or begun == seen, f"calls {dict(begun)} have observations {dict(seen)}"
    assert set(begun.values()) <= {1}, f"a call was made twice: {dict(begun)}"
    if writes:
        times = max(played.calls.values(), default=0)
        assert times <= 1, f"one effect came {times} times"
        planned = Played(made, story, mode="plan")
        assert not planned.calls, "your tool had an effect in plan mode"
    said = ""
    try:
        replay(played.trace, played.machine)
    except TraceError as error:
        said = str(error)
    assert waits or said == "", f"played again, the run is another one: {said}"


@pytest.mark.parametrize("task", FIVE, ids=[task.slug for task in FIVE])
def test_other_tasks_are_left_alone(my_agent, task):
    """five of lesson 12's tasks are solved with tool and guard, and nothing stopped"""
    made, _ = drawn(my_agent)
    tools = builtin_tools(task.tools)
    story = Story(task.question, task.expert, task.gold, tools=tools)
    played = Played(made, story)
    assert not played.stopped, f"your guard stopped {played.stopped[0][0]}"
    assert grade(played.end["answer"], task.gold), str(played)
