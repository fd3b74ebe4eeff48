"""pytest --answers: learners' notebooks, graded by the same tests."""

import codecs
import csv
import json
import os
import subprocess
import sys

import pytest

from workbook.classroom.answers import read_answers
from workbook.classroom.notebooks import Cell, needed, notebooks_in
from workbook.exercises.catalogue import ROOT, CourseError
from workbook.exercises.report import Outcome
from workbook.exercises.source import to_python, without_course_calls

SETUP = ("from workbook import check, hint", "setup")
RIGHT = """\
def who_writes(label):
    return "runtime" if label == "Observation" else "model"

who_writes = check(who_writes)
"""
WRONG = 'def who_writes(label):\n    return "model"\n'
CHECKED_WRONG = WRONG + "\nwho_writes = check(who_writes)\n"
STUB = "def who_writes(label):\n    raise NotImplementedError\n"


def outcome_of(path, slug="who_writes"):
    return read_answers(path).report(slug)


@pytest.fixture
def notebook(tmp_path, write_notebook):
    """Return a function that writes lesson 00 with these cells after its setup."""

    def write(*cells):
        path = tmp_path / "00_start_here.ipynb"
        return write_notebook(path, SETUP, *((c, "exercise") for c in cells))

    return write


@pytest.mark.parametrize(
    ("cell", "outcome"),
    [
        (RIGHT, Outcome.PASSED),
        (WRONG, Outcome.WRONG),
        (STUB, Outcome.NOT_ATTEMPTED),
        ("def who_writes(label):\n    return lable", Outcome.RAISED),
        ("def who_writes(label:\n    return 'model'", Outcome.RAISED),
        ("1/0\n" + RIGHT, Outcome.RAISED),
        ("x = 1", Outcome.NOT_ATTEMPTED),
        ("%%time\n" + RIGHT, Outcome.PASSED),
        ("@check\n" + RIGHT, Outcome.PASSED),
        ("%matplotlib inline\n" + RIGHT + "!ls\nhint(who_writes)", Outcome.PASSED),
        ("import sys\nsys.exit()\n" + RIGHT, Outcome.RAISED),
        ("name = input()\n" + RIGHT, Outcome.RAISED),
        ("def helper(): return 'model'\n" + RIGHT, Outcome.PASSED),
    ],
)
def test_each_way_an_answer_can_end(notebook, cell, outcome):
    """an answer in a notebook ends in one of four ways, whatever is in its cell"""
    assert outcome_of(notebook(cell)).outcome is outcome


def cells_of(*cells):
    """Return code cells; each is a source and its tags."""
    return [Cell(n, source, frozenset(tags)) for n, (source, *tags) in enumerate(cells)]


def left_of(shipped, *cells):
    """Return what is run of cells, of which some are the lesson's own."""
    return [cell.source for cell in needed(cells_of(*cells), {shipped})]


@pytest.mark.parametrize(
    ("shipped", "left"),
    [
        ("play('drift')", []),
        ("TABLE = {}\nplay('drift')", []),
        ("WORDS = ['a']\nplay('drift')", ["WORDS = ['a']"]),
        ("WORDS = []\nfor w in 'ab':\n    WORDS.append(w)\nplot(WORDS)", None),
        ("def word():\n    return 1\n\nWORDS = [word()]", None),
        ("import words as WORDS", ["import words as WORDS"]),
    ],
)
def test_of_the_lessons_own_cells_only_what_is_used_is_run(shipped, left):
    """of a cell that is handed out, what an answer needs is run, and no more"""
    if left is None:  # all but the plot
        left = [shipped.removesuffix("\nplot(WORDS)").replace("\n\n", "\n")]
    answer = ("def who_writes(label):\n    return WORDS", "exercise")
    assert left_of(shipped, (shipped,), answer) == [*left, answer[0]]


def test_what_a_learner_wrote_is_run_but_for_the_real_model():
    """a cell of the learner's own is run whole, unless it asks the real model"""
    mine, slow = ("print(1)",), ("real_model()", "local-model")
    assert left_of("", mine, slow) == ["print(1)"]


def test_a_wrong_answer_does_not_spoil_the_next(tmp_path, write_notebook):
    """a later exercise that builds on an earlier one sees the package's function"""
    later = (
        "who_writes('Observation')[0]\n"
        "def build_history(q, s, *, preamble=''): return 0"
    )
    path = write_notebook(tmp_path / "mine.ipynb", SETUP, (CHECKED_WRONG,), (later,))
    answers = read_answers(path)
    assert answers.slugs == ["who_writes", "build_history"]
    assert answers.report("build_history").outcome is Outcome.WRONG


