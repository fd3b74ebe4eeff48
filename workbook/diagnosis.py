"""What is installed, which model is in use, and how to fix what is not well.

Each question returns a row, broken if a lesson would not run. None shows a key.
"""

import platform
import sys
import tempfile
from collections.abc import Iterator
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import InvalidRequirement, Requirement

from workbook.checks.display import GREEN, Grid, Notice
from workbook.pages import style_page
from workbook.paths import ROOT, user_data

PROJECT = "react-workbook"
INSTALL = "pip install -r requirements.txt"
WELL = "Every lesson will run."


def about(*packages: str) -> str:
    """Return the versions of Python, the workbook and `packages`, and the model."""
    from workbook.choice import describe_model
    from workbook.stage.shown import show_traces_as_tables

    show_traces_as_tables()  # what a notebook's first cell calls
    style_page()
    names = (PROJECT, *packages)
    parts = [f"{name} {_installed(name) or 'not installed'}" for name in names]
    return " · ".join([f"Python {platform.python_version()}", *parts, describe_model()])


class Health(StrEnum):
    WELL = "ok"
    NOTE = "note"
    BROKEN = "not well"


class Row(NamedTuple):
    """One thing that was looked at, and how to fix it."""

    what: str
    health: Health
    found: str
    fix: str = ""


def rows() -> list[Row]:
    """Look at all that the lessons need."""
    version = f"{platform.python_version()}, {sys.executable}"  # pip takes no older one
    found = [Row("Python", Health.WELL, version), packages(), lesson_files()]
    return [*found, model("model in use"), model("local model", "local"), progress()]


def doctor() -> Grid | Notice:
    """Show what has a fix, of all that the lessons need; one line if nothing has."""
    found = [row for row in rows() if row.fix]
    return as_table(found) if found else Notice(WELL, colour=GREEN)


def as_table(found: list[Row]) -> Grid:
    """Return rows as a table with a verdict below it."""
    broken = sum(row.health is Health.BROKEN for row in found)
    stops = f"{broken} of these would stop a lesson: see the last column."
    return Grid(
        ("what", "state", "found", "what to do"), found, stops if broken else WELL
    )


def packages(lock: Path = ROOT / "requirements.txt") -> Row:
    """Is what the lessons import installed, and in the versions of the tests?"""
    if _installed(PROJECT) is None:
        return Row("packages", Health.BROKEN, f"{PROJECT} is not installed", INSTALL)
    needed = list(_requirements(metadata.requires(PROJECT) or []))
    locked = lock.read_text(encoding="utf-8") if lock.is_file() else ""
    pins = list(_requirements(locked.splitlines()))
    if problems := list(filter(None, map(_problem, needed))):
        return Row("packages", Health.BROKEN, "; ".join(problems), INSTALL)
    if other := list(filter(None, map(_problem, pins))):
        found = "; ".join(other[:4]) + ("; …" if len(other) > 4 else "")
        fix = f"nothing, unless a lesson fails; then {INSTALL}"
        return Row("packages", Health.NOTE, f"other than tested: {found}", fix)
    well = f"all {len(needed)} that lessons import, {len(pins)} versions as tested"
    return Row("packages", Health.WELL, well)


def _requirements(lines: list[str]) -> Iterator[Requirement]:
    """Yield what is for this machine and no extra."""
    for line in lines:
        try:
            requirement = Requirement(line.partition("#")[0].strip())
        except InvalidRequirement:
            continue  # an option, a comment, an editable install
        if not requirement.marker or requirement.marker.evaluate({"extra": ""}):
            yield requirement


def _problem(requirement: Requirement) -> str:
    name, wanted = requirement.name, requirement.specifier
    if (found := _installed(name)) is None:
        return f"{name} is missing"
    fits = wanted.contains(found, prereleases=True)
    return "" if fits else f"{name} is {found}, needs {wanted}"


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def lesson_files() -> Row:
    """Are the notebooks, the tests and the data next to the package?"""
    missing = [n for n in ("notebooks", "tests", "data") if not (ROOT / n).is_dir()]
    if missing:
        fix = "clone the whole repository and run pip install -e . in it"
        found = f"no {', '.join(missing)} in {ROOT}"
        return Row("lessons", Health.BROKEN, found, fix)
    count = len(list((ROOT / "notebooks").rglob("[0-9]*.ipynb")))
    return Row("lessons", Health.WELL, f"{count} notebooks in {ROOT}")


def model(what: str, name: str | None = None) -> Row:
    """Can a model be asked, the chosen one or that of the name?"""
    from workbook.choice import model_health

    well, found, fix = model_health(name)
    state = Health.NOTE if fix else Health.WELL
    return Row(what, state if well else Health.BROKEN, found, fix)


def progress() -> Row:
    """Can progress be kept?"""
    folder = user_data()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return Row("progress", Health.WELL, f"kept in {folder}")
    except OSError as error:
        fix = "set WORKBOOK_DATA to a folder that you may write to"
        found = f"cannot be kept in {folder}: {error.strerror}"
        return Row("progress", Health.NOTE, found, fix)
