"""What a learner has done, kept by the exercise's name in the user's data folder.

One small JSON file. When it cannot be read or written, exercises work all the same.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock

from workbook.exercises.catalogue import CourseError, exercises, find, lessons
from workbook.exercises.display import Grid, Notice, show
from workbook.exercises.report import Outcome
from workbook.exercises.your_agent import path_of, state
from workbook.paths import user_data


@dataclass(slots=True)
class Entry:
    """One exercise: the last outcome, how often it was checked, hints seen."""

    outcome: str = ""
    checks: int = 0
    hints: int = 0
    passed_at: str = ""  # the first time, UTC, ISO 8601


def path_of_progress() -> Path:
    return user_data() / "progress.json"


def entries() -> dict[str, Entry]:
    """Return what is known, by slug; a damaged file is set aside, and said so."""
    path = path_of_progress()
    try:
        rows = json.loads(path.read_bytes()).items()
        return {slug: Entry(**row) for slug, row in rows}
    except OSError:  # there is none, or it cannot be reached
        return {}
    except (ValueError, TypeError, AttributeError):
        aside = path.with_name(f"{path.name}.damaged")
        with suppress(OSError):
            os.replace(path, aside)
        title = "The file with your progress could not be read. We begin a new one."
        show(Notice(title, [(" ", f"The old one is kept as {aside}.")]))
        return {}


@contextmanager
def changed() -> Iterator[dict[str, Entry]]:
    """Yield what is known, and keep it as it is afterwards: two kernels may be at it.

    CourseError: the folder cannot be written.
    """
    path = path_of_progress()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_name(".progress.lock")):
            yield (known := entries())
            new = path.with_name(".progress.new")
            rows = {slug: asdict(entry) for slug, entry in known.items()}
            new.write_text(json.dumps(rows, indent=1), encoding="utf-8")
            os.replace(new, path)
    except OSError as error:
        raise CourseError(
            f"Progress could not be kept in {path.parent}: {error.strerror}."
            " Set WORKBOOK_DATA to a folder that you may write to."
        ) from None


def note_check(slug: str, outcome: Outcome) -> None:
    """Note the outcome of a check. What was passed once stays passed."""
    with changed() as known:
        entry = known.setdefault(slug, Entry())
        entry.outcome = str(outcome)
        entry.checks += outcome is not Outcome.NOT_ATTEMPTED
        if outcome is Outcome.PASSED and not entry.passed_at:
            entry.passed_at = datetime.now(UTC).isoformat(timespec="seconds")


def note_hint(slug: str, number: int) -> None:
    """Note up to which number the hints were seen."""
    with changed() as known:
        entry = known.setdefault(slug, Entry())
        entry.hints = max(entry.hints, number)


def progress() -> Grid:
    """Return a table of the exercises and what you have done with them."""
    rows, known = [], entries()
    for slug, exercise in exercises().items():
        entry = known.get(slug, Entry())
        outcome = "passed" if entry.passed_at else entry.outcome or "not attempted"
        hints = f"{entry.hints} of {len(exercise.hints)}" if entry.hints else ""
        checks = str(entry.checks or "")
        rows.append((exercise.lesson[:2], slug, outcome, checks, hints, state(slug)))
    done = sum(row[2] == "passed" for row in rows)
    head = ("lesson", "exercise", "state", "checks", "hints", "agent")
    footer = f"{done} of {len(rows)} exercises passed, in {len(lessons())} notebooks"
    return Grid(head, rows, footer)


def reset(slug: str | None = None) -> str:
    """Set aside your progress in one exercise, or in all, and say where it is.

    Notebooks stay as they are. Parts of your agent, and what was known of your
    progress, go to a folder of their own in `removed`.
    """
    slugs = [find(slug).slug] if slug else [*exercises()]
    what = f"your progress in {slug or 'all exercises'}"
    aside = user_data() / "removed" / f"{datetime.now(UTC):%Y-%m-%d_%H%M%S_%f}"
    with changed() as known:
        before = {name: asdict(known.pop(name)) for name in slugs if name in known}
        paths = [path for path in map(path_of, slugs) if path.exists()]
        if not before and not paths:
            return f"There is nothing of {what}."
        aside.mkdir(parents=True)
        (aside / "progress.json").write_text(json.dumps(before, indent=1), "utf-8")
        for path in paths:
            os.replace(path, aside / path.name)
    return f"Set aside in {aside}: {what}. Your notebooks stay."
