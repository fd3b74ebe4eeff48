"""The capstone: a tool, a guard and a story of one's own, put into the machine.

A story is a function: it draws its numbers with dice, and tells with danger what only
the guard stops. What is held against one stands in tests/playground/test_my_agent.py.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from workbook.evaluation.grader import grade
from workbook.evaluation.tasks import Gold
from workbook.fsm.machine import Machine
from workbook.fsm.table import State
from workbook.guardrails.budget import Budget
from workbook.guardrails.machine import guarded
from workbook.guardrails.own import STOPPED, OwnGuard, with_guard
from workbook.models.base import TextModel
from workbook.models.script import Script
from workbook.playground.machines import ByScript
from workbook.playground.scenarios import ScenarioError, outcome
from workbook.tools import Observation, Tool, ToolCall
from workbook.tools.calls import to_json
from workbook.tools.tool import tool
from workbook.traces import Trace, TraceWriter

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
    model: TextModel | None = None,
    **options: Any,
) -> tuple[Trace, Machine]:
    """Play a story, with the guard or without; return the trace and the machine.

    A model answers the question in place of the story's turns. The options are those of
    `guarded`. ScenarioError: the agent cannot be put together.
    """
    if model is None:
        model = Script([says(story)], repeat_last=True)
        model.at_once = True  # it needs no time limit
    tools, person = [*story.tools, made.tool], ByScript(story.person)
    given: Any = {"budget": Budget(STEPS, STEPS), "ask": person.ask}
    with TraceWriter() as told:
        try:
            given |= {"parts": made.parts, "hook": told, **options}
            machine: Machine = guarded(model, tools, **given)
        except Exception as error:
            text = f"your agent cannot be put together: {error}"
            raise ScenarioError(text) from error
        if guard:
            machine = with_guard(machine, made.guard)
        machine.run(story.question)
    return told.trace(), machine


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
