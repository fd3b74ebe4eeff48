"""Your agent: the functions that passed their checks, where a run uses them.

A part is a file in the user's data folder, named by its exercise. The notebooks are the
truth; the folder can be made again from them. A file's first line says which tests it
passed: after a change of the tests, or of the file, it has to pass once more.
"""

import hashlib
import inspect
import os
import sys
import traceback
import types
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbook.exercises.answer import run_text
from workbook.exercises.catalogue import CourseError, Exercise, exercises, find
from workbook.exercises.display import once_a_cell, tell_ours
from workbook.exercises.report import (
    Outcome,
    clip,
    describe_error,
    error_place,
    shorten,
)
from workbook.exercises.worker import tested
from workbook.paths import user_data

Function = Callable[..., Any]
_loaded: dict[tuple[Path, int], tuple[Function | None, str]] = {}
"""By file and its time: the function, or None, and why it is not used."""
NAMED = 3  # parts that a line names; of more it says how many


class PartBroken(RuntimeError):  # noqa: N818 - what happened, not an error's name
    """A part of the learner's raised what it may not, or returned what it may not."""

    def __init__(self, slug: str, why: str) -> None:
        super().__init__(f"your {slug} {why}")
        self.slug = slug


def folder() -> Path:
    """Return where the parts are kept: a file each, that a person can read."""
    return user_data() / "your_agent"


def path_of(slug: str) -> Path:
    return folder() / f"{slug}.py"


def write(exercise: Exercise, text: str) -> None:
    """Keep an answer that has passed.

    CourseError: the folder cannot be written.
    """
    path = path_of(exercise.slug)
    new = folder() / f".{exercise.slug}.{os.getpid()}.new"  # each process its own
    try:
        folder().mkdir(parents=True, exist_ok=True)
        new.write_text(f"{seal(exercise, text)}{text}", encoding="utf-8")
        os.replace(new, path)
    except OSError as error:
        raise CourseError(
            f"{exercise.slug} passed, and could not be kept in {folder()}:"
            f" {error.strerror}. Set WORKBOOK_DATA to a folder that you may write to."
        ) from None


def seal(exercise: Exercise, text: str) -> str:
    """Return the first line of a kept file: which tests passed on which text."""
    checked = exercise.tests_path.read_bytes() + text.encode()
    digest = hashlib.sha256(checked).hexdigest()[:16]
    lesson = exercise.lesson[:2]
    return f"# {exercise.slug}, lesson {lesson}, passed its tests: {digest}\n"


class Part:
    """A function of your agent: yours where it is kept and passes, otherwise ours.

    Once yours breaks, ours takes over: at once, or, `in_a_run`, from the next run on.
    """

    def __init__(self, slug: str, in_a_run: bool = False) -> None:
        self.exercise, self.in_a_run, self.calls = find(slug), in_a_run, 0
        self.path = path_of(slug)
        self.__wrapped__ = self.exercise.function()  # its signature, for those who look

    @property
    def function(self) -> Function:
        """The function that a call would use."""
        return self._yours()[0] or self.__wrapped__

    @property
    def whose(self) -> str:
        """Whose that is: `"yours"` or `"ours"`."""
        return "yours" if self._yours()[0] else "ours"

    @property
    def problem(self) -> str:
        """Why yours is not used, although it was kept; "" where it is, or is none."""
        return self._yours()[1]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        if function := self._yours()[0]:
            try:
                return self._called(function, args, kwargs)
            except PartBroken as error:
                if error.slug != self.exercise.slug:  # a part that this one calls
                    raise
                _loaded[self._key()] = None, str(error)
                if self.in_a_run:
                    raise
                print(f"{error} Ours answers.", file=sys.stderr)
        return self.__wrapped__(*args, **kwargs)

    def __repr__(self) -> str:
        since = f", since {self.problem}" if self.problem else ""
        return f"<{self.exercise.slug}: {self.whose}{since}>"

    def _key(self) -> tuple[Path, int]:
        return self.path, self.path.stat().st_mtime_ns if self.path.exists() else 0

    def _yours(self) -> tuple[Function | None, str]:
        """Return the function that is kept, or why it is not used."""
        key = self._key()
        if key not in _loaded:
            _loaded[key] = self._read() if key[1] else (None, "")
        return _loaded[key]

    def _read(self) -> tuple[Function | None, str]:
        """Return the function in the file; tested again where its seal is broken."""
        exercise = self.exercise
        try:
            first, _, text = self.path.read_text(encoding="utf-8").partition("\n")
            if f"{first}\n" != seal(exercise, text):
                report = tested(exercise, text)
                if report.outcome is not Outcome.PASSED:
                    return None, f"it does not pass: {report.failures[0].requirement}"
                write(exercise, text)
            # The first line stays, so that a line's number is that of the file.
            return run_text(exercise.slug, f"{first}\n{text}", str(self.path)), ""
        except (Exception, SystemExit) as error:
            return None, describe_error(error)

    def _called(self, function: Function, args: Any, kwargs: Any) -> Any:
        """Call the learner's function; PartBroken for what its card does not allow."""
        exercise, file = self.exercise, str(self.path)
        try:
            result = function(*args, **kwargs)
        except (KeyboardInterrupt, PartBroken):
            raise
        except BaseException as error:
            last = traceback.extract_tb(error.__traceback__)[-1].filename
            kinds = [kind.__name__ for kind in type(error).__mro__]
            if (exercise.calls_back and last != file) or {*kinds} & {*exercise.raises}:
                raise
            place = error_place(error, file)
            where = f" in {place}" if place else ""
            why = f"broke{where} ({describe_error(error)})."
            raise PartBroken(exercise.slug, why) from error
        wanted = typing.get_type_hints(self.__wrapped__).get("return")
        if not fits(result, wanted):
            given = clip(", ".join(map(shorten, args)), 160)
            why = f"returned {shorten(result, 80)} for {given}; it has to return"
            form = inspect.formatannotation(wanted)
            raise PartBroken(exercise.slug, f"{why} {form}.")
        return result


