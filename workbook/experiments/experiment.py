"""Every question with every method: who is right, how often, and at what cost.

It knows the four methods of `workbook.loop.paper_agent` and nothing of a particular
model, world or question; what it returns is one row a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from workbook.evaluation.report import counted
from workbook.evaluation.statistics import Paired, paired_difference
from workbook.loop.answers import exact_match, matches_any
from workbook.loop.paper_agent import Attempt, run
from workbook.loop.prompting import METHODS, Exemplar
from workbook.loop.text_world import World
from workbook.models.base import Completion, TextModel
from workbook.wait import waiting

if TYPE_CHECKING:
    import pandas as pd


class Question(Protocol):
    """What is asked: its unique name, the question, and the accepted answers."""

    @property
    def slug(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def answers(self) -> tuple[str, ...]: ...


QuestionT = TypeVar("QuestionT", bound=Question)


@dataclass(frozen=True, slots=True)
class Trial:
    """One question, asked in one way; `seconds` are the model's own time."""

    method: str
    slug: str
    attempt: Attempt
    right: bool
    seconds: float


def marks(trial: Trial, done: int, of: int) -> None:
    """Print the method's name, then a mark a question: ✓ right, · not."""
    name = f"{trial.method:9}" if done == 1 else ""
    mark = "✓" if trial.right else "·"
    print(f"{name}{mark}", end="\n" if done == of else "", flush=True)


def run_experiment(
    methods: Iterable[str],
    model: TextModel,
    questions: Sequence[QuestionT],
    exemplars: Sequence[Exemplar],
    world: Callable[[QuestionT], World],
    *,
    is_right: Callable[[str, str], bool] = exact_match,
    prompts: Mapping[str, Callable[..., str]] | None = None,
    progress: Callable[[Trial, int, int], None] | None = marks,
    **options: Any,
) -> list[Trial]:
    """Ask every question with every method; all of one method first (caching).

    `world` makes the world of a question, a new one each time, `is_right` decides
    whether (answer, accepted answer) agree, `prompts` has a function that writes the
    prompt of a method, `progress` is told of each trial. The options are those of
    `paper_agent.run`: `parse`, `max_steps`, …
    It raises ValueError for an unknown method, and for no questions.
    """
    methods = list(methods)
    if unknown := [name for name in methods if name not in METHODS]:
        raise ValueError(f"{unknown[0]!r} is none of the methods {', '.join(METHODS)}")
    if not questions:
        raise ValueError("there are no questions to ask")
    trials = []
    with waiting("questions", total=len(methods) * len(questions)) as tick:
        for method in methods:
            options["prompt"] = (prompts or {}).get(method)
            for number, question in enumerate(questions, start=1):
                timed, there = _Timed(model), world(question)
                attempt = run(method, timed, question.text, exemplars, there, **options)
                right = matches_any(attempt.answer, question.answers, is_right)
                trial = Trial(method, question.slug, attempt, right, timed.seconds)
                trials.append(trial)
                tick()
                if progress is not None:
                    progress(trial, number, len(questions))
    return trials


def pairs(
    trials: Iterable[Trial], before: str, after: str
) -> dict[str, tuple[Trial, Trial]]:
    """Return by question what two methods did with it."""
    done = {(trial.method, trial.slug): trial for trial in trials}
    return {
        slug: (first, done[after, slug])
        for (method, slug), first in done.items()
        if method == before
    }


def paired(trials: Iterable[Trial], before: str, after: str) -> Paired:
    """Compare two methods on the questions that both were asked."""
    both = pairs(trials, before, after).values()
    return paired_difference((one.right, other.right) for one, other in both)


def right_alone(
    trials: Iterable[Trial], questions: Iterable[Question]
) -> list[tuple[str, ...]]:
    """Return a row for each question that only one of Act and ReAct got right.

    A row is (who was right alone, question, Act's first action, ReAct's first thought,
    ReAct's first action).
    """
    texts = {question.slug: question.text for question in questions}
    rows = []
    for slug, (act, react) in pairs(trials, "act", "react").items():
        if act.right != react.right:
            alone = "Act" if act.right else "ReAct"
            did, step = act.attempt.steps[0].action, react.attempt.steps[0]
            rows.append((alone, texts[slug], did, step.thought, step.action))
    return sorted(rows)


def first_searches(
    trials: Iterable[Trial], questions: Iterable[Question]
) -> tuple[Paired, list[tuple[str, ...]]]:
    """Compare Act and ReAct by whether the first search opened an article.

    Returns the pairs, and a row a question: (question, right answer, what Act and ReAct
    search for first, what ReAct then sees, how ReAct ends).
    """
    both, opened = pairs(trials, "act", "react"), []
    rows: list[tuple[str, ...]] = []
    for question in questions:
        act, react = (trial.attempt.steps for trial in both[question.slug])
        first, then, last = act[0], react[0], react[-1]
        found = ["Could not find" not in step.observation for step in (first, then)]
        opened.append((found[0], found[1]))
        asked = [
            step.action.removeprefix("Search").strip("[]") for step in (first, then)
        ]
        said = *asked, then.observation, last.action
        rows.append((question.text, question.answers[0], *said))
    return paired_difference(opened), rows


def summarize(trials: Iterable[Trial]) -> pd.DataFrame:
    """Return one row a method, in the order in which the methods were asked.

    Columns: `right` of `asked`, the 95 % Wilson interval in percent, `no answer`, model
    `calls`, tokens `read` and `written`, `seconds`. No trials are a ValueError.
    """
    import pandas as pd

    groups: dict[str, list[Trial]] = {}
    for trial in trials:
        groups.setdefault(trial.method, []).append(trial)
    if not groups:
        raise ValueError("there are no trials to summarize")
    return pd.DataFrame([_row(*each) for each in groups.items()]).set_index("method")


def _row(method: str, trials: Sequence[Trial]) -> dict[str, Any]:
    attempts = [trial.attempt for trial in trials]
    return {
        "method": method,
        **counted([trial.right for trial in trials], "asked"),
        "no answer": sum(attempt.answer is None for attempt in attempts),
        "calls": sum(attempt.calls for attempt in attempts),
        "read": sum(attempt.usage.input for attempt in attempts),
        "written": sum(attempt.usage.output for attempt in attempts),
        "seconds": round(sum(trial.seconds for trial in trials), 1),
    }


class _Timed:
    """A model whose own time is added up."""

    def __init__(self, model: TextModel) -> None:
        self.name, self.seconds, self._model = model.name, 0.0, model

    def complete(self, prompt: str, **options: Any) -> Completion:
        reply = self._model.complete(prompt, **options)
        self.seconds += reply.timings.get("prompt_ms", 0.0) / 1000
        self.seconds += reply.timings.get("predicted_ms", 0.0) / 1000
        return reply
