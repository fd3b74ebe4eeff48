"""A checklist for an agent, gone through by running it: `data/checklist.toml`.

Each line names the scenarios of the gallery that show why it is there. A machine is
copied first: its own model, tools, person, hook and ledger have no part in it.
"""

from __future__ import annotations

import math
import re
import tempfile
import threading
import time
import tomllib
from collections import deque
from collections.abc import Callable
from copy import copy
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from workbook.fsm.adapters import FunctionCalls, TextTurns
from workbook.fsm.machine import Machine
from workbook.guardrails.budget import Budget
from workbook.guardrails.ledger import Ledger
from workbook.guardrails.machine import GuardedMachine
from workbook.paths import DATA
from workbook.playground.engines import find_engine, in_words, play, with_user
from workbook.playground.machines import ByScript
from workbook.playground.scenarios import load, outcome, scenario_tools
from workbook.traces.show import NO_FORMULA
from workbook.traces.trace import Trace
from workbook.traces.writer import TraceWriter
from workbook.wait import waiting

# What stands in for function calls: the model of a scenario writes text.
MARKS = {True: "✓", False: "✕"}


class Row(NamedTuple):
    """A scenario of a line: how it ended, and whether that is what the line wants."""

    met: bool
    look: str  # what to look for
    scenario: str
    ended: str


class Review(NamedTuple):
    """The checklist, gone through: a row a scenario.

    A notebook shows what is missed as a table, and what is met folded under it.
    """

    rows: tuple[Row, ...]

    @property
    def missed(self) -> list[str]:
        """What was looked for, and is not so in each of its scenarios."""
        return list(dict.fromkeys(row.look for row in self.rows if not row.met))

    def __repr__(self) -> str:
        lines = len({row.look for row in self.rows})
        said = [f"{lines - len(self.missed)} of {lines} lines are met"]
        for look, rows in groupby(self.rows, attrgetter("look")):
            said += [look, *(f"  {MARKS[r.met]} {r.scenario}: {r.ended}" for r in rows)]
        return "\n".join(said)

    def _repr_html_(self) -> str:
        met = [row for row in self.rows if row.look not in self.missed]
        missed = [row for row in self.rows if row.look in self.missed]
        said = f"<p>{repr(self).splitlines()[0]}</p>{_table(missed)}"
        folded = f"<details><summary>what is met</summary>{_table(met)}</details>"
        return f"<div class='{NO_FORMULA}'>{said}{folded}</div>"


def _table(rows: list[Row]) -> str:
    import pandas as pd

    frame = pd.DataFrame(rows, columns=["", "look for", "scenario", "ended"])
    frame[""] = frame[""].map(MARKS)
    frame["look for"] = frame["look for"].mask(frame["look for"].duplicated(), "")
    table = frame.to_html(index=False, border=0, justify="left") if rows else ""
    return re.sub("<(t[hd])>", r"<\1 style='text-align:left'>", table)


def review(agent: Machine | str) -> Review:
    """Play the scenarios of the checklist on a machine, or on an engine by its name.

    The limits, the mode and what the person says are the scenario's; whether there is a
    limit of tokens, a fitted prompt or a ledger is the machine's. One that asks for
    function calls is played by text turns; ValueError for an engine that does.
    """
    played: Callable[[str], Trace]
    if isinstance(agent, Machine):
        played = partial(_play_on, agent)
    elif find_engine(agent).asks_for_calls:
        raise ValueError(f"{agent} asks for function calls; the scenarios are in text")
    else:
        played = partial(play, engine=agent)
    rows, text = [], (DATA / "checklist.toml").read_text(encoding="utf-8")
    lines = tomllib.loads(text)["line"]
    cases = [(line, slug) for line in lines for slug in line["scenarios"]]
    with waiting("going through the checklist", len(cases)) as tick:
        for line, slug in cases:
            trace = played(slug)
            end, met = outcome(trace), load(slug).is_right(outcome(trace))
            if "end" in line:
                met = bool(re.fullmatch(line["end"], f"{end['state']} {end['reason']}"))
            met = met and end["model_turns"] <= line.get("turns", math.inf)
            rows.append(Row(met, line["look"], slug, in_words(trace)))
            tick()
    return Review(tuple(rows))


def _play_on(machine: Machine, slug: str) -> Trace:
    again, scenario = copy(machine), load(slug)
    given, steps = scenario.guards, scenario.steps
    again.model, again.clock, again.on_text = scenario.script(), time.perf_counter, None
    again.tools = machine.tools.with_tools(scenario_tools(scenario))
    again._cancelled = threading.Event()
    adapter: Any = machine.adapter
    options = {**getattr(adapter, "keywords", {})}
    if context := options.get("context"):  # its prompt is kept within a limit
        limit = given.context_tokens or math.inf
        options["context"] = partial(context, limit=limit, pinned=[])
    adapter = getattr(adapter, "func", adapter)
    adapter = TextTurns if adapter is FunctionCalls else adapter
    again.adapter = partial(adapter, **options)
    with tempfile.TemporaryDirectory() as folder:
        emit = TraceWriter(listener=with_user(scenario, lambda event: None))
        again.hook, again.limits = emit, Budget(steps, 2 * steps)
        if isinstance(machine, GuardedMachine) and isinstance(again, GuardedMachine):
            tokens = given.tokens if machine.budget.counts_tokens else math.inf
            again.limits = Budget(steps, 2 * steps, tokens=tokens)
            again.mode, again.ask = given.mode, ByScript(given.answers).ask
            again.ledger = again.ledger and Ledger(Path(folder) / "ledger.db")
            again._switches = deque()
        again.run(scenario.question)
        return emit.trace()
