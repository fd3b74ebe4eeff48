"""`python -m workbook record NAME`: the lessons' experiments on a hosted model.

What it says is written to one file, `data/recorded/others/NAME.json`. Where that file
is, lessons show the model beside the small one, with its name and the day.
"""

import os
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from workbook.choice import model_health, model_name
from workbook.exercises.catalogue import CourseError, Lesson, lessons
from workbook.playground.recorded import FOLDER, OTHERS, RECORD, RECORD_AS

TAG = "record"
"""Tags the cells whose experiments are recorded on another model."""
CELL_S = 3600


def record(name: str, only: Sequence[str] = ()) -> Iterator[str]:
    """Run the experiments on the model that WORKBOOK_MODEL names; yield a line each.

    Args:
        name: what the lessons call the model; the file's name.
        only: the lessons to run, by the beginnings of their names: `["02", "05"]`.

    Raises:
        CourseError: no such model or lesson, or the name is taken or is no name; an
            experiment failed. What was recorded until then is in NAME.part.
    """
    target = FOLDER / OTHERS / f"{name}.json"
    if not re.fullmatch(r"\w[\w-]*(\.\w[\w-]*)*", name):
        raise CourseError(f"{name!r} is no name for a file: use letters, digits and -.")
    if target.exists():
        raise CourseError(f"{target} is there. Choose another name, or remove it.")
    healthy, about, fix = model_health()
    if not healthy or model_name() in ("scripted", "local"):
        hosted = "Set WORKBOOK_MODEL to a hosted model's name, and its key or address."
        why = f"{about} cannot be recorded. {hosted}"
        raise CourseError(why if healthy else fix)
    begins = tuple(only) or ""  # every name begins with nothing
    chosen = [lesson for slug, lesson in lessons().items() if slug.startswith(begins)]
    if not chosen:
        raise CourseError(f"No lesson begins with {' or '.join(only)}.")
    yield f"recording {about}"
    part = target.with_name(f"{name}.part")  # until it is whole no lesson shows it
    part.unlink(missing_ok=True)  # of a try that broke off, perhaps of another model
    for lesson in chosen:
        if cells := _cells(lesson):
            began = time.perf_counter()
            _run(lesson, cells, part)
            yield f"{lesson.slug}: {time.perf_counter() - began:.0f} s"
    if not part.exists():
        raise CourseError("The model was not asked: nothing was recorded.")
    os.replace(part, target)
    yield f"{target}: lessons show it as {name}, from now on."


def _cells(lesson: Lesson) -> list[Any]:
    """Return a notebook's cells up to its last experiment on another model."""
    import nbformat

    cells = nbformat.read(lesson.notebook, as_version=4).cells  # type: ignore[no-untyped-call]
    tagged = [n for n, c in enumerate(cells) if TAG in c.metadata.get("tags", ())]
    return cells[: tagged[-1] + 1] if tagged else []


def _run(lesson: Lesson, cells: list[Any], part: Path) -> None:
    """Run the cells; the local model's answers are played, another one's are kept."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    notebook = nbformat.v4.new_notebook(cells=cells)  # type: ignore[no-untyped-call]
    where = {"metadata": {"path": str(lesson.notebook.parent)}}
    how: Any = {"timeout": CELL_S, "extra_arguments": ["--log-level=ERROR"]}
    client = NotebookClient(notebook, resources=where, **how)
    with tempfile.TemporaryDirectory() as home:  # no learner's progress is touched
        own = {"WORKBOOK_DATA": home, RECORD: "0", RECORD_AS: str(part)}
        try:
            client.execute(env={**os.environ, **own})
        except CellExecutionError as error:
            what = f"{lesson.slug}: {error.ename}: {error.evalue}"
            raise CourseError(f"{what}\nWhat was recorded is in {part}.") from None
