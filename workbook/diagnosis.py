"""What is installed, which model is in use, and what to do about what is not well.

Each question is a small function that returns rows of one table. A row that fails means
that a lesson would not run; what is optional is never more than a note. The value of a
key is never read into a row.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import Version

from workbook.exercises.display import Shown, Table
from workbook.paths import ROOT, user_cache, user_data

PROJECT = "react-workbook"
PYTHON = Version("3.11")
INSTALL = "pip install -r requirements.txt"


def about(*packages: str) -> str:
    """Return the versions of Python, the workbook and `packages`, and the model.

    >>> about().startswith("Python 3")
    True
    """
    from workbook.models.choice import describe_model

    parts = [f"Python {platform.python_version()}"]
    for name in (PROJECT, *packages):
        parts.append(f"{name} {_installed(name) or 'not installed'}")
    return " · ".join([*parts, describe_model()])


class Health(StrEnum):
    """How a row is."""

    WELL = "ok"
    NOTE = "note"
    BROKEN = "not well"


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that was looked at, and how to mend it."""

    what: str
    health: Health
    found: str
    fix: str = ""


@dataclass(frozen=True, repr=False)
class Diagnosis(Shown):
    """All rows. It shows itself as a table."""

    rows: Sequence[Row]

    @property
    def well(self) -> bool:
        """Whether every lesson would run."""
        return all(row.health is not Health.BROKEN for row in self.rows)

    def _table(self) -> Table:
        broken = sum(row.health is Health.BROKEN for row in self.rows)
        verdict = "Every lesson will run."
        if broken:
            verdict = f"{broken} of these would stop a lesson: see the last column."
        return Table(
            head=("what", "state", "found", "what to do"),
            rows=[(row.what, row.health, row.found, row.fix) for row in self.rows],
            footer=verdict,
        )

    def __str__(self) -> str:
        return str(self._table())

    def _repr_html_(self) -> str:
        return self._table()._repr_html_()


def doctor() -> Diagnosis:
    """Look at everything that a lesson needs."""
    questions = (python, packages, lock, lesson_files, chosen_model, api_key)
    more = (local_model, data_is_writable, browser)
    return Diagnosis([question() for question in (*questions, *more)])


def _row(
    what: str, well: str, problem: str, fix: str, health: Health = Health.BROKEN
) -> Row:
    """Return a row that is well where there is no problem."""
    return Row(what, health, problem, fix) if problem else Row(what, Health.WELL, well)


def python() -> Row:
    """Is Python new enough?"""
    found = Version(platform.python_version())
    problem = f"{found}, needs {PYTHON}" if found < PYTHON else ""
    fix = f"install Python {PYTHON} or newer and make a new environment with it"
    return _row("Python", str(found), problem, fix)


def packages() -> Row:
    """Is what the lessons import installed, in a version that fits?"""
    if _installed(PROJECT) is None:
        return Row("packages", Health.BROKEN, f"{PROJECT} is not installed", INSTALL)
    needed = [Requirement(line) for line in metadata.requires(PROJECT) or ()]
    needed = [r for r in needed if r.marker is None or r.marker.evaluate({"extra": ""})]
    problem = "; ".join(filter(None, map(_problem, needed)))
    return _row("packages", f"all {len(needed)} that lessons import", problem, INSTALL)


def _problem(requirement: Requirement) -> str:
    found = _installed(requirement.name)
    if found is None:
        return f"{requirement.name} is missing"
    if not requirement.specifier.contains(found, prereleases=True):
        return f"{requirement.name} is {found}, needs {requirement.specifier}"
    return ""


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def lock(path: Path = ROOT / "requirements.txt") -> Row:
    """Are the versions those that the tests ran with?"""
    if not path.is_file():
        found = f"{path.name} is not there"
        return Row("lock", Health.NOTE, found, "use a whole clone")
    pins = list(read_lock(path.read_text(encoding="utf-8")))
    other = [
        f"{name} {_installed(name) or 'missing'} (locked: {version})"
        for name, version in pins
        if _installed(name) != version
    ]
    more = f" and {len(other) - 4} more" if len(other) > 4 else ""
    well = f"all {len(pins)} versions as locked"
    fix = f"nothing, unless a lesson fails; then {INSTALL}"
    return _row("lock", well, ", ".join(other[:4]) + more, fix, Health.NOTE)


def read_lock(text: str) -> Iterator[tuple[str, str]]:
    """Yield name and version of each pin that is for this machine.

    >>> list(read_lock("-e .\\na==1\\n    # via b\\nc==2 ; sys_platform == 'none'"))
    [('a', '1')]
    """
    for line in text.splitlines():
        try:
            requirement = Requirement(line.partition("#")[0].strip())
        except InvalidRequirement:
            continue  # an option, a comment, an editable install
        if requirement.marker is None or requirement.marker.evaluate():
            for specifier in requirement.specifier:
                yield requirement.name, specifier.version


def lesson_files() -> Row:
    """Are the notebooks, the tests and the data next to the package?"""
    missing = [n for n in ("notebooks", "tests", "data") if not (ROOT / n).is_dir()]
    count = len(list((ROOT / "notebooks").glob("*.ipynb")))
    problem = f"no {', '.join(missing)} in {ROOT}" if missing else ""
    fix = "clone the whole repository and run pip install -e . in it"
    return _row("lessons", f"{count} notebooks in {ROOT}", problem, fix)


def chosen_model() -> Row:
    """Which model do the lessons use?"""
    name = os.environ.get("WORKBOOK_MODEL")
    found = f"{name} (WORKBOOK_MODEL)" if name else "scripted (the default)"
    return Row("model in use", Health.WELL, found)


def api_key() -> Row:
    """Has the model in use the key that it needs?"""
    if os.environ.get("OPENAI_API_KEY"):
        return Row("OPENAI_API_KEY", Health.WELL, "set; its value is not shown")
    name = os.environ.get("WORKBOOK_MODEL") or "scripted"
    problem = "" if name in ("scripted", "local") else f"not set; {name} needs it"
    fix = (
        "set OPENAI_API_KEY (any text for a server that asks for none), or unset"
        " WORKBOOK_MODEL"
    )
    return _row("OPENAI_API_KEY", "not set, and not needed", problem, fix)


def local_model() -> Row:
    """Is the real model on this machine?"""
    from workbook.models.weights import SMOLLM2, weights_path

    path = weights_path()
    if path is not None:
        megabytes = path.stat().st_size / 1e6
        return Row("local model", Health.WELL, f"{path}, {megabytes:.0f} MB")
    there = (user_cache() / SMOLLM2.file).exists()
    found = "not complete" if there else "not fetched yet"
    fix = "python -m workbook fetch-model (93 MB, once); until then recorded results"
    return Row("local model", Health.NOTE, f"{found}, {user_cache()}", fix)


def data_is_writable() -> Row:
    """Can progress be kept?"""
    folder, problem = user_data(), ""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        problem = f"cannot be kept in {folder}: {error.strerror}"
    fix = "set WORKBOOK_DATA to a folder that you may write to"
    return _row("progress", f"kept in {folder}", problem, fix, Health.NOTE)


def browser() -> Row:
    """Is there a Chromium for the browser tests? Only contributors need one."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    command = "apt-get install chromium"
    if sys.platform != "linux":
        command = "python -m playwright install chromium"
    fix = f"only for the browser tests: {command}"
    problem = "" if found else "not found"
    return _row("Chromium", f"{found} (for contributors)", problem, fix, Health.NOTE)
