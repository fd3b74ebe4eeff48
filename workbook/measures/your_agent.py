"""Lesson 14: a tool, a guard and a story of one's own, in the machine and outside.

A story is a function: it draws its numbers with dice, and with danger the model does
what only the guard stops. What is held against one is in tests/measures/test_my_agent.
"""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from workbook.lessons.evaluation import Gold, Paired, grade, interval, tasks_needed
from workbook.lessons.grounding import VERIFY, grounding
from workbook.lessons.react_prompting import ArithmeticQuestion
from workbook.lessons.untrusted import taint
from workbook.paths import DATA
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
from workbook.stage.machines import Given, by_script
from workbook.stage.scenarios import ScenarioError, outcome
from workbook.stage.shown import Shown, comparison, ended
from workbook.wait import waiting
from workbook.worlds.calculator import calculator
from workbook.worlds.endpoint import endpoint

STEPS = 12  # the most of a run: model calls, and tool calls
Row = dict[str, Any]

# A story, and the machine that plays it


@dataclass(frozen=True, slots=True)
class Story:
    """One question, what the scripted model writes, and what is right in the end."""

    question: str
    turns: Sequence[str]  # "{told}" in a turn is what the last tool returned
    gold: Gold  # the right answer, as lesson 12's `grade` takes it
    if_stopped: Sequence[str] = ()  # the turns from the first call that is stopped
    tools: Sequence[Tool] = ()  # besides yours
    person: Sequence[str] = ()  # of who is asked: approve, later, reject: why
    audited: bool = False  # lesson 09's audit reads the answer, which has to cite

    def is_right(self, end: Mapping[str, Any]) -> bool:
        """Say whether a run that ended so has answered right."""
        return end["state"] == State.DONE and grade(end["answer"], self.gold)


@dataclass(frozen=True, slots=True)
class Capstone:
    """What a learner adds to the agent."""

    tool: Tool
    guard: OwnGuard
    story: Callable[[Random, bool], Story]  # with these dice, with danger or without
    parts: Given = field(default_factory=dict)


def action(tool: str, **arguments: Any) -> str:
    """Return the turn in which a model calls a tool."""
    return f"Action: {tool}\nAction Input: {to_json(arguments)}"


def tells(name: str, text: str) -> Tool:
    """Return a tool that returns the same text whatever it is asked."""
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
    """Play a story, or ask a model its question; ScenarioError: a part is broken."""
    model = model or Script([_writes(story)], repeat_last=True)
    tools = [*story.tools, made.tool]
    try:
        ask, then = by_script(story.person), VERIFY if story.audited else State.DONE
        guards = grounding() if story.audited else []
        guards += [taint(ask, then=then, screened=True)]
        guards += all_guards(Budget(STEPS, STEPS), ask, mode)
        guards += [own_guard(made.guard)] if guard else []
        machine = Machine(model, tools, guards, parts=made.parts, make=Once(ledger))
    except Exception as error:
        raise ScenarioError(f"your agent cannot be put together: {error}") from error
    return machine.run(story.question).trace, machine


def _writes(story: Story) -> Callable[[str], str]:
    turns, was_stopped = iter(story.turns), False

    def respond(prompt: str) -> str:
        nonlocal turns, was_stopped
        told = prompt.rpartition("\nObservation: ")[2].strip()
        if STOPPED in told and not was_stopped:
            turns, was_stopped = iter(story.if_stopped), True
        for turn in turns:
            return turn.replace("{told}", told)
        raise ValueError(f"the story has no turn left; it last read {told!r:.80}")

    return respond


def played(made: Capstone, story: Story, guard: bool = True) -> Row:
    """Play a story; return its question and how it ended, right or wrong."""
    trace, _ = play_story(made, story, guard)
    right = story.is_right(outcome(trace))
    return {"question": story.question, "ends": ended(trace, right)}


def rehearse(made: Capstone, danger: bool, guard: bool) -> list[Row]:
    """Play the stories of the dice 1 to 20; return how each ended, right or wrong."""
    stories = [made.story(Random(seed), danger) for seed in range(1, 21)]
    return [played(made, story, guard)["ends"] for story in stories]


# Our own: no amount changes at a rate that the model made up


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
    return "no tool has returned this rate: look it up"


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


# Is a change better? Sums, asked of a real model with solved examples

SUMS = tomllib.loads((DATA / "lessons/14/sums.toml").read_text("utf-8"))
EXAMPLES = SUMS["examples"]  # a question, what the calculator gets, the answer


