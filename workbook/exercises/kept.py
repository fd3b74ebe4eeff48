"""The files of your agent's parts: one a function, named by its exercise.

The notebooks are the truth; this folder can be made again from them. What a file holds
is checked before it is used: after a change of its tests, or of the file itself, it has
to pass once more.
"""

import hashlib
import inspect
import linecache
import os
import sys
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from workbook.exercises.catalogue import CourseError, Exercise, exercises, find
from workbook.exercises.report import Outcome, describe_error
from workbook.exercises.source import self_contained
from workbook.exercises.time_limit import TimeUp, guarded, time_limit
from workbook.paths import user_data

Function = Callable[..., Any]
LOAD_LIMIT_S = 5.0  # of computing time, to read a part
STALE: dict[str, str] = {}  # by exercise: why the file that is kept is not used


def folder() -> Path:
    """Return where the parts are kept: a file each, that a person can read."""
    return user_data() / "your_agent"


def path_of(slug: str) -> Path:
    return folder() / f"{slug}.py"


def keep(slug: str, cells: Sequence[str]) -> str:
    """Keep the function that the last of the cells defines; return why not, or "".

    What is kept has passed as it stands in the file, apart from the notebook.
    """
    exercise = find(slug)
    try:
        text = self_contained(cells, slug, set(exercises()) - {slug})
        function = run_text(exercise, text, f"<{slug}, apart from its notebook>")
        problem = _problem(exercise, function)
        if not problem:
            write(exercise, text)
    except CourseError as error:
        return str(error)
    except (LookupError, SyntaxError) as error:
        problem = str(error)
    except (Exception, SystemExit, TimeUp) as error:
        problem = describe_error(error)
    if problem:
        return (
            f"{slug} works here, and could not be kept for later lessons:"
            f" {problem.rstrip('.')}. Write whatever it uses whole, in one place: a"
            " later line that changes it is not kept."
        )
    return ""


def write(exercise: Exercise, text: str) -> None:
    """Write a part's file, with what it was checked against in its first line."""
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


def load(exercise: Exercise) -> Function | None:
    """Return the function that is kept, if it passes; None when there is none."""
    path = path_of(exercise.slug)
    try:
        text = path.read_text(encoding="utf-8")
        first, _, body = text.partition("\n")
        function = run_text(exercise, text, str(path))
        if f"{first}\n" == seal(exercise, body):
            return function
        problem = _problem(exercise, function)
    except (Exception, SystemExit, TimeUp) as error:
        problem = describe_error(error)
    if problem:
        STALE[exercise.slug] = problem
        return None
    write(exercise, body)
    return function


def cells_of(function: Function) -> list[str]:
    """Return the cells that were run up to now, or the file that a function is in."""
    home = getattr(inspect.unwrap(function), "__globals__", {})
    ipython = sys.modules.get("IPython")
    if ipython and (shell := ipython.get_ipython()) and home is shell.user_ns:
        return list(shell.history_manager.input_hist_raw)
    try:
        path = inspect.getsourcefile(inspect.unwrap(function)) or ""
        return ["".join(linecache.getlines(path))]
    except TypeError:
        return []


def run_text(exercise: Exercise, text: str, name: str) -> Function:
    """Run the text of a part as a module, and return its function."""
    module = types.ModuleType(f"your_agent.{exercise.slug}")
    sys.modules[module.__name__] = module  # dataclasses look there
    if Path(name).exists():
        linecache.checkcache(name)
    else:
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    with time_limit(LOAD_LIMIT_S):
        guarded(exec, compile(text, name, "exec"), module.__dict__)
    function: Function = getattr(module, exercise.slug)
    return function


def _problem(exercise: Exercise, function: Function) -> str:
    """Return what its tests find, in a line; nothing where it passes."""
    from workbook.exercises.grade import grade

    report = grade(exercise, function)
    if report.outcome is Outcome.PASSED:
        return ""
    first = report.failures[0] if report.failures else None
    raised = dict(first.evidence).get("raised", "") if first else ""
    return f"{first.requirement if first else report.outcome}. {raised}".strip()


def seal(exercise: Exercise, body: str) -> str:
    """Return the first line of a kept file: which tests passed on which text."""
    checked = exercise.tests_path.read_bytes() + body.encode()
    digest = hashlib.sha256(checked).hexdigest()[:16]
    return (
        f"# {exercise.slug}, lesson {exercise.lesson[:2]}, passed its tests: {digest}\n"
    )
