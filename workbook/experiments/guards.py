"""Lesson 06's runs, tables and pictures: what a run spent, and where a rule stops it.

A rule gets the calls of a run so far and returns a cycle, or None: `find_cycle` is one,
and two that other agents have are here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbook.exercises.display import Grid
from workbook.experiments.figures import blank
from workbook.playground.engines import play
from workbook.playground.scenarios import load, scenario_tools
from workbook.runtime.budget import Budget
from workbook.runtime.calls import clip, to_json
from workbook.runtime.guards import all_guards
from workbook.runtime.machine import Machine
from workbook.runtime.stuck import Cycle, StepSeen, digest_of, find_cycle
from workbook.runtime.tools import Tool
from workbook.runtime.trace import Trace
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
    script, tools = model or scenario.script(), scenario_tools(scenario)
    return run(scenario.question, script, tools, **options)


def tokens_by_turn(trace: Trace) -> list[int]:
    """Return what each turn cost: the tokens that were read and those written."""
    used = [turn["usage"] for turn in trace.of("model_turn")]
    return [usage["input"] + usage["output"] for usage in used]


def tell(name: str, trace: Trace) -> None:
    """Print how a run ended and what its guards decided."""
    end, costs = trace.end or {}, tokens_by_turn(trace)
    answer = "no answer" if end["answer"] is None else f"answer: {end['answer']}"
    print(f"{name}: {end['state']} ({end['reason']}), {answer}")
    print(f"    turns: {len(costs)}, tokens: {sum(costs):,}", end="")
    print(f", tool calls asked for: {len(trace.of('tool_call'))}")
    for event in trace.of("decision"):
        print(f"    {event['who']}: {event['what']} ({event['why'].rstrip('.')})")


def tell_caps(trace: Trace) -> None:
    """Print for each turn how long it was allowed to be, and how long it was."""
    for sent, turn in zip(trace.of("model_request"), trace.of("model_turn")):  # noqa: B905
        read, wrote = turn["usage"]["input"], turn["usage"]["output"]
        print(
            f"read {read:,}, may write {sent['max_tokens']:,}, wrote {wrote:,} tokens"
        )


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


def show_calls(runs: Mapping[str, Sequence[StepSeen]], most: int = 3) -> Grid:
    """Show the first calls of each run."""
    rows = [
        (name if n == 0 else "", step.tool, clip(to_json(step.arguments), 60), digest)
        for name, calls in runs.items()
        for n, step in enumerate(calls[:most])
        for digest in [step.digest[:6]]
    ]
    return Grid(["run", "tool", "arguments", "digest of the answer"], rows)


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


def stops(runs: Mapping[str, Sequence[StepSeen]], **rules: Rule) -> Grid:
    """Show after which call each rule stops each run."""
    rows = [
        (name, str(len(calls)), *(_first(rule, calls) for rule in rules.values()))
        for name, calls in runs.items()
    ]
    return Grid(["run", "calls", *rules], rows)


def _first(rule: Rule, calls: Sequence[StepSeen]) -> str:
    hits = (n for n in range(1, len(calls) + 1) if rule(calls[:n]))
    at = next(hits, None)
    return "never" if at is None else f"after call {at}"
