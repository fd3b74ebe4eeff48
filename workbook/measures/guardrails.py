"""Lesson 06 and lab 06: where a rule stops a run, and what a shorter prompt costs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, product
from typing import Any

from workbook.paths import DATA
from workbook.runtime.budget import Limits
from workbook.runtime.context import PromptPart
from workbook.runtime.guard import Guard
from workbook.runtime.machine import Machine
from workbook.runtime.messages import TEXT_PREAMBLE
from workbook.runtime.stuck import Cycle, StepSeen, digest_of, find_cycle
from workbook.runtime.tools import ToolRegistry
from workbook.runtime.trace import Trace
from workbook.stage.scenarios import load, outcome
from workbook.stage.shown import ended
from workbook.wait import waiting
from workbook.worlds.wiki import load_articles

Row = dict[str, Any]
TURNS, WORDS = 8, ("same", "other")
PLACES = {1: "top", 3: "middle", 5: "end"}  # of five facts in a prompt


def played(
    slug: str, guards: Sequence[Guard] = (), model: Any = None, **options: Any
) -> Row:
    """Play a scenario with these guards: how it ends, and the tokens that it spent."""
    scenario = load(slug)
    options["limits"] = Limits(scenario.steps, 2 * scenario.steps)
    model = model or scenario.script()
    machine = Machine(model, scenario.tools(), guards, **options)
    trace = machine.run(scenario.question).trace
    end = ended(trace, scenario.is_right(outcome(trace)))
    return {"ends": end, "tokens": spent(trace)}


def spent(trace: Trace) -> int:
    """Return how many tokens a run has read and written."""
    used = (trace.end or {})["spent"]["usage"]
    return int(used["input"] + used["output"])


def calls_of(slug: str) -> list[StepSeen]:
    """Return the calls of a scenario's run without guards, as a rule sees them."""
    trace = played(slug)["ends"]["trace"]
    pairs = zip(trace.of("tool_call"), trace.of("observation"), strict=True)
    return [StepSeen(c["tool"], c["arguments"], digest_of(o["text"])) for c, o in pairs]


def exactly(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two calls have the same arguments, letter by letter."""
    return json.dumps(one) == json.dumps(other)


def blind(calls: Sequence[StepSeen], **rule: Any) -> Cycle | None:
    """Return a cycle as an agent finds it that does not look at the answers."""
    return find_cycle([c._replace(digest="") for c in calls], same=exactly, **rule)


def read_again(model: Any, ways: Mapping[str, tuple[Any, int]]) -> Iterator[Row]:
    """Send a talk in several ways; yield the tokens and milliseconds of each turn."""
    drift = load("drift")
    tools = ToolRegistry(drift.tools()).describe()
    before = f"{TEXT_PREAMBLE.format(tools=tools)}Question: {drift.question}\n"
    with waiting("sending prompts", total=len(ways) * TURNS) as tick:
        for way, (fit, limit) in ways.items():
            model.complete("Hello")  # so that nothing of the last way is cached
            parts = [PromptPart(before, pinned=True, kind="question")]
            for n, place in zip(range(TURNS), cycle(drift.scripted_tools[0].returns)):
                parts = fit(parts, limit, count=model.count)
                reply = model.complete("".join(part.text for part in parts))
                sent, cached = reply.usage.input, reply.usage.cached
                row = {"way": way, "turn": n + 1, "sent": sent, "cached": cached}
                yield row | {"read": sent - cached, "ms": reply.timings["prompt_ms"]}
                turn = f"Thought: Next is {n}.\nAction: Places\nAction Input: {n}"
                seen = f"\nObservation: {place}\n"
                parts += [PromptPart(turn, group=n)]
                parts += [PromptPart(seen, group=n, kind="observation")]
                tick()


def find_facts(model: Any) -> Iterator[Row]:
    """Ask for ten facts at three places of a prompt, in the same and in other words."""
    facts = json.loads((DATA / "lessons/06/facts.json").read_text(encoding="utf-8"))
    fillers = [a.text[:100].rpartition(".")[0] for a in load_articles()[:5]]
    with waiting("asking for facts", total=len(facts) * len(PLACES) * 2) as tick:
        for first, turn in product(range(0, len(facts), 5), range(5)):
            group = facts[first : first + 5]
            placed, known = group[turn:] + group[:turn], ""
            for fact, text in zip(placed, fillers, strict=True):
                known += f"{fact['same']} {fact['it']}.\n{text}.\n"
            for place, words in product(PLACES, WORDS):
                fact = placed[place - 1]
                asked = f"{known}\nIn short: {fact[words]}"
                reply = model.complete(asked, stop=["\n"]).text
                row = {"fact": fact["same"], "place": place, "words": words}
                yield row | {"found": fact["it"] in reply}
                tick()
