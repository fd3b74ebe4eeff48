"""Lesson 14's measurements: an agent before and after a change, and outside the course.

A change is an example more in the prompt, or a guard; the sums are those of lesson 12.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from workbook.environments.endpoint import endpoint
from workbook.evaluation.grader import grade
from workbook.evaluation.statistics import Paired, tasks_needed, wilson_interval
from workbook.evaluation.tasks import Gold
from workbook.experiments.questions import ArithmeticQuestion
from workbook.measures.your_agent import Capstone, Story, play_story, rehearse, says
from workbook.runtime.budget import Budget
from workbook.runtime.calculator import calculator
from workbook.runtime.guards import OwnGuard, all_guards, own_guard
from workbook.runtime.machine import Machine
from workbook.runtime.model import Model
from workbook.runtime.tools import Tool
from workbook.runtime.trace import Trace
from workbook.stage.scenarios import ScenarioError, outcome
from workbook.stage.shown import Shown, comparison, ended
from workbook.wait import waiting

Example = tuple[str, str, str]  # a question, what the calculator gets, the answer
EXAMPLES: tuple[Example, ...] = (
    ("A book costs $40. 10% is taken off. What is the price?", "40 * 0.9", "36"),
    ("A hall has 12 rows of 14 chairs. How many chairs are there?", "12 * 14", "168"),
    ("A farmer has 230 eggs and sells 84. How many are left?", "230 - 84", "146"),
)


class Sum(NamedTuple):
    """What an agent did with a sum."""

    question: str
    calculated: list[str]
    answer: str | None
    right: bool


def on_sums(
    model: Model,
    sums: Sequence[ArithmeticQuestion],
    examples: Iterable[Example] = EXAMPLES,
    guard: OwnGuard | None = None,
    parts: Mapping[str, Callable[..., Any]] | None = None,
) -> list[Sum]:
    """Ask the guarded machine each sum; it shows the model these solved examples.

    ScenarioError: a run ended in ERROR, so a share of right answers would be no figure.
    """
    shown = "".join(map(_shown, examples))
    before = f"Answer the question step by step with a calculator.\n\n{shown}"
    guards = all_guards(Budget(5, 5), converge=False)
    guards += [own_guard(guard)] if guard else []
    machine = Machine(model, [calculator()], guards, parts=parts, preamble=before)
    found = []
    with waiting("sums", total=len(sums)) as tick:
        for each in sums:
            end = machine.run(each.text)
            _no_error(each.text, end.state, end.message)
            calls = [event["arguments"] for event in end.trace.of("tool_call")]
            wrote = [str(call.get("expression", call)) for call in calls]
            right = grade(end.answer, Gold("number", each.answers))
            found.append(Sum(each.text, wrote, end.answer, right))
            tick()
    return found


def _no_error(question: str, state: str, message: str | None) -> None:
    """Raise ScenarioError for a run in ERROR: nobody answered, or code broke."""
    if state == "ERROR":
        raise ScenarioError(f"No figure: {question!r} ended in ERROR. {message}")


def _shown(example: Example) -> str:
    question, expression, answer = example
    return (
        f"Question: {question}\nThought: I calculate it.\nAction: Calculator\n"
        f"Action Input: {expression}\nObservation: {answer}\n"
        f"Thought: I now know the final answer.\nFinal Answer: {answer}\n\n"
    )


def on_stories(made: Capstone, guard: bool, number: int = 20) -> list[bool]:
    """Play stories with danger, then as many without; return which ended right."""
    runs = [rehearse(made, danger, guard, number) for danger in (True, False)]
    return [end["right"] for each in runs for end in each]


def on_model(model: Model, made: Capstone, number: int = 5) -> dict[str, str]:
    """Ask a model the questions of stories, without the guard and with it."""
    found = {}
    with waiting("stories", total=2 * number) as tick:
        for guard, name in (False, "without the guard"), (True, "with it"):
            right = stopped = 0
            for seed in range(1, number + 1):
                story = made.story(Random(seed), False)
                trace, _ = play_story(made, story, guard, model)
                end = outcome(trace)
                _no_error(story.question, end["state"], (trace.end or {})["message"])
                right += story.is_right(end)
                stopped += sum(e["who"] == "guard" for e in trace.of("decision"))
                tick()
            found[name] = f"{right} of {number} right, {stopped} calls stopped"
    return found


def played(made: Capstone, story: Story, guard: bool = True) -> dict[str, Any]:
    """Play a story; return its question and how it ended, right or wrong: a row."""
    trace, _ = play_story(made, story, guard)
    end = ended(trace, story.is_right(outcome(trace)))
    return {"question": story.question, "ends": end}


def lines_of(trace: Trace) -> list[str]:
    """Return a line for each call that is asked for, and one for what came of it."""
    lines = []
    for event in trace.of("tool_call", "observation"):
        told = event.get("text", event.get("arguments"))
        lines.append(f"{event['kind']:11} {event['tool']}: {told}")
    return lines


def verdict(found: Paired) -> Shown:
    """Say what pairs tell: both shares with intervals, p, and how many tasks it takes.

    >>> verdict(Paired(9, 3, 0, 12, 0.125, 0.25))
    version right share
    before 9 of 24 38 % (21 % to 57 %)
    after 12 of 24 50 % (31 % to 69 %)
    won 3, lost 0: p = 0.25, which luck alone can do. If the true difference is +12%, \
