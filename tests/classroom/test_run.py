"""A folder of strangers' notebooks, graded: whatever is in it, whatever happens."""

import csv
import json
import os
import random
import shutil
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context

import pytest

from workbook.__main__ import main
from workbook.classroom.results import Graded, Paper
from workbook.classroom.run import grade_folder
from workbook.exercises.catalogue import ROOT, CourseError
from workbook.exercises.report import Failure, Outcome, Report

SETUP = ("from workbook import check, hint", "setup")
RIGHT = """\
def who_writes(label):
    return "runtime" if label == "Observation" else "model"
"""
WRONG = 'def who_writes(label):\n    return "model"\n'
NAME = "00_start_here.ipynb"


def quick(submission, hidden=None):
    """Judge by the words in a text: nothing is run."""
    text = submission.text
    if "ends the judge" in text:
        os._exit(3)
    if "breaks the judge" in text:
        raise RuntimeError("out of tests")
    if "rubbish" in text:
        return "rubbish"
    is_right = "runtime" in text
    outcome = Outcome.PASSED if is_right else Outcome.WRONG
    failures = () if is_right else (Failure("=who wrote it"),)
    slugs = ["who_writes", *(["parse_turn"] if "parse_turn" in text else [])]
    reports = [Report(slug, outcome, 2 + is_right, 3, failures) for slug in slugs]
    return Paper("?", "?", graded=tuple(Graded(r.slug, r) for r in reports))


def slow(submission, hidden=None):
    """Judge, a little later, and leave a line that says so."""
    time.sleep(0.02)
    with open(os.environ["JUDGED"], "a", encoding="utf-8") as file:
        file.write(f"{submission.learner}\n")
    return quick(submission)


def table(out):
    """Return the rows of a results.csv."""
    with (out / "results.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def room(tmp_path, write_notebook):
    """Return a function that puts a notebook into the folder of the class."""
    (tmp_path / "class").mkdir()

    def put(learner, cell=RIGHT, name=NAME, at=None):
        path = tmp_path / "class" / learner / name
        write_notebook(path, SETUP, (cell, "exercise"))
        if at is not None:
            os.utime(path, (at, at))
        return path

    put.folder, put.out = tmp_path / "class", tmp_path / "out"
    put.graded = partial(grade_folder, put.folder, put.out, judge=quick)
    return put


def link_to(target):
    return lambda path: path.symlink_to(target)


def sparse(path):
    with path.open("wb") as file:
        file.truncate(21_000_000)


@pytest.mark.parametrize(
    ("make", "word", "outcome"),
    [
        (lambda path: None, "no notebook", "nothing to grade"),
        (lambda path: (path.parent / "a.pdf").touch(), "a.pdf", "nothing to grade"),
        (lambda path: path.touch(), "empty", "could not be graded"),
        (lambda path: path.write_text("{"), "as a notebook", "could not be graded"),
        (lambda path: path.write_bytes(b"\xff\xfe"), "UTF-8", "could not be graded"),
        (lambda path: path.mkdir(), "a folder", "could not be graded"),
        (link_to("gone"), "nowhere", "could not be graded"),
        (link_to("/etc/hostname"), "not followed", "could not be graded"),
        (link_to("../bob/" + NAME), "not followed", "could not be graded"),
        (sparse, "21 MB", "could not be graded"),
        (lambda path: os.mkfifo(path), "no file", "could not be graded"),
        (lambda path: path.write_text('{"cells": 3}'), "as a", "could not be graded"),
    ],
)
def test_what_cannot_be_graded_is_a_row_that_says_so(room, make, word, outcome):
    """a learner who handed in nothing, or what nobody can read, has a row with why"""
    room("bob")
    (room.folder / "ann").mkdir()
    make(room.folder / "ann" / NAME)
    room.graded()
    ann, bob = table(room.out)
    assert (ann["learner"], ann["outcome"]) == ("ann", outcome)
    assert word in ann["note"]
    assert bob["outcome"] == "passed"


def test_a_folder_that_is_a_link_is_not_followed(room):
    """nobody hands in a classmate's folder as their own"""
    room("bob")
    (room.folder / "ann").symlink_to(room.folder / "bob")
    ann, _ = room.graded()
    assert ann.graded == ()
    assert "not followed" in ann.note


def test_what_jupyter_and_archives_add_is_left_out(room):
    """checkpoints and an archive's own files are neither learners nor answers"""
    path = room("ann")
    for folder in (".ipynb_checkpoints", "ann/.ipynb_checkpoints", "__MACOSX"):
        (room.folder / folder).mkdir()
        shutil.copy(path, room.folder / folder / NAME)
    shutil.copy(path, path.with_name("._" + NAME))
    (paper,) = room.graded()
    assert paper.note == ""


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (NAME, "00_start_here (1).ipynb"),
        ("00_start_here-Copy1.ipynb", NAME),
        ("old/" + NAME, NAME),
        (NAME, "ps1/mine.ipynb"),
    ],
)
def test_the_newest_counts(room, older, newer):
    """of two versions of a notebook the newest is graded; the row names the other"""
    room("ann", WRONG, older, at=1000)
    room("ann", RIGHT, newer, at=2000)
    (paper,) = room.graded()
    assert paper.notebook == newer.rpartition("/")[2]
    assert paper.graded[0].report.outcome is Outcome.PASSED
    assert older in paper.note
    assert paper.handed_in == "1970-01-01T00:33:20+00:00"


