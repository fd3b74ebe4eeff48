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
    return Diagnosis(
        [
            *python(),
            *packages(),
            *lock(),
            *lesson_files(),
            *chosen_model(),
            *local_model(),
            *data_is_writable(),
            *browser(),
        ]
    )


def python() -> Iterator[Row]:
    """Is Python new enough?"""
    found = Version(platform.python_version())
    if found >= PYTHON:
        yield Row("Python", Health.WELL, str(found))
    else:
        fix = f"install Python {PYTHON} or newer and make a new environment with it"
        yield Row("Python", Health.BROKEN, f"{found}, needs {PYTHON}", fix)


def packages() -> Iterator[Row]:
    """Is what the lessons import installed, in a version that fits?"""
    try:
        needed = [Requirement(line) for line in metadata.requires(PROJECT) or ()]
    except metadata.PackageNotFoundError:
        found = f"{PROJECT} is not installed"
        yield Row("packages", Health.BROKEN, found, INSTALL)
        return
    needed = [r for r in needed if r.marker is None or r.marker.evaluate({"extra": ""})]
    wrong = [problem for r in needed if (problem := _problem(r))]
    if wrong:
        yield Row("packages", Health.BROKEN, "; ".join(wrong), INSTALL)
    else:
        yield Row("packages", Health.WELL, f"all {len(needed)} that lessons import")


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


def lock(path: Path = ROOT / "requirements.txt") -> Iterator[Row]:
    """Are the versions those that the tests ran with?"""
    if not path.is_file():
        yield Row("lock", Health.NOTE, f"{path.name} is not there", "use a whole clone")
        return
    pins = list(read_lock(path.read_text(encoding="utf-8")))
    other = [
        f"{name} {found or 'missing'} (locked: {version})"
        for name, version in pins
        if (found := _installed(name)) != version
    ]
    if other:
        more = f" and {len(other) - 4} more" if len(other) > 4 else ""
        found = ", ".join(other[:4]) + more
        fix = f"nothing, unless a lesson fails; then {INSTALL}"
        yield Row("lock", Health.NOTE, found, fix)
    else:
        yield Row("lock", Health.WELL, f"all {len(pins)} versions as locked")


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


def lesson_files() -> Iterator[Row]:
    """Are the notebooks, the tests and the data next to the package?"""
    missing = [n for n in ("notebooks", "tests", "data") if not (ROOT / n).is_dir()]
    if missing:
        fix = "clone the whole repository and run pip install -e . in it"
        found = f"no {', '.join(missing)} in {ROOT}"
        yield Row("lessons", Health.BROKEN, found, fix)
    else:
        count = len(list((ROOT / "notebooks").glob("*.ipynb")))
        yield Row("lessons", Health.WELL, f"{count} notebooks in {ROOT}")


def chosen_model() -> Iterator[Row]:
    """Which model do the lessons use, and has it what it needs?"""
    name = os.environ.get("WORKBOOK_MODEL") or "scripted"
    origin = "WORKBOOK_MODEL" if os.environ.get("WORKBOOK_MODEL") else "the default"
    yield Row("model in use", Health.WELL, f"{name} ({origin})")
    present = bool(os.environ.get("OPENAI_API_KEY"))
    if present:
        yield Row("OPENAI_API_KEY", Health.WELL, "set; its value is not shown")
    elif name in ("scripted", "local"):
        yield Row("OPENAI_API_KEY", Health.WELL, "not set, and not needed")
    else:
        fix = (
            "set OPENAI_API_KEY (any text for a server that asks for none), or unset"
            " WORKBOOK_MODEL"
        )
        yield Row("OPENAI_API_KEY", Health.BROKEN, f"not set; {name} needs it", fix)


def local_model() -> Iterator[Row]:
    """Is the real model on this machine?"""
    from workbook.models.weights import SMOLLM2, weights_path

    path = weights_path()
    if path is not None:
        megabytes = path.stat().st_size / 1e6
        yield Row("local model", Health.WELL, f"{path}, {megabytes:.0f} MB")
        return
    there = (user_cache() / SMOLLM2.file).exists()
    found = "not complete" if there else "not fetched yet"
    fix = "python -m workbook fetch-model (93 MB, once); until then recorded results"
    yield Row("local model", Health.NOTE, f"{found}, {user_cache()}", fix)


def data_is_writable() -> Iterator[Row]:
    """Can progress be kept?"""
    folder = user_data()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        fix = "set WORKBOOK_DATA to a folder that you may write to"
        found = f"{folder}: {error.strerror}"
        yield Row("progress", Health.NOTE, f"cannot be kept in {found}", fix)
    else:
        yield Row("progress", Health.WELL, f"kept in {folder}")


def browser() -> Iterator[Row]:
    """Is there a Chromium for the browser tests? Only contributors need one."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found:
        yield Row("Chromium", Health.WELL, f"{found} (for contributors)")
    else:
        fix = "only for the browser tests: apt-get install chromium"
        if sys.platform != "linux":
            fix = "only for the browser tests: python -m playwright install chromium"
        yield Row("Chromium", Health.NOTE, "not found", fix)