61 tasks would show it.
    """
    n, changed, rows = sum(found[:4]), found.won + found.lost, []
    for version, one_sided in ("before", found.lost), ("after", found.won):
        right = found.both + one_sided
        low, high = wilson_interval(right, n)
        span = low, right / n, high
        rows.append({"version": version, "right": f"{right} of {n}", "share": span})
    luck = "which luck alone can do" if found.p >= 0.05 else "hardly luck alone"
    note = f"won {found.won}, lost {found.lost}: p = {found.p:.2g}, {luck}."
    if found.difference:
        needed = tasks_needed(found.difference, changed / n)
        note += f" If the true difference is {found.difference:+.0%},"
        note += f" {needed:,} tasks would show it."
    return comparison(rows, note=note)


def ask_outside(home: Path, story: Story) -> str:
    """Ask an exported agent a story's question; return what came of it, in lines.

    The agent is a process of its own. Its model is the story's script, at an endpoint
    on this machine; the story's other tools are written into its tools.py.
    """
    if not (home / "parts" / "my_guard.py").exists():
        return "parts/my_guard.py is not there: your my_agent has not passed its check."
    with (home / "tools.py").open("a", encoding="utf-8") as tools:
        tools.write("\nfrom runtime.tools import Tool\n")
        tools.writelines(map(_written, story.tools))
    config, trace = home / "config.toml", home / "state" / "outside.jsonl"
    in_text = config.read_text("utf-8").replace('calls = "auto"', 'calls = "text"')
    config.write_text(in_text, "utf-8")
    with endpoint(*[says(story)] * 2 * len([*story.turns, *story.if_stopped])) as told:
        asked = ["--model", "scripted", "--trace", str(trace), story.question]
        ran = run_agent(home, *asked, OPENAI_BASE_URL=told.url)
    seen = lines_of(Trace.read(trace)) if trace.exists() else []
    return "\n    ".join([ran, *seen])


def ask_local(home: Path, question: str) -> str:
    """Ask an exported agent with the local model, at the server of this process."""
    from workbook.runtime.local import local_server

    asked = "--model", "local", question
    return run_agent(home, *asked, AGENT_LOCAL_SERVER=local_server().url)


def _written(tool: Tool) -> str:
    """Return a line of tools.py that makes a tool which tells what this one tells."""
    try:
        told = tool.run(input="")
    except Exception:  # it takes other arguments
        return f"\n# {tool.name} is left in the story: it is no tool that only tells.\n"
    name = re.sub(r"\W", "_", f"told_by_{tool.name}".lower())
    about = f"{tool.name!r}, {tool.description!r}, {dict(tool.parameters)!r}"
    return f"\n{name} = Tool({about}, lambda **_: {told!r})\n"


def run_agent(home: Path, *arguments: str, **environment: str) -> str:
    """Run an exported agent as a process of its own; return what it printed.

    A person who is asked says yes.
    """
    with waiting("the exported agent"):
        ran = subprocess.run(
            [sys.executable, "agent.py", *arguments],
            cwd=home,
            env={**os.environ, **environment},
            input="yes\n" * 9,
            capture_output=True,
            text=True,
        )
    said = ran.stdout.strip() or ran.stderr.strip()
    return f"python agent.py … {arguments[-1]!r}, exit code {ran.returncode}: {said}"
