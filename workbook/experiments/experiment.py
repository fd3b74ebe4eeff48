"""Every question with every method: who is right, how often, and at what cost.

It asks with the four methods of `workbook.loop.paper_agent`, on any model, and returns
a trial for each run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbook.environments.wiki import WikiTask
from workbook.evaluation.report import counted
from workbook.evaluation.statistics import Paired, paired_difference
from workbook.experiments.questions import ArithmeticQuestion
from workbook.loop.answers import exact_match, matches_any
from workbook.loop.paper_agent import Attempt, run
from workbook.loop.prompting import Exemplar
from workbook.loop.text_world import World
from workbook.runtime.model import Model
from workbook.wait import waiting

if TYPE_CHECKING:
    import pandas as pd

Question = ArithmeticQuestion | WikiTask


@dataclass(frozen=True, slots=True)
class Trial:
    """One question, asked with one method."""

    slug: str
    attempt: Attempt
    right: bool


def run_experiment(
    methods: Collection[str],
    model: Model,
    questions: Sequence[Question],
    exemplars: Sequence[Exemplar],
    world: Callable[[Any], World],
    *,
    is_right: Callable[[str, str], bool] = exact_match,
    prompts: Mapping[str, Callable[..., str]] | None = None,
    **options: Any,
) -> list[Trial]:
    """Ask every question with every method; all of one method first (caching).

    It prints a line a method, with a mark a question: ✓ right, · not. `world` makes the
    world of a question, a new one each time, `is_right` decides whether (answer,
    accepted answer) agree, `prompts` has a function that writes the prompt of a method.
    The options are those of `paper_agent.run`: `parse`, `max_steps`, …
    """
    trials = []
    with waiting("questions", total=len(methods) * len(questions)) as tick:
        for method in methods:
            print(f"{method:9}", end="", flush=True)
            options["prompt"] = (prompts or {}).get(method)
            for question in questions:
                there = world(question)
                attempt = run(method, model, question.text, exemplars, there, **options)
                right = matches_any(attempt.answer, question.answers, is_right)
                trials.append(Trial(question.slug, attempt, right))
                print("✓" if right else "·", end="", flush=True)
                tick()
            print()
    return trials


def pairs(
    trials: Sequence[Trial], before: str, after: str
) -> dict[str, tuple[Trial, Trial]]:
    """Return by question what two methods did with it."""
    one, other = (
        {trial.slug: trial for trial in trials if trial.attempt.method == method}
        for method in (before, after)
    )
    return {slug: (one[slug], other[slug]) for slug in one}


def paired(trials: Sequence[Trial], before: str, after: str) -> Paired:
    """Compare two methods on the questions that both were asked."""
    both = pairs(trials, before, after).values()
    return paired_difference((one.right, other.right) for one, other in both)


def first_steps(trials: Sequence[Trial], questions: Iterable[Question]) -> pd.DataFrame:
    """Return what Act and ReAct did first with each question, and how they ended.

    Columns: `question`, `right answer`, and for both methods: is right, thinks, does,
    sees, ends with.
    """
    import pandas as pd

    both, rows = pairs(trials, "act", "react"), []
    for question in questions:
        row: dict[str, Any] = {
            "question": question.text,
            "right answer": question.answers[0],
        }
        for name, trial in zip(("Act", "ReAct"), both[question.slug], strict=True):
            steps = trial.attempt.steps
            row |= {
                f"{name} is right": trial.right,
                f"{name} thinks": steps[0].thought,
                f"{name} does": steps[0].action,
                f"{name} sees": steps[0].observation,
                f"{name} ends with": steps[-1].action,
            }
        rows.append(row)
    return pd.DataFrame(rows)


def summarize(trials: Iterable[Trial]) -> pd.DataFrame:
    """Return one row a method, in the order in which the methods were asked.

    Columns: `right` of `asked`, the 95 % Wilson interval in percent, `no answer`, model
    `calls`, tokens `read` and `written`.
    """
    import pandas as pd

    groups: dict[str, list[Trial]] = {}
    for trial in trials:
        groups.setdefault(trial.attempt.method, []).append(trial)
    rows = {}
    for method, group in groups.items():
        attempts = [trial.attempt for trial in group]
        rows[method] = {
            **counted([trial.right for trial in group], "asked"),
            "no answer": sum(attempt.answer is None for attempt in attempts),
            "calls": sum(attempt.calls for attempt in attempts),
            "read": sum(attempt.usage.input for attempt in attempts),
            "written": sum(attempt.usage.output for attempt in attempts),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")
