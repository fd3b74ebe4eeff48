"""Every lesson runs from top to bottom, as it ships and with every exercise solved."""

import re
import tempfile
from operator import attrgetter
from pathlib import Path

import pytest

from tests.learner import RAISES, answer_to, cells_with_answer
from tests.notebooks.conftest import lessons, read, text_outputs
from workbook.checks.catalogue import exercises

LESSONS = lessons()
NO_LABS = [path for path in LESSONS if path.parent.name != "labs"]
stem = attrgetter("stem")
LONG = {"03", "05", "06", "07", "10", "14"}  # with many plays, or killed processes
SOON = [path for path in NO_LABS if path.stem[:2] not in LONG]
EACH = [  # what is no lesson of a few seconds, CI runs
    pytest.param(path, id=path.stem, marks=[pytest.mark.in_ci] * (path not in SOON))
    for path in LESSONS
]


def solved(notebook, lesson):
    """Put the package's function in place of each stub of a lesson."""
    for exercise in exercises().values():
        if exercise.lesson != lesson:
            continue
        (cell,) = [
            cell
            for cell in notebook.cells
            if cell.cell_type == "code" and f"def {exercise.slug}(" in cell.source
        ]
        check = f"{exercise.slug} = check({exercise.slug})"
        cell.source = "\n".join([*cells_with_answer(exercise.slug), check])
    return notebook


# The questions of the others take the real model minutes, or there are none: as they
# ship they run in tests/browser, and play what it said. So do the labs.
LIVE = [
    path for path in NO_LABS if path.stem[:2] in {"00", "01", "02", "03", "05", "11"}
]


def as_shipped(path):
    """Return a lesson as it is, to be run on the real model."""
    return read(path), {}


WALK = tempfile.mkdtemp()  # one learner's data, from the first lesson to the last
PLAYED = {"WORKBOOK_RECORD": "0", "WORKBOOK_SHARED": "1"}  # and no process is spare


def with_solutions(path):
    """Return a lesson with every stub solved, as a learner who solved those before."""
    for slug, exercise in exercises().items():
        if exercise.lesson < path.stem:
            keep_file(Path(WALK), exercise, answer_to(slug), anew=False)
    environment = {**PLAYED, "WORKBOOK_DATA": WALK}
    return solved(read(path), path.stem), environment


def keep_file(home, exercise, text, anew=True):
    """Put a part into a learner's folder, as one that has passed."""
    path = home / "your_agent" / f"{exercise.slug}.py"
    path.parent.mkdir(exist_ok=True)
    if anew or not path.exists():
        path.write_text(text, encoding="utf-8")


def with_broken_parts(path):
    """Return a solved lesson of a learner whose earlier parts have all gone bad."""
    home = Path(tempfile.mkdtemp())
    for slug, exercise in exercises().items():
        if exercise.lesson < path.stem:
            keep_file(home, exercise, RAISES.format(slug=slug))
    environment = {**PLAYED, "WORKBOOK_DATA": str(home)}
    return solved(read(path), path.stem), environment


@pytest.mark.in_ci
@pytest.mark.prepared(by=as_shipped)
@pytest.mark.parametrize("path", LIVE, ids=stem)
def test_lesson_runs_as_it_ships(path, executed):
    """Run All reaches the end, and every exercise is reported as not attempted."""
    shown = "\n".join(
        text_outputs(cell) for cell in executed.cells if "= check(" in cell.source
    )
    number = sum(1 for e in exercises().values() if e.lesson == path.stem)
    assert shown.count("not attempted") >= number
    assert "passed" not in shown


@pytest.mark.prepared(by=with_solutions)
@pytest.mark.parametrize("path", EACH)
def test_lesson_runs_with_every_exercise_solved(path, executed):
    """With our functions for the stubs every check passes, also without weights.

    The real model is asked in the run above; here its recording is played, which is
    what a learner without a network sees.
    """
    for exercise in exercises().values():
        if exercise.lesson == path.stem:
            (cell,) = [
                cell
                for cell in executed.cells
                if f"{exercise.slug} = check({exercise.slug})" in cell.source
            ]
            assert re.search(r"\bpassed\b", text_outputs(cell)), exercise.slug

    assert_yours(path.stem, executed)


def assert_yours(lesson, executed):
    """What has been solved by then is the learner's in each run that says whose."""
    solved_by_now = {e.slug for e in exercises().values() if e.lesson < lesson}
    for cell in executed.cells:
        if cell.cell_type != "code":
            continue
        for said in re.findall(
            r"parts in this run.*; ours: ([\w, ]+)", text_outputs(cell)
        ):
            assert solved_by_now.isdisjoint(said.split(", ")), cell.source
        solved_by_now |= set(re.findall(r"(\w+) = check\(", cell.source))


def with_own_model(path):
    """Return a lesson's cells up to its own-model cell, with a model to be named."""
    from workbook.runtime.local import local_server

    notebook = read(path)
    tags = [cell.metadata.get("tags", []) for cell in notebook.cells]
    last = next(n for n, found in enumerate(tags) if "own-model" in found)
    notebook.cells = notebook.cells[: last + 1]
    hosted = {"WORKBOOK_MODEL": "openai:smollm2", "OPENAI_BASE_URL": local_server().url}
    return notebook, {"WORKBOOK_RECORD": "0", **hosted}


@pytest.mark.in_ci
@pytest.mark.prepared(by=with_own_model)
@pytest.mark.parametrize("path", NO_LABS[:1], ids=stem)
def test_main_experiment_runs_on_a_model_of_ones_own(path, executed):
    """With a hosted model named, the lesson's experiment runs on it as well."""
    assert "your own model: smollm2 at 127.0.0.1" in text_outputs(executed.cells[-1])


@pytest.mark.in_ci
@pytest.mark.prepared(by=with_broken_parts)
@pytest.mark.parametrize("path", [NO_LABS[9]], ids=stem)
def test_lesson_goes_on_with_broken_parts(path, executed):
    """Where the parts of earlier lessons break, the run names them and Run All ends."""
    shown = "\n".join(map(text_outputs, executed.cells))
    earlier = [e.slug for e in exercises().values() if e.lesson < path.stem]
    takes = [c.source for c in executed.cells if "your_parts(" in c.source]
    used = [slug for slug in earlier if any(f'"{slug}"' in source for source in takes)]
    for slug in used:
        assert f"your {slug} broke in line" in shown, slug