def on_sums(
    model: Model,
    sums: Sequence[ArithmeticQuestion],
    examples: Iterable[Sequence[str]] = EXAMPLES,
    guard: OwnGuard | None = None,
    parts: Given | None = None,
) -> list[Row]:
    """Ask a machine each sum, with examples in its prompt; return a row of each."""
    before = "Answer the question step by step with a calculator.\n\n"
    for *two, answer in examples:
        before += SUMS["shown"].format(*two, answer=answer)
    guards = all_guards(Budget(5, 5), converge=False)
    guards += [own_guard(guard)] if guard else []
    machine = Machine(model, [calculator()], guards, parts=parts, preamble=before)
    rows = []
    with waiting("sums", total=len(sums)) as tick:
        for each in sums:
            trace = _answered(machine.run(each.text).trace)
            calls = [event["arguments"] for event in trace.of("tool_call")]
            wrote = " · ".join(str(call.get("expression", call)) for call in calls)
            answer = outcome(trace)["answer"]
            right = grade(answer, Gold("number", each.answers))
            row = {"sum": each.text, "calculated": wrote, "answer": answer}
            rows.append({**row, "right": right})
            tick()
    return rows


def _answered(trace: Trace) -> Trace:
    if outcome(trace)["state"] == State.ERROR:  # code broke, or a model
        raise ScenarioError(f"a run ended in ERROR, which is no figure: {trace.end}")
    return trace


def verdict(found: Paired) -> Shown:
    """Show what pairs say: both shares, p, and how many tasks it takes to be sure."""
    n, changed, rows = sum(found[:4]), found.won + found.lost, []
    for version, one_sided in ("before", found.lost), ("after", found.won):
        right = found.both + one_sided
        span = interval([True] * right + [False] * (n - right))
        rows.append({"version": version, "right": f"{right} of {n}", "share": span})
    luck = "which luck alone can do" if found.p >= 0.05 else "hardly luck alone"
    note = f"won {found.won}, lost {found.lost}: p = {found.p:.2g}, {luck}."
    if found.difference:
        needed = tasks_needed(found.difference, changed / n)
        note += f" If the true difference is {found.difference:+.0%},"
        note += f" {needed:,} tasks would show it."
    return comparison(rows, note=note)


def on_model(model: Model, made: Capstone, number: int = 5) -> Iterator[Row]:
    """Yield what a model does with stories, without the guard and with it."""
    for guard, name in (False, "without the guard"), (True, "with it"):
        right = stopped = 0
        for seed in range(1, number + 1):
            story = made.story(Random(seed), False)
            trace = _answered(play_story(made, story, guard, model)[0])
            right += story.is_right(outcome(trace))
            stopped += sum(e["who"] == "guard" for e in trace.of("decision"))
        yield {"way": name, "right": f"{right} of {number}", "calls stopped": stopped}


# The exported agent, as a process of its own


def ask_outside(home: Path, story: Story) -> str:
    """Ask an exported agent a story's question, with the script at an endpoint here."""
    package, trace = home / "my_agent", home / "outside.jsonl"
    if not (package / "parts/my_guard.py").exists():
        return "parts/my_guard.py is not there: your my_agent has not passed its check."
    with (package / "tools.py").open("a", encoding="utf-8") as tools:
        tools.write("\nfrom .runtime.tools import Tool\n")
        for number, each in enumerate(story.tools):
            with suppress(Exception):  # it takes other arguments, and is left out
                returns = f"lambda **_: {each.run(input='')!r}"
                about = each.name, each.description, dict(each.parameters)
                tools.write(f"told_{number} = Tool(*{about!r}, {returns})\n")
    config = package / "config.toml"
    in_text = config.read_text("utf-8").replace('calls = "auto"', 'calls = "text"')
    config.write_text(in_text, "utf-8")
    turns = [_writes(story)] * 2 * len([*story.turns, *story.if_stopped])
    with endpoint(*turns) as bodies:
        asked = ["--model", "scripted", "--trace", str(trace), story.question]
        lines = [run_agent(home, *asked, OPENAI_BASE_URL=bodies.url)]
    events = Trace.read(trace).of("tool_call", "observation") if trace.exists() else []
    for event in events:
        what = event.get("text", event.get("arguments"))
        lines.append(f"{event['kind']:11} {event['tool']}: {what}")
    return "\n    ".join(lines)


def ask_local(home: Path, question: str) -> str:
    """Ask an exported agent with the local model, at the server of this process."""
    from workbook.runtime.local import SHARED, local_server

    server = {SHARED: local_server().url}
    return run_agent(home, "--model", "local", question, **server)


def run_agent(home: Path, *arguments: str, **environment: str) -> str:
    """Run an exported agent, whose user approves; return the command and its output."""
    command = [sys.executable, "-m", "my_agent", *arguments]
    about: Any = {"env": os.environ | environment, "input": "yes\n" * 9}
    with waiting("the exported agent"):
        ran = subprocess.run(command, cwd=home, capture_output=True, text=True, **about)
    printed = ran.stdout.strip() or ran.stderr.strip()
    asked = f"python -m my_agent … {arguments[-1]!r}"
    return f"{asked}, exit code {ran.returncode}: {printed}"