def test_a_recursive_answer_finds_itself(notebook):
    """while it is graded, a function's name is bound to the learner's own"""
    path = notebook(
        "def who_writes(label):\n"
        "    if label == 'x':\n"
        "        return 'wrong'\n"
        "    return who_writes('x')\n"
    )
    assert outcome_of(path).failures[0].evidence[1] == ("returned", "'wrong'")


def test_an_answer_keeps_the_helpers_of_its_own_cell(tmp_path, write_notebook):
    """a later cell's helper of the same name does not reach into an earlier answer"""
    helper = "def helper(label): return {}\n"
    first = helper.format('"runtime" if label == "Observation" else "model"')
    answer = "def who_writes(label): return helper(label)"
    later = helper.format("1 / 0") + "def parse_turn(text): return helper(text)"
    path = write_notebook(tmp_path / "mine.ipynb", SETUP, (first + answer,), (later,))
    answers = read_answers(path)
    assert answers.report("who_writes").outcome is Outcome.PASSED
    (failure, *_) = answers.report("parse_turn").failures
    assert ("raised", "ZeroDivisionError: division by zero") in failure.evidence


def test_a_name_that_comes_later_is_not_there_yet(tmp_path, write_notebook):
    """a check that is met before the name it needs fails, as in the notebook"""
    later = 'RUNTIME = "runtime"\ndef parse_turn(text): return None'
    answer = RIGHT.replace('"runtime"', "RUNTIME")
    path = write_notebook(tmp_path / "mine.ipynb", SETUP, (answer,), (later,))
    assert read_answers(path).report("who_writes").outcome is Outcome.RAISED


def test_a_setup_that_is_gone_is_named(tmp_path, write_notebook):
    """where no cell is tagged setup, an answer that raises says so"""
    cell = "def who_writes(label):\n    return Label(label)\n"
    path = write_notebook(tmp_path / "00_start_here.ipynb", (cell, "exercise"))
    report = outcome_of(path)
    assert report.outcome is Outcome.RAISED
    assert report.note.startswith("no cell is tagged setup")


def test_learners_stand_as_in_a_class_list(tmp_path, write_notebook):
    """capitals and accents do not change a learner's place"""
    for name in ("dora", "Zoe", "Çelik", "anna", "Bob"):
        write_notebook(tmp_path / name / "a.ipynb", SETUP)
    names = [path.parent.name for path in notebooks_in(tmp_path)]
    assert names == ["anna", "Bob", "Çelik", "dora", "Zoe"]


def test_a_cell_that_never_ends_is_ended(notebook, monkeypatch):
    """an endless loop in a cell is ended, and the others go on"""
    monkeypatch.setattr("workbook.classroom.answers.CELL_LIMIT_S", 0.5)
    report = outcome_of(notebook("while True: pass\n" + RIGHT))
    assert "cell 2: while it ran, no answer within 0.5" in (
        report.failures[0].requirement
    )


def test_a_helper_from_another_cell_is_explained(notebook):
    """a name from a cell that is not run is explained"""
    report = outcome_of(notebook("helper\n" + RIGHT))
    assert "from a cell further down" in report.failures[0].evidence[0][1]


def test_a_template_cell_is_run(tmp_path, write_notebook):
    """a cell that a learner fills in for an exercise is run; if it fails, only that"""
    cell = ('own = "runtime"', "template"), ("1/0", "template")
    path = tmp_path / "00_start_here.ipynb"
    write_notebook(path, SETUP, *cell, (RIGHT.replace('"runtime"', "own"), "exercise"))
    assert outcome_of(path).outcome is Outcome.PASSED


def test_a_setup_that_fails_is_named(tmp_path, write_notebook):
    """when the setup cell raises, each exercise says so"""
    path = write_notebook(
        tmp_path / "00_start_here.ipynb", ("1/0", "setup"), (RIGHT, "exercise")
    )
    report = outcome_of(path)
    assert report.outcome is Outcome.RAISED
    assert "the setup cell failed: cell 1: ZeroDivisionError" in (
        report.failures[0].requirement
    )


