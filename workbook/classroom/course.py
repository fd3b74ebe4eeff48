"""A course's rules for marks, read from a TOML file.

What each exercise is worth, when it is due, and what a late day costs. It knows no
learner. `data/classroom/course.toml` shows every key.
"""

import difflib
import math
import tomllib
from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from workbook.exercises.catalogue import CourseError, exercises, lessons
from workbook.exercises.report import Outcome, Report

Worth = Annotated[float, Field(ge=0, le=10_000)]
Share = Annotated[float, Field(ge=0, le=1, description="a share: 0.1 is 10 %")]
Due = datetime | date
ZONE = "write it with its offset, 2026-12-01T23:59:00+01:00, or add timezone"


class Course(BaseModel):
    """The rules; without a file, one point an exercise and no due date."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
    assignment: Annotated[str, Field(min_length=1)] = "ReAct workbook"
    timezone: str = ""  # IANA's name; for dates that are written without an offset
    lessons: Annotated[list[str], Field(min_length=1)] | None = None  # that count
    points: Worth = 1.0  # of an exercise
    weights: dict[str, Worth] = {}  # by exercise or lesson: times so much
    out_of: Annotated[float, Field(gt=0)] | None = None  # what the total is scaled to
    all_or_nothing: bool = False
    due: Due | dict[str, Due] | None = None
    late_penalty: Share = 0.0  # of the points, for each day begun
    late_maximum: Share = 1.0  # of the points, in all

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, name: str) -> str:
        try:
            return name and ZoneInfo(name).key
        except (OSError, ValueError, KeyError):
            raise ValueError("no such time zone; one is Europe/Berlin") from None

    @field_validator("lessons", "weights", "due")
    @classmethod
    def _known_slugs(cls, named: Any, info: Any) -> Any:
        if named is None or isinstance(named, date):
            return named
        known = [*lessons(), *(exercises() if info.field_name == "weights" else ())]
        for slug in set(named) - {*known}:
            near = difflib.get_close_matches(slug, known, 1, 0.5)
            guess = f"did you mean {near[0]}?" if near else ", ".join(lessons())
            raise ValueError(f"there is no {slug!r}: {guess}")
        return named

    @field_validator("due")
    @classmethod
    def _in_a_zone(cls, due: Any, info: Any) -> Any:
        """Make each an instant: a date without a time ends with its day."""
        if isinstance(due, dict):
            return {slug: cls._in_a_zone(one, info) for slug, one in due.items()}
        if due is None:
            return None
        if not isinstance(due, datetime):
            due = datetime.combine(due, time.max)
        if due.tzinfo is None and not (zone := info.data.get("timezone")):
            raise ValueError(f'in which time zone? {ZONE} = "Europe/Berlin"')
        return due if due.tzinfo else due.replace(tzinfo=ZoneInfo(zone))

    def due_at(self, lesson: str) -> datetime | None:
        """Return when a lesson is due, as an instant."""
        due = self.due.get(lesson) if isinstance(self.due, dict) else self.due
        return due if isinstance(due, datetime) else None

    def days_late(self, lesson: str, handed_in: str) -> int:
        """Return the days begun after it was due; 0 where the time is not known."""
        due, at = self.due_at(lesson), instant(handed_in)
        late_s = (at - due).total_seconds() if due and at else 0.0
        return max(0, math.ceil(late_s / 86_400))

    def penalty(self, days: int) -> float:
        """Return the share of the points that so many days cost."""
        return min(days * self.late_penalty, self.late_maximum)

    def worth(self, slugs: Iterable[str]) -> dict[str, float]:
        """Return the most that each of these exercises can bring, in points."""
        worth = {}
        for slug in slugs:
            of_lesson = self.weights.get(exercises()[slug].lesson, 1.0)
            worth[slug] = self.points * of_lesson * self.weights.get(slug, 1.0)
        total = sum(worth.values())
        scale = self.out_of / total if self.out_of and total else 1.0
        return {slug: points * scale for slug, points in worth.items()}

    def share(self, report: Report) -> float:
        """Return how much of an exercise is solved, from 0 to 1."""
        if self.all_or_nothing:
            return float(report.outcome is Outcome.PASSED)
        return report.passed / report.total if report.total else 0.0


def instant(text: str) -> datetime | None:
    """Return the time that an ISO 8601 text tells (UTC unless it says), or None."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def read_course(path: Path) -> Course:
    """Read a course's TOML; a `CourseError` names the key and what is allowed."""
    try:
        return Course(**tomllib.loads(path.read_text(encoding="utf-8-sig")))
    except OSError as error:
        why = f"it cannot be read ({error.strerror})"
    except UnicodeDecodeError:
        why = "it is not UTF-8; save it as UTF-8"
    except tomllib.TOMLDecodeError as error:
        why = f"it is not TOML: {error}"
    except ValidationError as error:
        why = "; ".join(dict.fromkeys(map(_in_words, error.errors())))
    raise CourseError(f"{path}: {why}. data/classroom/course.toml shows every key.")


def _in_words(error: Any) -> str:
    """Say what is wrong with a key, with what value, and what is allowed."""
    key, *inner = error["loc"]
    if error["type"] == "extra_forbidden":
        return f"unknown key {key}; allowed are {', '.join(Course.model_fields)}"
    what = error["msg"].removeprefix("Value error, ")
    if key == "due" and error["type"] != "value_error":
        what = f"a date without quotes; {ZONE}"
    if hint := Course.model_fields[key].description:
        what += f" ({hint})"
    slugs = [part for part in inner if part in {*lessons(), *exercises()}]
    return f"{'.'.join([key, *slugs])}: {what}; it is {error['input']!r}"
