"""What lesson 08 does with recorded runs: plays many again, and kills one anywhere."""

import itertools
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from workbook.checks.display import Grid
from workbook.paths import DATA
from workbook.runtime.calls import ToolFailure
from workbook.runtime.journal import Journal
from workbook.runtime.machine import Machine
from workbook.runtime.replay import resume
from workbook.runtime.script import Script
from workbook.runtime.tools import Tool
from workbook.runtime.trace import Trace
from workbook.stage.engines import play
from workbook.stage.machines import Given, machine_for
from workbook.stage.scenarios import slugs
from workbook.views.logs import logged, totals
from workbook.wait import waiting

Replay = Callable[[Trace, Machine], Any]
MACHINES = ("fsm", "guarded")
COAT = "A coat costs $200. 25% is taken off. What is the price?"
EXAMPLE = (DATA / "lessons/08/price_example.txt").read_text(encoding="utf-8")
"""What the real model is asked, and the solved example before it."""


def told(machine: Machine, question: str, folder: Path | None = None) -> Trace:
    """Run a machine and return its trace; with a folder, keep its four files there."""
    with logged(folder) if folder else Journal() as journal:
        machine.run(question, journal=journal)
        return journal.trace()


def weather(fails: int) -> Machine:
    """Return a machine whose tool is busy so many times, and is then asked again."""
    tries = iter(range(fails))

    def busy(city: str) -> dict[str, str]:
        if next(tries, None) is not None:
            raise ToolFailure("busy", "too many at once", retryable=True)
        return {"result": "19 degrees"}

    schema = {"properties": {"city": {"type": "string"}}, "required": ["city"]}
    tool = Tool("Weather", "The weather of a city.", schema, busy)
    asks = ["Action: Weather\nAction Input: Oslo"] * (fails + 1)
    return Machine(Script([*asks, "Final Answer: 19 degrees"]), [tool])


def recorded_gallery(
    folder: Path | str, engines: Sequence[str] = MACHINES, parts: Given | None = None
) -> list[Trace]:
    """Play every scenario on these engines, and keep each trace in the folder."""
    runs, cases = [], list(itertools.product(slugs(), engines))
    with waiting("loading the engines"):  # or else the first plays' estimate has it
        for engine in engines:
            play(slugs()[0], engine)
    with waiting("playing the scenarios", len(cases)) as tick:
        for slug, engine in cases:
            path = Path(folder) / f"{engine} {slug}.jsonl"
            runs.append(play(slug, engine, parts=dict(parts or {}), path=path))
            tick()
    return runs


def over_the_gallery(again: Replay) -> Grid:
    """Play every scenario on both machines, and each trace again.

    Below the table is how many came to the recorded end; its rows are the others.
    """
    rows, cases = [], list(itertools.product(slugs(), MACHINES))
    with waiting("playing the scenarios again", len(cases)) as tick:
        for slug, engine in cases:
            made = list[Machine]()
            trace = play(slug, engine, make=partial(_kept, made, engine))
            if end := _other_end(again, trace, made[0]):
                rows.append((slug, engine, end))
            tick()
    count = f"{len(cases) - len(rows)} of {len(cases)} to the same end"
    return Grid(("scenario", "engine", "your replay"), rows, count)


def _kept(made: list[Machine], engine: str, scenario: Any, home: Path) -> Machine:
    """Return the machine of an engine, and keep it to replay the run on it."""
    made.append(machine_for(scenario, home, engine))
    return made[0]


def _other_end(again: Replay, trace: Trace, machine: Machine) -> str:
    try:
        state = again(trace, machine).state
    except Exception as error:  # a learner's may raise anything
        at = getattr(error, "seq", None)
        return type(error).__name__ + (f" at event {at}" if at is not None else "")
    return "" if state == totals(trace)["state"] else f"another end: {state}"


ASKED_AGAIN = {"model_turn": "the model", "observation": "the tool"}


def killed_anywhere(
    trace: Trace, turns: Sequence[Any], machine: Callable[[Any], Machine]
) -> Grid:
    """Cut a run after each of its events, as a crash would, and resume it.

    `machine` makes one like the recorded one, of the turns of its model.
    """
    found = Counter[tuple[str, str, str]]()
    with tempfile.TemporaryDirectory() as folder:
        for k, last in enumerate(trace.events[:-1]):
            path = Path(folder) / f"{k}.jsonl"
            Trace(trace.events[: k + 1]).save(path)
            end = resume(path, machine(turns))
            _, first, *_ = end.trace.events[k + 1 :]  # after the `resumed`
            whom = ASKED_AGAIN.get(first["kind"], "nobody")
            found[last["kind"], f"{end.state} {end.answer}", whom] += 1
    rows = [(kind, str(n), end, whom) for (kind, end, whom), n in found.items()]
    again = sum(n for (*_, whom), n in found.items() if whom != "nobody")
    head = ("the last event before the crash", "runs", "they end", "asked again")
    footer = f"{again} of {found.total()} runs asked for something again"
    return Grid(head, rows, footer)