@pytest.mark.parametrize(
    ("cells", "outcome"),
    [
        ([RIGHT, STUB], Outcome.NOT_ATTEMPTED),
        (["1/0\n" + RIGHT, RIGHT], Outcome.PASSED),
        ([RIGHT, "1/0\n" + RIGHT], Outcome.RAISED),
        ([RIGHT, "def who_writes(label:\n    return 1"], Outcome.RAISED),
    ],
)
def test_of_two_cells_for_one_exercise_the_later_counts(notebook, cells, outcome):
    """the later of two cells that define a function is the answer, as in a notebook"""
    assert outcome_of(notebook(*cells)).outcome is outcome


def test_an_error_that_cannot_be_told_is_told(notebook):
    """an exception whose text raises in its turn is one clear result"""
    cell = "class Odd(Exception):\n    def __str__(self): 1/0\n\nraise Odd\n"
    report = outcome_of(notebook(cell + RIGHT))
    assert "ZeroDivisionError" in report.failures[0].requirement


def test_a_file_of_no_lesson_that_is_no_notebook(tmp_path):
    """what cannot be read is said also where no exercise can be named"""
    path = tmp_path / "mine.ipynb"
    path.write_text("{")
    (slug,) = read_answers(path).slugs
    failure = outcome_of(path, slug).failures[0]
    assert "mine.ipynb cannot be read as a notebook" in failure.requirement


def test_a_cell_that_python_cannot_even_read(notebook):
    """a syntax error without a line is told without one"""
    report = outcome_of(notebook(RIGHT + "\x00"))
    assert report.failures[0].requirement.startswith("cell 2 has a syntax error: ")


def test_an_old_notebook_is_read(tmp_path):
    """a notebook of nbformat 3 is read as the newer ones are"""
    path = tmp_path / "00_start_here.ipynb"
    cell = {"cell_type": "code", "input": WRONG, "language": "python", "outputs": []}
    sheets = [{"cells": [cell], "metadata": {}}]
    content = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": sheets}
    path.write_text(json.dumps(content))
    assert outcome_of(path).outcome is Outcome.WRONG


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"cells": 3}', "\xff"])
def test_a_file_that_is_no_notebook(tmp_path, content):
    """a file that cannot be read is one clear result for its exercises"""
    path = tmp_path / "00_start_here.ipynb"
    path.write_bytes(content.encode("latin-1"))
    report = outcome_of(path)
    assert report.outcome is Outcome.RAISED
    assert "cannot be read as a notebook" in report.failures[0].requirement


def test_checkpoints_are_left_out(tmp_path, write_notebook):
    """Jupyter's own copies of a notebook are not graded"""
    write_notebook(tmp_path / ".ipynb_checkpoints" / "a.ipynb", SETUP)
    mine = write_notebook(tmp_path / "a.ipynb", SETUP)
    (tmp_path / "folder.ipynb").mkdir()
    assert notebooks_in(tmp_path) == [mine]


def test_a_path_without_notebooks_is_refused(tmp_path):
    """a path that holds no notebook, or is not there, is refused in a sentence"""
    with pytest.raises(CourseError, match="holds no notebook"):
        notebooks_in(tmp_path)
    with pytest.raises(CourseError, match="is not there"):
        notebooks_in(tmp_path / "none")


def test_methods_of_the_same_name_are_kept():
    """`world.reset()` is not the course's `reset()`"""
    code = without_course_calls(to_python("world.reset()\nreset()\nf = check(f)"))
    seen = []
    world = type("World", (), {"reset": lambda self: seen.append(1)})()
    namespace = {"world": world, "f": 3}
    exec(compile(code, "cell", "exec"), namespace)
    assert (seen, namespace["f"]) == ([1], 3)


