"""What a learner has done, kept by the exercise's name in the user's data folder.

One small JSON file, replaced as a whole. It is a convenience: when it cannot be read or
written, an exercise works all the same.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from workbook.exercises.catalogue import CourseError, exercises, find, lessons
from workbook.exercises.display import Message, Table, show
from workbook.exercises.report import Outcome
from workbook.paths import user_data


@dataclass(frozen=True, slots=True)
class Entry:
    """One exercise: the last outcome, how often it was checked, hints seen."""

    outcome: str = ""
    checks: int = 0
    hints: int = 0
    passed_at: str = ""  # the first time, UTC, ISO 8601


Entries = dict[str, Entry]
"""What is known, by the exercise's slug."""


class Progress:
    """The file. Each change reads it afresh, under a lock: two kernels may be at it."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or user_data() / "progress.json"

    def entries(self) -> Entries:
        """Return what is known, by slug.

        A damaged file is set aside as `progress.json.damaged`, and said so.
        """
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError) as error:
            return self._damaged(str(error))
        try:
            return {slug: _entry(row) for slug, row in json.loads(text).items()}
        except (ValueError, TypeError, AttributeError) as error:
            return self._damaged(str(error))

    def get(self, slug: str) -> Entry:
        """Return what is known of one exercise."""
        return self.entries().get(slug, Entry())

    def checked(self, slug: str, outcome: Outcome) -> None:
        """Note the outcome of a check. What was passed once stays passed."""

        def noted(entry: Entry) -> Entry:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            return replace(
                entry,
                outcome=str(outcome),
                checks=entry.checks + (outcome is not Outcome.NOT_ATTEMPTED),
                passed_at=entry.passed_at or (now if outcome is Outcome.PASSED else ""),
            )

        self._change(
            lambda entries: entries | {slug: noted(entries.get(slug, Entry()))}
        )

    def hint_seen(self, slug: str, number: int) -> None:
        """Note that the first `number` hints have been seen."""
        self._change(
            lambda entries: (
                entries | {slug: replace(entries.get(slug, Entry()), hints=number)}
            )
        )

    def forget(self, slugs: Sequence[str]) -> None:
        """Forget these exercises."""
        self._change(lambda entries: {s: entries[s] for s in entries if s not in slugs})

    def _change(self, change: Callable[[Entries], Entries]) -> None:
        """Read, change and write, while no other kernel does the same."""
        from filelock import FileLock

        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(self.path.with_name(".progress.lock")):
                before = self.entries()
                after = change(before)
                if after != before:
                    self._write(after)
        except OSError as error:
            raise CourseError(
                f"Progress could not be kept in {self.path.parent}: {error.strerror}."
                " Set WORKBOOK_DATA to a folder that you may write to."
            ) from None

    def _write(self, entries: Entries) -> None:
        text = json.dumps({slug: asdict(e) for slug, e in entries.items()}, indent=1)
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=".progress-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, self.path)

    def _damaged(self, reason: str) -> Entries:
        aside = self.path.with_name(self.path.name + ".damaged")
        try:
            os.replace(self.path, aside)
        except OSError:
            aside = self.path
        show(
            Message(
                "The file with your progress could not be read; a new one is begun.",
                [f"{reason}", f"The old one is kept as {aside}."],
            )
        )
        return {}


def _entry(row: dict[str, Any]) -> Entry:
    known = {name: row[name] for name in Entry.__slots__ if name in row}
    entry = Entry(**known)
    words, numbers = (entry.outcome, entry.passed_at), (entry.checks, entry.hints)
    if not all(isinstance(word, str) for word in words) or not all(
        isinstance(number, int) and number >= 0 for number in numbers
    ):
        raise ValueError(f"not an entry: {row!r}")
    return entry


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
    if slug is None:
        Progress().forget(list(Progress().entries()))
        show(Message("Your progress in all exercises is forgotten."))
        return
    Progress().forget([find(slug).slug])
    show(Message(f"Your progress in {slug} is forgotten."))