def test_what_only_an_older_notebook_has_counts(room):
    """an exercise that the newest notebook lacks is graded from the older one"""
    room("ann", "def parse_turn(text): ...\n" + RIGHT, "all.ipynb", at=1000)
    room("ann", WRONG, "again.ipynb", at=2000)
    found = {row["exercise"]: row for row in map(dict, _rows(room))}
    assert found["who_writes"]["notebook"] == "again.ipynb"
    assert found["parse_turn"]["notebook"] == "all.ipynb"
    assert "who_writes" in found["parse_turn"]["note"]


def _rows(room):
    room.graded()
    return table(room.out)


def test_of_the_same_time_one_is_graded_and_both_are_named(room):
    """where an archive has lost the times, the row does not speak of the newest"""
    for name in (NAME, "old/" + NAME):
        room("ann", RIGHT, name, at=1000)
    (paper,) = room.graded()
    assert "same time" in paper.note
    assert "newest" not in paper.note


@pytest.mark.parametrize(
    ("name", "learner"),
    [
        ("Ann Lee_123_assignsubmission_file_/" + NAME,) * 2,
        ("Ann Lee_123_assignsubmission_file_" + NAME,) * 2,
        ("ann/ps1/" + NAME, "ann"),
        (NAME, ""),
    ],
)
def test_learners_are_told_by_their_folders(room, name, learner):
    """Moodle's and nbgrader's downloads are read as they are"""
    room("", RIGHT, name)
    (paper,) = room.graded()
    assert paper.learner == learner.removesuffix(NAME).removesuffix("/")


def test_loose_notebooks_are_no_versions_of_each_other(room):
    """notebooks beside the folders may be of several learners: all are graded"""
    for name in ("ann.ipynb", "bob.ipynb"):
        room("", RIGHT, name)
    assert [paper.notebook for paper in room.graded()] == ["ann.ipynb", "bob.ipynb"]


def test_a_single_notebook_is_graded(room):
    """a notebook in place of a folder is nobody's"""
    path = room("ann")
    (paper,) = grade_folder(path, room.out, judge=quick)
    assert (paper.learner, paper.notebook) == ("", NAME)


def test_a_byte_order_mark_and_odd_names_do_no_harm(room):
    """what an editor puts in front of a text, and what a name may hold, is survived"""
    path = room("ann\n\u202eb")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    shutil.copytree(path.parent, room.folder / os.fsdecode(b"jos\xe9"))
    first, second = room.graded()
    assert (first.learner, second.learner) == ("ann��b", "jos�")
    assert all(paper.graded for paper in (first, second))


def test_no_cell_is_a_formula(room):
    """no name and no message is calculated by a spreadsheet"""
    for learner in ("=1+1", "+1", "-1", "@a", "\t1"):
        room(learner, WRONG, "=00_start_here.ipynb")
    for row in _rows(room):
        assert not [cell for cell in row.values() if cell[:1] in tuple("=+-@\t\r")]


def test_everything_is_read_before_anything_is_judged(room):
    """what one learner's code does to a classmate's file changes nothing"""
    for learner in ("ann", "bob"):
        room(learner)

    def vandal(submission, hidden=None):
        for path in room.folder.rglob("*.ipynb"):
            path.unlink(missing_ok=True)
        return quick(submission)

    papers = grade_folder(room.folder, room.out, judge=vandal, jobs=1)
    assert [p.graded[0].report.passed for p in papers] == [3, 3]


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_any_pool_will_do(room, kind):
    """threads and processes come to the same papers, in the order of a class list"""
    for number in range(6):
        room(f"l{number}", RIGHT if number % 2 else WRONG)
    with kind(2) as pool:
        papers = room.graded(executor=pool)
    assert papers == grade_folder(room.folder, room.out.with_name("two"), judge=quick)
    assert [p.learner for p in papers] == [f"l{n}" for n in range(6)]


