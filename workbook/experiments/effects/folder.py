"""An agent that works on files: what is written, and whether the tests then pass."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbook.environments.workspace import Workspace
from workbook.exercises.display import show
from workbook.experiments.effects.payments import a_ledger
from workbook.fsm.machine import Machine
from workbook.guardrails.budget import Budget
from workbook.guardrails.handlers import Ask
from workbook.guardrails.machine import guarded
from workbook.guardrails.permission import PolicyRule, Request
from workbook.models.prompts import clip
from workbook.models.script import Script
from workbook.paths import DATA
from workbook.playground.engines import play
from workbook.playground.machines import Given
from workbook.playground.scenarios import load
from workbook.tools import ToolRegistry
from workbook.traces import TraceWriter
from workbook.traces.show import Diff

if TYPE_CHECKING:
    import pandas as pd

EXAMPLE = DATA / "lessons/07/mend_example.txt"


def story(slug: str, engine: str) -> None:
    """Print what model and tools said in a scenario, and how it ended."""
    trace = play(slug, engine)
    assert trace.end is not None
    for event in trace.of("model_turn", "observation"):
        print(_line(event["text"]))
    print(f"{trace.end['state']}: {trace.end['answer']}")


def in_the_folder(slug: str, *, unprotected: bool = False, **options: Any) -> None:
    """Play a scenario in a workspace; print what was refused, and if a file changed."""
    place, scenario, emit = Workspace.sample(), load(slug), TraceWriter()
    before, model = place.read_file("price.py"), scenario.script()
    machine: Machine
    if unprotected:
        machine = Machine(model, ToolRegistry(place.tools()), hook=emit)
    else:
        machine = guarded(model, place.tools(), hook=emit, **options)
    answer = machine.run(scenario.question).answer
    print(f"\n{slug}: {answer}")
    for event in emit.trace().of("observation"):
        print(f"    {event['tool']:10} {_line(event['text'], 160)}")
    print("the file is as it was:", place.read_file("price.py") == before)


def as_table(rules: Sequence[PolicyRule]) -> pd.DataFrame:
    """Return a policy, a rule a row."""
    import pandas as pd

    return pd.DataFrame(rules)


def mends(model: Any, mode: str, ask: Ask, parts: Given, **more: Any) -> str:
    """Let an agent mend the failing test of a workspace, and print what it does.

    The tests then run on the files of its folder. Without a model the script plays, and
    in plan mode it stops before the write.
    """
    task, place, emit = load("mend_the_test"), Workspace.sample(), TraceWriter()
    question = task.question
    if model is None and mode == "plan":
        plan = "Final Answer: Take the second percentage of the lower price."
        model, question = Script([*task.turns[:3], plan]), f"{question} Only plan."
    options: Any = {"mode": mode, "ask": ask, "ledger": a_ledger(), "parts": parts}
    machine = guarded(
        model or task.script(), place.tools(), hook=emit, **options, **more
    )
    ended = machine.run(question)
    for event in emit.trace().of("decision", "observation"):
        if event["kind"] == "observation":
            print(f"    {event['tool']:10} {_line(event['text'], 160)}")
        else:
            print(f"  {event['who']}: {event['what']} {event['why']}")
    said = ended.answer or ended.message
    passed = place.run_tests()["passed"]
    return f"{mode}: {ended.state}, {said}\nthe tests pass: {passed}"


def mends_on(model: Any, ask: Ask, parts: Given) -> str:
    """Let a real model try, in build mode, with at most six steps and an example."""
    example = EXAMPLE.read_text("utf-8")
    return mends(model, "build", ask, parts, budget=Budget(steps=6), preamble=example)


def show_change(request: Request) -> None:
    """Show what a call would change, in colours."""
    show(Diff(request.preview))


def _line(text: str, most: int = 88) -> str:
    """Return a text, or one in JSON, as one line that a narrow window shows."""
    plain = text.replace("\\n", " ").replace('\\"', '"')
    plain = re.sub(r"([=-])\1{9,}", r"\1\1\1", plain)  # a ruler
    return clip(" ".join(plain.split()), most)