class Parts(dict[str, Function]):
    """Parts by exercise, to be plugged in; `line()` says whose were used."""

    def line(self) -> str:
        """Say whose the parts are that were called since this was last asked.

        It says nothing where the cell has said already that all of them are ours.
        """
        parts = [p for p in self.values() if isinstance(p, Part) and p.calls]
        names = {
            whose: [p.exercise.slug for p in parts if p.whose == whose]
            for whose in ("yours", "ours")
        }
        only_ours = names["ours"] and not names["yours"]
        told_above = only_ours and not once_a_cell(*names["ours"])
        told = [f"{who}: {_named(slugs)}" for who, slugs in names.items() if slugs]
        lines = [f"parts in this run · {'; '.join(told) or 'no part was used'}"]
        lines = [] if told_above else lines
        lines += [f"{p.exercise.slug}: {p.problem}" for p in parts if p.problem]
        for each in parts:
            each.calls = 0
        return "\n".join(lines)


def _named(slugs: list[str]) -> str:
    return ", ".join(slugs) if len(slugs) <= NAMED else f"{len(slugs)} parts"


def yours(slug: str) -> Part:
    """Return your function where there is one, otherwise ours, and say so.

    One that breaks gives way to ours with a line that says where, and the lesson goes
    on.
    """
    found = Part(slug)
    if found.whose == "ours":
        tell_ours(slug)
    return found


part = Part  # the same, and says nothing: as a kept file asks for it


def your_parts(*slugs: str) -> Parts:
    """Return parts by name, all that there are by default, to be plugged into a run.

    Those that are named and ours are told. One that breaks ends its run in an error
    that names its line; the next has ours.
    """
    parts = {slug: Part(slug, in_a_run=True) for slug in slugs or exercises()}
    tell_ours(*(slug for slug in slugs if parts[slug].whose == "ours"))
    return Parts(parts)


def state(slug: str) -> str:
    """Say whose function your agent has: yours, ours, or ours while yours is stale."""
    part = Part(slug)
    return "stale" if part.problem else part.whose


def fits(value: object, wanted: Any) -> bool:
    """Whether a value is of a type, as far as a look at the outside can tell.

    >>> fits(3, float), fits(None, str | None), fits([1], list[str]), fits(1, str)
    (True, True, True, False)
    """
    is_union = isinstance(wanted, types.UnionType)
    kind = wanted if is_union else typing.get_origin(wanted) or wanted
    try:
        return isinstance(value, int | float if kind is float else kind)
    except TypeError:  # of a Literal it cannot
        return True