@pytest.mark.in_ci
def test_a_cluster_will_do(room):
    """the executor of a Dask client judges a notebook wherever it likes"""
    from distributed import Client, LocalCluster

    for number in range(4):
        room(f"l{number}", "breaks the judge = 1\n" + RIGHT if number == 2 else RIGHT)
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        papers = room.graded(executor=client.get_executor())
    assert [bool(p.graded[0].report) for p in papers] == [True, True, False, True]


def test_a_judge_that_dies_is_a_row(room):
    """a judge that takes its pool with it costs nobody else a verdict"""
    for number in range(4):
        room(f"l{number}", "# ends the judge\n" + RIGHT if number == 1 else RIGHT)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        papers = room.graded(executor=pool)
    assert [bool(p.graded[0].report) for p in papers] == [True, False, True, True]
    assert "the judge ended" in papers[1].graded[0].problem


@pytest.mark.parametrize("word", ["breaks the judge", "rubbish"])
def test_a_judge_that_raises_is_a_row(room, word):
    """whatever the judge raises or returns, each exercise has a row; it is retried"""
    room("ann", f"# {word}\n{RIGHT}")
    (row,) = _rows(room)
    assert row["outcome"] == "could not be graded"
    assert row["message"]
    (paper,) = grade_folder(room.folder, room.out, judge=lambda s, h: quick_right(s))
    assert paper.graded[0].report.outcome is Outcome.PASSED


def quick_right(submission):
    return Paper("", "", graded=(Graded("who_writes", RIGHT_REPORT),))


RIGHT_REPORT = Report("who_writes", Outcome.PASSED, 3, 3)


def counting(calls):
    def judge(submission, hidden=None):
        calls.append(submission.learner)
        return quick(submission)

    return judge


def test_only_what_is_new_is_judged(room, tmp_path):
    """a second run judges what has changed; new tests of yours concern everybody"""
    calls = []
    for learner in ("ann", "bob"):
        room(learner)
    again = partial(grade_folder, room.folder, room.out, judge=counting(calls))
    again()
    before = table(room.out)
    again()
    assert (sorted(calls), table(room.out)) == (["ann", "bob"], before)
    room("bob", WRONG)
    again()
    assert calls[2:] == ["bob"]
    hidden = tmp_path / "mine"
    hidden.mkdir()
    (hidden / "test_mine.py").write_text("def test_it(who_writes): ...")
    again(hidden=hidden)
    assert sorted(calls[3:]) == ["ann", "bob"]


@pytest.mark.parametrize("torn", [b'{"key":"12', b"\n\n{}\n[1]\n", b"\xff\x00"])
def test_half_a_line_is_dropped(room, torn):
    """what a killed grader wrote in part is not read, and spoils nothing"""
    calls = []
    for learner in ("ann", "bob"):
        room(learner)
    papers = room.graded()
    found = room.out / "results.jsonl"
    lines = found.read_bytes().splitlines(keepends=True)
    found.unlink()
    (room.out / "results.jsonl.new").write_bytes(lines[0] + torn)
    assert grade_folder(room.folder, room.out, judge=counting(calls)) == papers
    assert len(calls) == 1
    assert all(json.loads(line)["key"] for line in found.read_bytes().splitlines())
    assert not (room.out / "results.jsonl.new").exists()


def test_an_early_end_keeps_the_old_tables_and_what_is_done(room):
    """Ctrl-C leaves last week's table whole, and the next call goes on"""
    calls = []
    for learner in ("ann", "bob", "cy"):
        room(learner, WRONG)
    room.graded()
    before = (room.out / "results.csv").read_bytes()
    for learner in ("ann", "bob", "cy"):
        room(learner, RIGHT)

    def interrupt(paper, done, of):
        assert (room.out / "results.csv").read_bytes() == before
        if done == 2:
            raise KeyboardInterrupt

    again = partial(grade_folder, room.folder, room.out, jobs=1)
    with pytest.raises(KeyboardInterrupt):
        again(judge=quick, progress=interrupt)
    assert (room.out / "results.csv").read_bytes() == before
    papers = again(judge=counting(calls))
    assert calls == ["cy"]
    assert [p.graded[0].report.outcome for p in papers] == [Outcome.PASSED] * 3


