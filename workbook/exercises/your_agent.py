"""Your agent: the functions that passed their checks, where a run uses them."""

import inspect
import linecache
import sys
import traceback
import types
import typing
from pathlib import Path
from typing import Any

from workbook.exercises.catalogue import exercises, find
from workbook.exercises.kept import STALE, Function, folder, load, path_of, run_text
from workbook.exercises.report import clip, describe_error, shorten
from workbook.exercises.time_limit import guarded, time_limit

CALL_LIMIT_S = 5.0  # of computing time, for one call of a part
_broken: dict[tuple[Path, int], str] = {}  # by file and its time: how, in this process


class PartBroken(RuntimeError):  # noqa: N818 - what happened, not an error's name
    """A part of the learner's raised what it may not, or returned what it may not."""


class Part:
    """A function of your agent: yours where it is kept and passes, otherwise ours.

    Once yours breaks, ours takes over: at once, or, `in_a_run`, from the next run on.
    With a `home` the file is there, and used as it is: an exported agent has no ours
    for a part that it holds.
    """

    def __init__(
        self, slug: str, in_a_run: bool = False, home: Path | None = None
    ) -> None:
        self.exercise, self.in_a_run, self.home = find(slug), in_a_run, home
        self.path = (home or folder()) / f"{slug}.py"
        self.calls, self._stamp = 0, 0
        self._loaded: Function | None = None
        self.__wrapped__ = self.exercise.function()  # its signature, for those who look

    @property
    def function(self) -> Function:
        """The function that a call would use."""
        return self._yours() or self.__wrapped__

    @property
    def whose(self) -> str:
        """Whose that is: `"yours"` or `"ours"`."""
        return "ours" if self.function is self.__wrapped__ else "yours"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        try:
            if (function := self._yours()) is not None:
                return self._called(function, args, kwargs)
        except PartBroken as error:
            if not self.home:
                _broken[self.path, self._stamp] = str(error)
            if self.in_a_run:
                raise
            print(f"{error} Ours answers.", file=sys.stderr)
        return self.__wrapped__(*args, **kwargs)

    def __repr__(self) -> str:
        reason = self.broken or (self.path.exists() and STALE.get(self.exercise.slug))
        since = f", since {reason}" if self.whose == "ours" and reason else ""
        return f"<{self.exercise.slug}: {self.whose}{since}>"

    @property
    def broken(self) -> str:
        """How yours broke in this process, if it did."""
        return _broken.get((self.path, self._stamp), "")

    def _yours(self) -> Function | None:
        try:
            stamp = self.path.stat().st_mtime_ns
        except OSError:
            return None
        if stamp != self._stamp:  # solved again, in this kernel or in another
            self._loaded = self._load()
            self._stamp = stamp
        return None if self.broken else self._loaded

    def _load(self) -> Function | None:
        if not self.home:
            return load(self.exercise)
        try:
            text = self.path.read_text(encoding="utf-8")
            return run_text(self.exercise, text, str(self.path))
        except BaseException as error:
            problem = _broke(self.exercise.slug, error, str(self.path))

            def broken(*args: Any, **kwargs: Any) -> Any:
                raise problem

            return broken

    def _called(self, function: Function, args: Any, kwargs: Any) -> Any:
        """Call the learner's function; PartBroken for what its card does not allow."""
        exercise = self.exercise
        try:
            if exercise.calls_back:  # what it calls may take its time
                result = function(*args, **kwargs)
            else:
                with time_limit(CALL_LIMIT_S):
                    result = guarded(function, *args, **kwargs)
        except (KeyboardInterrupt, PartBroken):
            raise
        except BaseException as error:
            kinds = {kind.__name__ for kind in type(error).__mro__}
            file = function.__code__.co_filename
            foreign = exercise.calls_back and _frames(error)[-1][0] != file
            if foreign or kinds & set(exercise.raises):
                raise
            raise _broke(exercise.slug, error, file) from error
        wanted = typing.get_type_hints(self.__wrapped__).get("return")
        if not fits(result, wanted):
            name = inspect.formatannotation(wanted)
            raise PartBroken(
                f"your {exercise.slug} returned {shorten(result, 80)} for"
                f" {clip(', '.join(map(shorten, args)), 160)}; it owes {name}."
            )
        return result


class Parts(dict[str, Function]):
    """Parts by exercise, to be plugged in; `line()` says whose were used."""

    def line(self) -> str:
        """Say which parts have been called since this was last asked, and whose."""
        parts = [p for p in self.values() if isinstance(p, Part) and p.calls]
        said = []
        for whose in ("yours", "ours"):
            names = [p.exercise.slug for p in parts if p.whose == whose]
            said += [f"{whose}: {', '.join(names)}"] if names else []
        broken = [p.broken for p in parts if p.broken]
        for part in parts:
            part.calls = 0
        told = "; ".join(said) or "no part was used"
        return "\n".join([f"parts in this run · {told}", *broken])


def yours(slug: str) -> Part:
    """Return your function where there is one, otherwise ours; its repr says which.

    One that breaks gives way to ours with a line that says where, and the lesson goes
    on.
    """
    return Part(slug)


part = yours  # as a kept file says it


def from_folder(home: Path) -> Parts:
    """Return the parts of an exported agent: those in its folder, else ours."""
    return Parts({slug: Part(slug, True, home) for slug in exercises()})


def your_parts(*slugs: str) -> Parts:
    """Return parts by name, all that there are by default, to be plugged into a run.

    One that breaks ends its run in an error that names its line; the next has ours.
    """
    return Parts({slug: Part(slug, in_a_run=True) for slug in slugs or exercises()})


def state(slug: str) -> str:
    """Say whose function your agent has: yours, ours, or ours while yours is stale."""
    whose = Part(slug).whose
    return "stale" if whose == "ours" and path_of(slug).exists() else whose


def _broke(slug: str, error: BaseException, file: str) -> PartBroken:
    """Return the error that says which part broke, in which line, and how."""
    lines = [number for name, number in _frames(error) if name == file]
    if isinstance(error, SyntaxError) and error.filename == file:
        lines = [error.lineno or 1]
    where = ""
    if lines:
        text = clip(linecache.getline(file, lines[-1]).strip(), 80)
        where = f" in line {lines[-1]} of {Path(file).name} (`{text}`)"
    return PartBroken(f"your {slug} broke{where}: {describe_error(error)}.")


def _frames(error: BaseException) -> list[tuple[str, int]]:
    """Return the file and the line of each frame of a traceback, the innermost last."""
    frames = traceback.walk_tb(error.__traceback__)
    return [(frame.f_code.co_filename, line) for frame, line in frames]


def fits(value: object, wanted: Any) -> bool:
    """Whether a value is of a type, as far as a look at the outside can tell.

    >>> fits("88", str), fits(None, str | None), fits([], list[str]), fits(1, str)
    (True, True, True, False)
    """
    if isinstance(wanted, types.UnionType) or typing.get_origin(wanted) is typing.Union:
        return any(fits(value, each) for each in typing.get_args(wanted))
    if typing.get_origin(wanted) is typing.Literal:
        return value in typing.get_args(wanted)
    kind = typing.get_origin(wanted) or (type(None) if wanted is None else wanted)
    kind = int | float if kind is float else kind
    checked = isinstance(kind, type | types.UnionType) and kind is not Any
    return not checked or isinstance(value, kind)
