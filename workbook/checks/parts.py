"""The parts of your agent: a file for each function that passed its check.

The lessons call a function by its name. Until yours has passed they get ours, and one
that breaks what its card promises gives way to ours, with a line that names the place.
"""

import inspect
import os
import sys
import traceback
import types
import typing
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from workbook.checks.answer import as_module
from workbook.checks.catalogue import CourseError, exercises, find, lessons
from workbook.checks.display import Grid, once_a_cell, say_ours
from workbook.checks.evidence import error_place, in_words, shown
from workbook.paths import user_data

Function = Callable[..., Any]
ROLES = "writes the prompt", "reads the turn", "decides", "acts", "doubts", "looks back"
PRACTICE = "for practice"  # an exercise that is no part of the agent
NAMED = 3  # parts that a line names; of more it says how many


class PartBroken(RuntimeError):  # noqa: N818 - what happened, not an error's name
    """A part of the learner's raised what it may not, or returned what it may not."""

    def __init__(self, slug: str, why: str) -> None:
        super().__init__(f"your {slug} {why}")
        self.slug = slug


def path_of(slug: str) -> Path:
    """Return the file of a part, which a person can read."""
    return user_data() / "your_agent" / f"{slug}.py"


def keep(slug: str, text: str) -> None:
    """Keep an answer that has passed. CourseError: the folder cannot be written."""
    path = path_of(slug)
    new = path.with_name(f".{slug}.{os.getpid()}.new")  # each process its own
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(text, encoding="utf-8")
        os.replace(new, path)
    except OSError as error:
        raise CourseError(
            f"{slug} passed, and could not be kept in {path.parent}: {error.strerror}."
            " Set WORKBOOK_DATA to a folder that you may write to."
        ) from None


class Part:
    """A function of your agent: yours if one is kept, until it breaks; then ours."""

    def __init__(self, slug: str, in_a_run: bool = False) -> None:
        self.exercise, self.in_a_run, self.calls = find(slug), in_a_run, 0
        self.path = path_of(slug)
        self.__wrapped__ = self.exercise.function()  # its signature, for those who look

    def kept(self) -> list[Any]:
        """Return yours, or None, and why it is not used; what breaks is noted there."""
        there = self.path.exists()
        return _kept(self.path, self.path.stat().st_mtime_ns if there else 0)

    @property
    def whose(self) -> str:
        """Whose that is: `"yours"` or `"ours"`."""
        return "yours" if self.kept()[0] else "ours"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        kept = self.kept()
        if kept[0]:
            try:
                return self._called(kept[0], args, kwargs)
            except PartBroken as error:
                if error.slug != self.exercise.slug:  # a part that this one calls
                    raise
                kept[:] = None, str(error)
                if self.in_a_run:
                    raise
                print(f"{error} Ours answers.", file=sys.stderr)
        return self.__wrapped__(*args, **kwargs)

    def _called(self, function: Function, args: Any, kwargs: Any) -> Any:
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
            why = f"broke{where} ({in_words(error)})."
            raise PartBroken(exercise.slug, why) from error
        wanted = typing.get_type_hints(self.__wrapped__).get("return")
        if not fits(result, wanted):
            given = ", ".join(shown(each, 80) for each in args)
            form = inspect.formatannotation(wanted)
            why = f"returned {shown(result, 80)} for {given}; it has to return {form}."
            raise PartBroken(exercise.slug, why)
        return result


@cache
def _kept(path: Path, changed_ns: int) -> list[Any]:
    try:
        text = path.read_text(encoding="utf-8") if changed_ns else ""
        return [as_module(path.stem, text, str(path)) if text else None, ""]
    except (Exception, SystemExit) as error:
        return [None, in_words(error)]


class Parts(dict[str, Function]):
    """Parts by exercise, for a run; `line()` says whose were used."""

    def line(self) -> str:
        """Say whose parts were called since the last time; all ours, once a cell."""
        parts = [p for p in self.values() if isinstance(p, Part) and p.calls]
        lines, used = list[str](), list[str]()
        for whose in ("yours", "ours"):
            names = [part.exercise.slug for part in parts if part.whose == whose]
            few = ", ".join(names) if len(names) <= NAMED else f"{len(names)} parts"
            used += [f"{whose}: {few}"] if names else []
        if used[:1] != [f"ours: {few}"] or once_a_cell(*names):
            lines.append(f"parts in this run · {'; '.join(used) or 'no part was used'}")
        for each in parts:
            each.calls = 0
            lines += [f"{each.exercise.slug}: {why}" for why in each.kept()[1:] if why]
        return "\n".join(lines)


def yours(slug: str) -> Part:
    """Return your function where there is one, otherwise ours, and say so."""
    found = Part(slug)
    if found.whose == "ours":
        say_ours(slug)
    return found


part = Part  # the same, and says nothing: as a kept file asks for it


def your_parts(*slugs: str) -> Parts:
    """Return parts by name, by default all, for a run; one that breaks ends it."""
    parts = {slug: Part(slug, in_a_run=True) for slug in slugs or exercises()}
    say_ours(*(slug for slug in slugs if parts[slug].whose == "ours"))
    return Parts(parts)


def state(slug: str) -> str:
    """Say whose function your agent has: yours, ours, or ours since yours is broken."""
    function, problem = Part(slug).kept()
    return "broken" if problem else "yours" if function else "ours"


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


def your_agent(lesson: str | int = "") -> Grid:
    """Return the parts, of one lesson ("05" or 5) or all, and whose each is.

    Of a lesson without a part its exercises are shown.
    """
    number = "" if lesson == "" else f"{lesson:0>2}"
    own = [e for e in exercises().values() if e.lesson.startswith(number)]
    chosen, rows = [e for e in own if e.role] or own, []
    words = {"yours": "★ {}", "broken": "! {}, which broke"}
    for role in (*ROLES, PRACTICE):
        states = {e.slug: state(e.slug) for e in chosen if (e.role or PRACTICE) == role}
        found = [(words.get(whose, ""), slug) for slug, whose in states.items()]
        kept = ", ".join(word.format(slug) for word, slug in found if word)
        ours = ", ".join(slug for word, slug in found if not word)
        rows += [(role, kept, ours)] if found else []
    counted = [e for e in exercises().values() if e.role] if chosen[0].role else chosen
    count = [state(each.slug) for each in counted].count("yours")
    what = "parts are yours" if chosen[0].role else "checks passed"
    footer = f"your agent: {count} of {len(counted)} {what}"
    return Grid(("in a step", "★ yours", "· not written yet: ours runs"), rows, footer)


def progress() -> Grid:
    """Return a table of the exercises, and which of them you have passed."""
    words = {"yours": "passed", "ours": "not passed yet", "broken": "passed, and broke"}
    rows = [
        (each.lesson[:2], slug, each.title, words[state(slug)])
        for slug, each in exercises().items()
    ]
    done = sum(row[-1] == "passed" for row in rows)
    footer = f"{done} of {len(rows)} exercises passed, in {len(lessons())} notebooks"
    return Grid(("lesson", "exercise", "what it is", "state"), rows, footer)
