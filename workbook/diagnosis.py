"""What is installed, which model is in use, and how to fix what is not well.

Each question returns a row: what, its state, what was found, how to fix it.
"""

import platform
import sys
import tempfile
from collections.abc import Iterable, Iterator
from importlib import metadata

from packaging.requirements import InvalidRequirement, Requirement

from workbook.checks.display import GREEN, Grid, Notice, notebook, template
from workbook.paths import ROOT, user_data

PROJECT = "react-workbook"
INSTALL = "pip install -r requirements.txt"
WELL = "Every lesson will run."
OK, NOTE, BROKEN = "ok", "note", "not well"
Row = tuple[str, str, str, str]


def about(*packages: str) -> str:
    """Return the versions and the model, and give the notebook its look."""
    from workbook.choice import model_health
    from workbook.stage.shown import show_traces_as_tables

    if notebook():
        from IPython.display import display

        page = str(template("shown.html").module.page())
        display({"text/html": page, "text/plain": ""}, raw=True)  # type: ignore[no-untyped-call]
    show_traces_as_tables()
    parts = [f"{name} {metadata.version(name)}" for name in (PROJECT, *packages)]
    _, found, fix = model_health()
    model = f"model: {found}. {fix}" if fix else f"model: {found}"
    return " · ".join([f"Python {platform.python_version()}", *parts, model])


def doctor() -> Grid | Notice:
    """Show what has a fix, of all that the lessons need; one line if nothing has."""
    found = [row for row in rows() if row[-1]]
    return as_table(found) if found else Notice(WELL, colour=GREEN)


def as_table(found: list[Row]) -> Grid:
    """Return rows as a table with a verdict below it."""
    broken = sum(state == BROKEN for _, state, *_ in found)
    stops = f"{broken} of these would stop a lesson: see the last column."
    head = "what", "state", "found", "what to do"
    return Grid(head, found, stops if broken else WELL)


def rows() -> list[Row]:
    """Return a row for each thing that the lessons need."""
    from workbook.choice import model_health

    python = f"{platform.python_version()}, {sys.executable}"
    found = [("Python", OK, python, "")]
    lock = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    if broken := "; ".join(_problems(metadata.requires(PROJECT) or [])):
        found.append(("packages", BROKEN, broken, INSTALL))
    elif other := "; ".join(_problems(lock)):
        fix = f"if a lesson fails, {INSTALL}"
        found.append(("packages", NOTE, f"other than tested: {other}", fix))
    else:
        tested = "all that lessons import, in the tested versions"
        found.append(("packages", OK, tested, ""))
    folder = user_data()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        found.append(("progress", OK, f"kept in {folder}", ""))
    except OSError as error:
        fix = "set WORKBOOK_DATA to a folder that you may write to"
        found.append(("progress", NOTE, f"cannot be kept: {error}", fix))
    for what, name in (("model in use", None), ("local model", "local")):
        well, about, fix = model_health(name)
        found.append((what, (NOTE if fix else OK) if well else BROKEN, about, fix))
    return found


def _problems(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        try:
            wanted = Requirement(line.partition("#")[0])
        except InvalidRequirement:
            continue  # an option, a comment, an editable install
        if wanted.marker and not wanted.marker.evaluate({"extra": ""}):
            continue
        try:
            found = metadata.version(wanted.name)
        except metadata.PackageNotFoundError:
            yield f"{wanted.name} is missing"
            continue
        if not wanted.specifier.contains(found, prereleases=True):
            yield f"{wanted.name} is {found}, needs {wanted.specifier}"
