"""Lesson 06's runs, tables and pictures: what a run spent, and where a rule stops it.

A rule gets the calls of a run so far and returns a cycle, or None: `find_cycle` is one,
and two that other agents have are here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbook.experiments.figures import blank
from workbook.runtime.budget import Budget
from workbook.runtime.calls import clip, to_json
from workbook.runtime.guards import all_guards
from workbook.runtime.machine import Machine
from workbook.runtime.stuck import Cycle, StepSeen, digest_of, find_cycle
from workbook.runtime.tools import Tool
from workbook.runtime.trace import Trace
from workbook.stage.engines import play
from workbook.stage.scenarios import load, outcome
from workbook.stage.shown import ended
from workbook.views.plots import BLUE, RED, on_any_page

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Rule = Callable[[Sequence[StepSeen]], Cycle | None]


def run(
    question: str,
    model: Any,
    tools: Iterable[Tool] = (),
    *,
    budget: Budget = Budget(),  # noqa: B008 - frozen
    converge: bool = True,
    **options: Any,
) -> Trace:
    """Play one run on a machine with all guards; the options are the machine's."""
    guards = all_guards(budget, converge=converge)
    return Machine(model, tools, guards, **options).run(question).trace


def again(slug: str, model: Any = None, **options: Any) -> Trace:
    """Play a scenario on the machine with guards, with these options and no others."""
    scenario = load(slug)
    script, tools = model or scenario.script(), scenario.tools()
    return run(scenario.question, script, tools, **options)


def tokens_by_turn(trace: Trace) -> list[int]:
    """Return what each turn cost: the tokens that were read and those written."""
    used = [turn["usage"] for turn in trace.of("model_turn")]
    return [usage["input"] + usage["output"] for usage in used]


def spent(trace: Trace) -> int:
    """Return what all turns cost together, in tokens."""
    return sum(tokens_by_turn(trace))


def first_turn(trace: Trace) -> dict[str, int]:
    """Return the tokens that the first turn read, was allowed to write, and wrote."""
    [sent, *_], [turn, *_] = trace.of("model_request"), trace.of("model_turn")
    used, most = turn["usage"], sent["max_tokens"]
    return {"read": used["input"], "may write": most, "wrote": used["output"]}


def ending(slug: str, trace: Trace) -> dict[str, Any]:
    """Return how a scenario's run ended and whether it is right, for `comparison`."""
    return ended(trace, load(slug).is_right(outcome(trace)))


@on_any_page
def plot_tokens(trace: Trace, limit: int) -> Axes:
    """Draw what each turn of a run cost, and how far a limit for all of them goes."""
    costs = tokens_by_turn(trace)
    within = sum(sum(costs[:n]) <= limit for n in range(1, len(costs) + 1))
    _, (axes,) = blank(size=(7, 3))
    colours = [BLUE if n < within else RED for n in range(len(costs))]
    axes.bar(range(1, len(costs) + 1), costs, color=colours)
    axes.set(xlabel="turn", ylabel="tokens of this turn")
    axes.set_title(f"Each turn costs more. Blue: the first {limit:,} tokens pay for it")
    return axes


def calls_of(slug: str) -> list[StepSeen]:
    """Return the calls that a scenario's run makes without guards, as a rule sees."""
    trace = play(slug, "fsm")
    pairs = zip(trace.of("tool_call"), trace.of("observation"), strict=True)
    return [StepSeen(c["tool"], c["arguments"], digest_of(o["text"])) for c, o in pairs]


def first_calls(runs: Mapping[str, Sequence[StepSeen]]) -> list[dict[str, str]]:
    """Return a row for each run: its first three calls, each with its digest."""
    return [
        {"run": name}
        | {f"call {n} → digest": _in_short(step) for n, step in enumerate(calls[:3], 1)}
        for name, calls in runs.items()
    ]


def _in_short(step: StepSeen) -> str:
    arguments = clip(to_json(step.arguments), 60)
    return f"{step.tool} {arguments} → {step.digest[:6]}"


def exactly(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two calls' arguments are the same, letter by letter."""
    return json.dumps(one) == json.dumps(other)


def _blind(calls: Sequence[StepSeen]) -> list[StepSeen]:
    return [call._replace(digest="") for call in calls]


def gemini_cli(calls: Sequence[StepSeen]) -> Cycle | None:
    """Return a cycle as gemini-cli sees one: five times, whatever the answers are."""
    return find_cycle(_blind(calls), repeats=5, same=exactly)


def opencode(calls: Sequence[StepSeen]) -> Cycle | None:
    """Return a cycle as opencode sees one: three equal calls, whatever the answers."""
    return find_cycle(_blind(calls), lengths=[1], same=exactly)


def stops(
    runs: Mapping[str, Sequence[StepSeen]], rules: Mapping[str, Rule]
) -> list[dict[str, Any]]:
    """Return a row for each run: after which call each rule stops it, None if never."""
    return [
        {"run": name, "calls": len(calls)}
        | {who: _first(rule, calls) for who, rule in rules.items()}
        for name, calls in runs.items()
    ]


def _first(rule: Rule, calls: Sequence[StepSeen]) -> int | None:
    hits = (n for n in range(1, len(calls) + 1) if rule(calls[:n]))
    return next(hits, None)