@pytest.mark.in_ci
def test_ten_deaths_change_no_row(room, monkeypatch, tmp_path):
    """kill -9 at ten moments and call again: the same table, and nothing done twice"""
    monkeypatch.setenv("JUDGED", str(tmp_path / "judged"))
    for number in range(120):
        room(f"l{number:03}", RIGHT if number % 3 else WRONG)
    moments, context = random.Random(14), get_context("fork")
    options = {"judge": slow, "jobs": 2}
    for _ in range(10):
        process = context.Process(
            target=grade_folder, args=(room.folder, room.out), kwargs=options
        )
        process.start()
        process.join(moments.uniform(0.1, 1.2))
        process.kill()
        process.join()
    grade_folder(room.folder, room.out, **options)
    judged = (tmp_path / "judged").read_text().split()
    assert len(judged) <= 120 + 10 * 2  # those at work when it died
    grade_folder(room.folder, room.out.with_name("whole"), **options)
    assert table(room.out) == table(room.out.with_name("whole"))


def test_two_graders_do_not_share_a_folder(room):
    """a second grader on the same tables is told to wait"""
    room("ann")
    said = get_context("fork").Queue()

    def second(paper, done, of):
        process = get_context("fork").Process(target=_said, args=(said, room))
        process.start()
        process.join()

    room.graded(progress=second)
    assert "another grader is at work" in said.get(timeout=10)


def _said(said, room):
    try:
        said.put(str(room.graded()))
    except CourseError as error:
        said.put(str(error))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none", "out"], "it is not there"),
        (["class", "class/out"], "outside of it"),
        (["class", "class"], "outside of it"),
        (["class", "out"], "no learner's folder"),
        (["class", "out", "--jobs", "0"], "--jobs 0"),
        (["class", "out", "--hidden", "class"], "test_"),
        (["class", "class.txt/out"], "Not a directory"),
        (["class", "out", "--course", "none.toml"], "none.toml"),
    ],
)
def test_misuse_is_a_sentence(room, monkeypatch, capsys, arguments, words):
    """what an instructor mistypes ends in a sentence and exit code 2"""
    monkeypatch.chdir(room.folder.parent)
    (room.folder.parent / "class.txt").touch()
    assert main(["grade", *arguments]) == 2
    assert words in capsys.readouterr().err


@pytest.fixture
def quickly(monkeypatch):
    """Let the command judge by words alone."""
    graded = partial(grade_folder, judge=quick)
    monkeypatch.setattr("workbook.classroom.command.grade_folder", graded)


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize(("cell", "code"), [(WRONG, 0), ("# rubbish\n" + WRONG, 1)])
def test_the_exit_code_speaks_of_the_grading_not_of_the_marks(room, capsys, cell, code):
    """0 when all was graded, however badly; 1 when something could not be"""
    room("ann", cell)
    (room.folder / "bob").mkdir()
    assert main(["grade", str(room.folder), str(room.out)]) == code
    shown = capsys.readouterr()
    assert "1 of 2" in shown.err
    assert ("could not be graded" in shown.out) == bool(code)
    for name in ("results.csv", "marks.csv", "class.html", "feedback"):
        assert name in shown.out
        assert (room.out / name).exists()


def test_an_early_end_is_130(room, monkeypatch, capsys):
    """Ctrl-C says what is kept, and that the same command goes on"""

    def interrupted(*args, progress, **options):
        progress(Paper("ann", NAME), 3, 9)
        raise KeyboardInterrupt

    monkeypatch.setattr("workbook.classroom.command.grade_folder", interrupted)
    assert main(["grade", str(room.folder), str(room.out)]) == 130
    assert "3 of 9 are kept" in capsys.readouterr().err


@pytest.mark.in_ci
def test_a_folder_is_graded_by_its_tests_and_by_yours(room, tmp_path):
    """the judge itself: verdicts by the course's tests, and by hidden ones apart"""
    room("ann", RIGHT)
    room("bob", WRONG)
    hidden = tmp_path / "mine"
    hidden.mkdir()
    (hidden / "test_mine.py").write_text(
        'def test_it(who_writes):\n    """thoughts are the model\'s"""\n'
        '    assert who_writes("Thought") == "model"\n'
    )
    grade_folder(room.folder, room.out, hidden=hidden)
    rows = table(room.out)
    assert [row["outcome"] for row in rows] == ["passed", "wrong"]
    assert [(row["hidden_met"], row["hidden_of"]) for row in rows] == [("1", "1")] * 2


@pytest.mark.in_ci
def test_a_table_of_an_ended_run_is_not_replaced(room):
    """pytest --answers -x leaves the old table, names it as stale, and exits with 2"""
    room("ann", WRONG)
    room("bob", RIGHT)
    old = room.folder.parent / "marks.csv"
    old.write_text("last week's")
    command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider"]
    run = subprocess.run(
        [*command, f"--answers={room.folder}", f"--answers-csv={old}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == pytest.ExitCode.INTERRUPTED
    assert "stale" in run.stdout
    assert old.read_text() == "last week's"
    assert sorted(path.name for path in old.parent.iterdir()) == ["class", "marks.csv"]
