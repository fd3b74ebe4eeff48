"""Lab 06's measurements: what a model reads again, and where it finds a fact.

The prompts are made here and go to a real model; its turns are scripted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import TYPE_CHECKING, Any

from workbook.environments.wiki import load_articles
from workbook.evaluation.statistics import paired_difference
from workbook.experiments.figures import blank
from workbook.experiments.rates import interval
from workbook.paths import DATA
from workbook.runtime.budget import Prices
from workbook.runtime.context import PromptPart, loose_groups, replaced, size
from workbook.runtime.messages import TEXT_PREAMBLE
from workbook.runtime.model import Usage
from workbook.runtime.script import CHARS_PER_TOKEN, count_tokens
from workbook.runtime.tools import ToolRegistry
from workbook.stage.engines import play
from workbook.stage.scenarios import load
from workbook.stage.shown import Shown, comparison
from workbook.views.plots import on_any_page
from workbook.wait import waiting

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Fit = Callable[..., list[PromptPart]]

STYLES = {"grows": "o-", "every turn": "s-", "in batches": "^-"}
PRICES = Prices("EUR", "invented", input=2.0, output=8.0, cached=0.2)
TURNS, LIMIT, PLACES = 8, 300, 5


def in_the_window(slug: str) -> str:
    """Return what a scenario's model sees of its last prompt, without guards."""
    trace = play(slug, "fsm")
    prompt = str(trace.prompt(trace.of("model_request")[-1]["seq"]))
    window = load(slug).script().window_tokens or len(prompt)
    seen = prompt[-window * CHARS_PER_TOKEN :]
    print(f"{count_tokens(prompt)} tokens sent, {count_tokens(seen)} in the window")
    print(f"The answer: {(trace.end or {})['answer']}")
    return seen


def prompts(model: Any, fit: Fit, limit: float) -> Iterator[str]:
    """Yield the prompts of a conversation on lunch places, each within the limit.

    The model counts their tokens; its turns, and what the tool returns, are scripted.
    """
    drift = load("drift")
    tools = ToolRegistry(drift.tools()).describe()
    before = f"{TEXT_PREAMBLE.format(tools=tools)}Question: {drift.question}\n"
    parts = [PromptPart(before, pinned=True, kind="question")]
    for n, place in zip(range(TURNS), cycle(drift.scripted_tools[0].returns)):
        parts = fit(parts, limit, count=model.count)
        yield "".join(part.text for part in parts)
        turn = f"Thought: Next is {n}.\nAction: Places\nAction Input: {n}"
        seen = f"\nObservation: {place}\n"
        parts.append(PromptPart(turn, group=n))
        parts.append(PromptPart(seen, group=n, kind="observation"))


def trim(
    parts: list[PromptPart], limit: int, *, count: Callable[[str], int] = count_tokens
) -> list[PromptPart]:
    """Return the newest that fits, without a summary: what most frameworks do.

    Beyond the limit it drops a little at every turn, so the prompt's beginning changes
    at every turn.
    """
    left, dropped = size(parts, count), list[PromptPart]()
    for group in loose_groups(parts):
        if left > limit:
            dropped += group
            left -= size(group, count)
    return replaced(parts, dropped, "")


def read_in_three_ways(model: Any, in_batches: Fit) -> pd.DataFrame:
    """Send the same conversation in three ways; return what each turn cost, as rows.

    Args:
        model: writes one token for each prompt, and says what it had cached.
        in_batches: makes a prompt fit, as `fit_context` does.
    """
    import pandas as pd

    ways: dict[str, tuple[Fit, float]] = {"grows": (trim, 10_000)}
    ways |= {"every turn": (trim, LIMIT), "in batches": (in_batches, LIMIT)}
    rows = []
    with waiting("sending prompts", total=len(ways) * TURNS) as tick:
        for way, (fit, limit) in ways.items():
            model.complete("Hello")  # so that nothing of the way before is cached
            for turn, prompt in enumerate(prompts(model, fit, limit), start=1):
                reply = model.complete(prompt)
                used, ms = reply.usage, round(reply.timings["prompt_ms"])
                read = used.input - used.cached
                rows.append((way, turn, used.input, used.cached, read, ms))
                tick()
    return pd.DataFrame(rows, columns=["way", "turn", "sent", "cached", "read", "ms"])