def run_pytest(*arguments):
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            *map(str, arguments),
        ],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "100", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Grade a class of three with `pytest --answers`; return the run and its CSV."""
    folder = tmp_path_factory.mktemp("class")
    answers = {"ann": RIGHT, "bob": WRONG, "two/cy": STUB, "two/di": RIGHT}
    answers["zoë"] = "def who_writes(label):\n    return label / 2\n"
    for name, cell in answers.items():
        cells = [
            {"cell_type": "code", "metadata": {"tags": [tag]}, "source": source}
            for source, tag in (SETUP, (cell, "exercise"))
        ]
        (folder / "class" / name).mkdir(parents=True)
        path = folder / "class" / name / "00_start_here.ipynb"
        path.write_text(json.dumps({"nbformat": 4, "metadata": {}, "cells": cells}))
    table = folder / "results.csv"
    run = run_pytest(f"--answers={folder / 'class'}", f"--answers-csv={table}")
    assert table.read_bytes().startswith(codecs.BOM_UTF8)  # for Excel
    with open(table, encoding="utf-8-sig", newline="") as file:
        return run, list(csv.DictReader(file))


def test_the_run_fails_when_one_answer_is_wrong(graded):
    """the exit code is 1 when one answer is wrong, and its report is shown"""
    run, _ = graded
    assert run.returncode == 1
    assert "✗ what a tool gave is written by whoever ran the tool" in run.stdout
    assert "Traceback" not in run.stdout


def test_not_attempted_is_neither_failed_nor_skipped(graded):
    """an untouched stub has a category of its own"""
    run, _ = graded
    assert "2 failed, 2 passed, 1 not attempted" in run.stdout
    assert "skipped" not in run.stdout


def test_the_summary_has_a_line_a_learner(graded):
    """the summary names each learner, and the table can be had as CSV"""
    run, rows = graded
    lines = [line.split() for line in run.stdout.splitlines()]
    outcomes = ["passed", "wrong", "your", "code", "raised", "not", "attempted"]
    assert ["learner", "notebook", *outcomes] in lines
    assert ["bob", "00_start_here.ipynb", "·", "1", "·", "·"] in lines
    assert ["two/di", "00_start_here.ipynb", "1", "·", "·", "·"] in lines
    found = [(row["learner"], row["exercise"], row["outcome"]) for row in rows]
    assert found == [
        ("ann", "who_writes", "passed"),
        ("bob", "who_writes", "wrong"),
        ("two/cy", "who_writes", "not attempted"),
        ("two/di", "who_writes", "passed"),
        ("zoë", "who_writes", "your code raised"),
    ]
    assert rows[1]["message"].startswith("what a tool gave")
    assert rows[2]["message"] == ""
    assert "; TypeError: unsupported operand" in rows[4]["message"]


def test_a_failure_is_headed_by_its_learner(graded):
    """who reads thirty failures sees whose each is, and ends with the table"""
    run, _ = graded
    assert " bob/00_start_here.ipynb::who_writes __" in run.stdout
    assert "short test summary" not in run.stdout
    assert run.stdout.splitlines()[-2].startswith("written to ")


def test_only_notebooks_are_collected(graded):
    """with --answers, nothing of the test suite is run"""
    run, _ = graded
    assert "collected 5 items" in run.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--answers=none.ipynb"], "it is not there. Give a notebook or a folder."),
        (["--answers=notebooks", "--answers-csv=data"], "it cannot be written there"),
    ],
)
def test_wrong_use_is_a_sentence(arguments, words):
    """wrong options end in a sentence and pytest's code for wrong use"""
    run = run_pytest(*arguments)
    assert run.returncode == pytest.ExitCode.USAGE_ERROR
    assert words in run.stderr
    assert "Traceback" not in run.stderr


def test_a_notebook_that_cannot_be_collected_does_not_hide_the_others(tmp_path):
    """an error of the machinery in one notebook leaves the summary of the others"""
    from workbook.classroom.pytest_plugin import AnswersPlugin

    (tmp_path / "a.ipynb").write_text("{}")
    plugin = AnswersPlugin(tmp_path)
    report = pytest.CollectReport("a.ipynb", "failed", "error", None)
    assert plugin.pytest_report_teststatus(report) is None


def test_a_verdict_is_said_again_of_the_same_exercise_only(monkeypatch):
    """when cells run once more, one exercise does not get the verdict of another"""
    from workbook.classroom import answers as reading
    from workbook.exercises.report import Report

    ends = {"who_writes": Outcome.PASSED, "parse_turn": Outcome.WRONG}
    monkeypatch.setattr(reading, "grade", lambda e, f: Report(e.slug, ends[e.slug]))
    answers = reading.Answers(reading.Path("mine.ipynb"), [])
    answers.child = type("Child", (), {"is_there": True})()
    about = {"parameters": [], "empty": False}
    for slug in ends:  # in the same place, as after the process was ended
        answers._at = (2, 0)
        answers._serve("grade", slug, None, about)
    assert answers.reports["parse_turn"].outcome is Outcome.WRONG
