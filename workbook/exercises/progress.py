"""What a learner has done, kept by the exercise's name in the user's data folder.

One small JSON file, replaced as a whole. It is a convenience: when it cannot be read or
written, an exercise works all the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated

from filelock import FileLock
from pydantic import Field, TypeAdapter

from workbook.exercises.catalogue import CourseError, exercises, find, lessons
from workbook.exercises.display import Message, Table, show
from workbook.exercises.report import Outcome
from workbook.paths import user_data


@dataclass(frozen=True, slots=True)
class Entry:
    """One exercise: the last outcome, how often it was checked, hints seen."""

    outcome: str = ""
    checks: Annotated[int, Field(ge=0)] = 0
    hints: Annotated[int, Field(ge=0)] = 0
    passed_at: str = ""  # the first time, UTC, ISO 8601


Entries = dict[str, Entry]
"""What is known, by the exercise's slug."""
FORMAT = TypeAdapter(Entries)


class Progress:
    """The file. Each change reads it afresh, under a lock: two kernels may be at it."""

    def __init__(self) -> None:
        self.path = user_data() / "progress.json"

    def entries(self) -> Entries:
        """Return what is known, by slug.

        A damaged file is set aside as `progress.json.damaged`, and said so.
        """
        try:
            return FORMAT.validate_json(self.path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            return self._damaged()

    def get(self, slug: str) -> Entry:
        """Return what is known of one exercise."""
        return self.entries().get(slug, Entry())

    def checked(self, slug: str, outcome: Outcome) -> None:
        """Note the outcome of a check. What was passed once stays passed."""
        now = datetime.now(UTC).isoformat(timespec="seconds")

        def noted(entry: Entry) -> Entry:
            return replace(
                entry,
                outcome=str(outcome),
                checks=entry.checks + (outcome is not Outcome.NOT_ATTEMPTED),
                passed_at=entry.passed_at or (now if outcome is Outcome.PASSED else ""),
            )

        self._change(lambda all: all | {slug: noted(all.get(slug, Entry()))})

    def hint_seen(self, slug: str, number: int) -> None:
        """Note that the first `number` hints have been seen."""
        self._change(
            lambda all: all | {slug: replace(all.get(slug, Entry()), hints=number)}
        )

    def forget(self, slugs: Sequence[str]) -> None:
        """Forget these exercises."""
        self._change(lambda all: {slug: all[slug] for slug in all if slug not in slugs})

    def _change(self, change: Callable[[Entries], Entries]) -> None:
        """Read, change and write, while no other kernel does the same."""

        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(self.path.with_name(".progress.lock")):
                new = self.path.with_name(".progress.new")
                new.write_bytes(FORMAT.dump_json(change(self.entries()), indent=1))
                os.replace(new, self.path)
        except OSError as error:
            raise CourseError(
                f"Progress could not be kept in {self.path.parent}: {error.strerror}."
                " Set WORKBOOK_DATA to a folder that you may write to."
            ) from None

    def _damaged(self) -> Entries:
        aside = self.path.with_name(self.path.name + ".damaged")
        try:
            os.replace(self.path, aside)
        except OSError:
            aside = self.path
        title = "The file with your progress could not be read; a new one is begun."
        show(Message(title, [f"The old one is kept as {aside}."]))
        return {}


def progress() -> Table:
    """Return a table of the exercises and what you have done with them."""
    entries = Progress().entries()
    rows = []
    for exercise in exercises().values():
        entry = entries.get(exercise.slug, Entry())
        state = "passed" if entry.passed_at else entry.outcome or "not attempted"
        hints = f"{entry.hints} of {len(exercise.hints)}" if entry.hints else ""
        checks = str(entry.checks or "")
        rows.append((exercise.lesson, exercise.slug, state, checks, hints))
    done = sum(row[2] == "passed" for row in rows)
    return Table(
        head=("lesson", "exercise", "state", "checks", "hints seen"),
        rows=rows,
        footer=f"{done} of {len(rows)} exercises passed, {len(lessons())} lessons",
    )


def reset(slug: str | None = None) -> None:
    """Forget your progress in one exercise, or in all of them.

    What you wrote in the notebooks stays.

    Raises:
        CourseError: there is no exercise of that name.
    """
    kept = Progress()
    kept.forget(list(kept.entries()) if slug is None else [find(slug).slug])
    show(Message(f"Your progress in {slug or 'all exercises'} is forgotten."))