def in_money(total: pd.DataFrame) -> pd.DataFrame:
    """Return what each way cost, and what it would have cost without a cache."""
    sent = zip(total["sent"], total["cached"], strict=True)
    usages = [Usage(int(tokens), TURNS, int(cached)) for tokens, cached in sent]
    return total.assign(
        cost=[PRICES.cost(usage) for usage in usages],
        uncached=[PRICES.cost(Usage(usage.input, TURNS)) for usage in usages],
    )[["cost", "uncached"]].round(5)


@on_any_page
def plot_reading(rows: pd.DataFrame) -> list[Axes]:
    """Draw the tokens that each way sends, and those that the model reads."""
    _, axes = blank(2, size=(9, 3.2), sharey=True)
    for ax, column in zip(axes, ("sent", "read"), strict=True):
        ways = rows.pivot(index="turn", columns="way", values=column)[[*STYLES]]
        ways.plot(ax=ax, style=STYLES, legend=column == "sent")
    most = rows.groupby("way")["read"].sum().idxmax()
    axes[0].set(title="Tokens sent", ylabel="tokens", ylim=(0, None))
    axes[1].set(title=f"Tokens read: most with {most!r}")
    return axes


def find_facts(model: Any) -> pd.DataFrame:
    """Ask for ten facts, each at five places of a prompt, in the same and other words.

    Five facts share a prompt, with the beginning of an article after each of them.

    Returns:
        a row for each question: the `fact`, its `place` (1 is at the top), the `words`
        ("same" or "other"), and whether it was `found`.
    """
    import pandas as pd

    text = (DATA / "lessons/06/facts.json").read_text(encoding="utf-8")
    facts = json.loads(text)
    begun = [article.text[:150].rpartition(".")[0] for article in load_articles()]
    fillers = [f"{sentences}." for sentences in begun if sentences]
    rows = []
    with waiting("asking for facts", total=2 * PLACES * len(facts)) as tick:
        for start in range(0, len(facts), PLACES):
            group = facts[start : start + PLACES]
            for turn in range(PLACES):
                placed = group[turn:] + group[:turn]
                lines = [
                    f"{fact['same']} {fact['it']}.\n{filler}\n"
                    for fact, filler in zip(placed, fillers, strict=False)
                ]
                for place, fact in enumerate(placed, start=1):
                    for words in ("same", "other"):
                        prompt = f"{''.join(lines)}\nIn short: {fact[words]}"
                        said = model.complete(prompt, stop=["\n"]).text
                        rows.append((fact["same"], place, words, fact["it"] in said))
                        tick()
    return pd.DataFrame(rows, columns=["fact", "place", "words", "found"])


def by_place(found: pd.DataFrame) -> Shown:
    """Return the share of the facts that were found at each place, with its interval.

    Below it the two wordings are compared: each fact is a pair.
    """
    rows: list[dict[str, Any]] = []
    names = ["top", *map(str, range(2, PLACES)), "end"]
    for name, (_, asked) in zip(names, found.groupby("place"), strict=True):
        by_words = asked.groupby("words", sort=False)["found"]
        shares = {f"{words!s} words": interval(hits) for words, hits in by_words}
        rows.append({"place": name, **shares})
    hits = found.pivot_table("found", "fact", "words", "sum")
    same, other = hits["same"], hits["other"]
    pair = paired_difference(zip(other > same, same > other, strict=True))
    note = f"Facts found more often: the same words {pair.won}, other words {pair.lost}"
    return comparison(rows, note=f"{note} of {len(hits)}; p = {pair.p:.3f}")
