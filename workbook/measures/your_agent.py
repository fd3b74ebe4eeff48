"""The capstone: a tool, a guard and a story of one's own, put into the machine.

A story is a function: it draws its numbers with dice, and tells with danger what only
the guard stops. What is held against one stands in tests/measures/test_my_agent.py.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from workbook.evaluation.grader import grade
from workbook.evaluation.tasks import Gold
from workbook.runtime.budget import Budget
from workbook.runtime.calls import Observation, ToolCall, to_json
from workbook.runtime.guards import STOPPED, OwnGuard, all_guards, own_guard
from workbook.runtime.ledger import Ledger, Once
from workbook.runtime.machine import Machine
from workbook.runtime.model import Model
from workbook.runtime.permission import Mode
from workbook.runtime.script import Script
from workbook.runtime.table import State
from workbook.runtime.tools import Tool, tool
from workbook.runtime.trace import Trace
from workbook.stage.machines import by_script
from workbook.stage.scenarios import ScenarioError, outcome

STEPS = 12  # the most of a run: model calls, and tool calls


@dataclass(frozen=True, slots=True)
class Story:
    """One question, what the scripted model says, and what is right in the end."""

    question: str
    turns: Sequence[str]  # "{told}" in a turn is what the last tool has told
    gold: Gold  # the right answer, as lesson 12's `grade` takes it
    if_stopped: Sequence[str] = ()  # the turns from the first call that is stopped
    tools: Sequence[Tool] = ()  # besides yours
    ends: str = State.DONE  # the right end; the answer counts where it is DONE
    person: Sequence[str] = ()  # of who is asked: approve, later, reject: why

    def is_right(self, end: Mapping[str, Any]) -> bool:
        """Say whether a run that ended so is right."""
        answered = self.ends != State.DONE or grade(end["answer"], self.gold)
        return bool(end["state"] == self.ends and answered)


@dataclass(frozen=True, slots=True)
class Capstone:
    """What a learner adds to the agent."""

    tool: Tool
    guard: OwnGuard
    story: Callable[[Random, bool], Story]  # with these dice, with danger or without
    parts: Mapping[str, Callable[..., Any]] = field(default_factory=dict)


def action(tool: str, **arguments: Any) -> str:
    """Return the turn in which a model calls a tool.

    >>> print(action("Convert", amount=250))
    Action: Convert
    Action Input: {"amount": 250}
    """
    return f"Action: {tool}\nAction Input: {to_json(arguments)}"


def tells(name: str, text: str) -> Tool:
    """Return a tool that tells the same text whatever it is asked."""
    schema = {"properties": {"input": {"type": "string"}}}
    return Tool(name, f"Tells about {name}.", schema, lambda **_: {"result": text})


def play_story(
    made: Capstone,
    story: Story,
    guard: bool = True,
    model: Model | None = None,
    mode: str = Mode.BUILD,
    ledger: Ledger | None = None,
) -> tuple[Trace, Machine]:
    """Play a story, with the guard or without; return the trace and the machine.

    A model answers the question in place of the story's turns. ScenarioError: the agent
    cannot be put together.
    """
    if model is None:
        model = Script([says(story)], repeat_last=True)
        model.at_once = True  # it needs no time limit
    tools, ask = [*story.tools, made.tool], by_script(story.person)
    guards = all_guards(Budget(STEPS, STEPS), ask, mode)
    guards += [own_guard(made.guard)] if guard else []
    try:
        options: Any = {"parts": made.parts, "make": Once(ledger)}
        machine = Machine(model, tools, guards, **options)
    except Exception as error:
        raise ScenarioError(f"your agent cannot be put together: {error}") from error
    return machine.run(story.question).trace, machine


def says(story: Story) -> Callable[[str], str]:
    """Return a model that says the turns of a story; it reads what it was told last."""
    turns, was_stopped = iter(story.turns), False

    def say(prompt: str) -> str:
        nonlocal turns, was_stopped
        told = prompt.rpartition("\nObservation: ")[2].strip()
        if STOPPED in told and not was_stopped:
            turns, was_stopped = iter(story.if_stopped), True
        for turn in turns:
            return turn.replace("{told}", told)
        raise ValueError(f"the story has no turn left: it was told {told!r:.80}")

    return say


def rehearse(
    made: Capstone, danger: bool, guard: bool, number: int = 20
) -> list[dict[str, Any]]:
    """Play stories of the dice 1, 2, 3 …; return how each ended, and if it is right."""
    ends = []
    for seed in range(1, number + 1):
        story = made.story(Random(seed), danger)
        end = outcome(play_story(made, story, guard)[0])
        ends.append({**end, "right": story.is_right(end)})
    return ends


def my_tool() -> Tool:
    """Return the tool of our capstone."""

    def convert(amount: float, rate: float) -> float:
        """Changes an amount of money at a rate that you give."""
        return round(amount * rate, 2)

    made: Tool = tool(convert, name="Convert")
    return made


def my_guard(call: ToolCall, observed: Sequence[Observation]) -> str | None:
    """Stop a conversion at a rate that no tool has told."""
    told = " ".join(seen.text() for seen in observed if seen.ok)
    known = [float(number) for number in re.findall(r"\d+\.\d+", told)]
    if call.name != "Convert" or call.arguments["rate"] in known:
        return None
    return "no tool has told you this rate, look it up"


def my_story(dice: Random, danger: bool) -> Story:
    """Draw a question about money; with danger the model makes up the rate."""
    euros, rate = dice.randint(20, 900), dice.randint(1050, 1150) / 1000
    made_up, answer = dice.randint(1200, 1400) / 1000, "Final Answer: {told} dollars"
    looks = action("Rates", input="euro"), action("Convert", amount=euros, rate=rate)
    careful = [*looks, answer]
    hasty = [action("Convert", amount=euros, rate=made_up), answer]
    return Story(
        f"How many dollars are {euros} euros?",
        hasty if danger else careful,
        Gold("number", (f"{euros * rate:.2f}",)),
        if_stopped=careful,
        tools=[tells("Rates", f"1 euro is {rate} dollars")],
    )


def my_agent() -> Capstone:
    """Return a tool, a guard and a story: no amount changes at a made-up rate."""
    return Capstone(my_tool(), my_guard, my_story)
