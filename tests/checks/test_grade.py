"""Grading a folder: each answer has a verdict, a learner a sum, the class a page."""

import ast
import os
import subprocess
import sys
import threading

import pytest

from tests.checks.classroom import LESSON, RIGHT, STUB, rows_of, write_cells
from tests.learner import cells_with_answer
from workbook.checks import grade, handed_in
from workbook.checks.catalogue import CourseError, exercises
from workbook.checks.parts import path_of
from workbook.paths import ROOT

HOME = exercises()["who_writes"].target.partition(":")[0]
OURS = f"import {HOME}\n\ndef who_writes(label):\n    return {HOME}.who_writes(label)\n"
MOODLE = "_assignsubmission_file_"
NAME = "=1+1 <b>bold"
UNREADABLE = {"cut off": b'{"cells": [{"cell', "no cells": b'{"cells": 5}'}
RAISED, SKIPPED = "your code raised", "not attempted"
CLASS = {  # a learner's cells: outcome, rules met of three, words of the row
    "right": ([RIGHT], "passed", 3, ""),
    "wrong": (["def who_writes(label): return 'model'"], "wrong", 2, "Observation"),
    "stub": ([STUB], SKIPPED, 0, ""),
    "the same stub": ([STUB], SKIPPED, 0, ""),
    "deleted": (["x = 1"], SKIPPED, 0, "no cell defines who_writes"),
    "above in its cell": ([RIGHT + STUB], "passed", 3, ""),
    "broken": (["x = 1\ndef who_writes(:\n"], RAISED, 0, "in line 2"),
    "raising cell": (["1 / 0", RIGHT, "1 / 0"], "passed", 3, ""),
    "endless": (["def who_writes(_):\n  while 1: 0"], RAISED, 0, "not run"),
    "deep": (["def who_writes(_): " + "[" * 250], RAISED, 0, "in line 1"),
    "ours": ([OURS], "passed", 3, ""),
    "Zoë 漢字": ([RIGHT.replace("\n", "\r\n")], "passed", 3, ""),
    "Ann Lee_17_assignsubmission_file_": ([STUB, RIGHT], "passed", 3, ""),
    NAME: (["def who_writes(_): raise OSError('<script>')"], RAISED, 0, ""),
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Grade a class; return both tables by learner, OUT, the exit code, who parsed."""
    home, parsed, parse = tmp_path_factory.mktemp("home"), set(), ast.parse
    for name, (cells, *_) in CLASS.items():
        path = home / "class" / name / f"{LESSON}.ipynb"
        write_cells(path, *cells, metadata={"vscode": {"languageId": "python"}})
    path = write_cells(home / "class" / "bom" / f"{LESSON}-Copy1 (2).ipynb", RIGHT)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    for name, content in UNREADABLE.items():
        write_cells(home / "class" / name / f"{LESSON}.ipynb").write_bytes(content)
    (home / "class" / "nothing").mkdir()

    def noted(*args, **options):
        parsed.add(threading.current_thread())
        return parse(*args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ast, "parse", noted)
        code = grade.grade(home / "class")
    tables = (rows_of(home / "class_graded" / f"{n}.csv") for n in ("results", "marks"))
    by_learner = ({row["learner"]: row for row in table} for table in tables)
    return *by_learner, home / "class_graded", code, parsed


@pytest.mark.parametrize("name", CLASS)
def test_an_answer_has_its_verdict(graded, name):
    """an answer counts wherever it is, and a syntax error is reported with its line"""
    _, outcome, met, words = CLASS[name]
    learner = f"'{name}" if name == NAME else name.partition("_")[0]
    row, marks = graded[0][learner], graded[1][learner]
    assert (row["outcome"], row["met"], row["of"]) == (outcome, str(met), "3")
    assert words in f"{row['rule']} {row['note']}"
    assert (marks["met"], marks["of"], marks[LESSON]) == (str(met), "3", str(met))
    assert marks["percent"] == str(round(100 * met / 3))


def test_what_cannot_be_graded_has_a_row_and_an_exit_code(graded):
    """none of its rules is met, and the row says why; a byte order mark is read"""
    rows, marks, _, code, parsed = graded
    assert (rows["bom"]["outcome"], rows["nothing"]["problem"]) == (
        "passed",
        "no notebook",
    )
    for name in UNREADABLE:
        assert "cannot be read as a notebook" in rows[name]["problem"]
        assert (marks[name]["met"], marks[name]["of"]) == ("0", "3")
    assert (marks["nothing"]["met"], code) == ("0", 1)
    # In Python 3.11 a parser can fail where two threads parse at once.
    assert parsed == {threading.main_thread()}


def test_answers_alike_and_our_own_function_are_flagged(graded):
    """equal answers but for comments and blanks name each other; stubs are not alike"""
    same = {"right", "above in its cell", "bom", "raising cell", "Zoë 漢字", "Ann Lee"}
    for name, row in graded[0].items():
        assert row["alike"] == ", ".join(sorted(same - {name} if name in same else ""))
        assert (row["ours"] == "True") is (name == "ours")


def test_pages_show_all_and_nobody_elses_name(graded):
    """no text is a tag, a learner reads of no other one, the class page has no name"""
    pages = {path.stem: path.read_text("utf-8") for path in graded[2].rglob("*.html")}
    assert len(pages) == len(graded[0]) + 1
    for name, text in pages.items():
        assert "<script>" not in text
        assert "<b>bold" not in text
        assert ("Zoë" in text) is name.startswith("Zoë")
    assert "passed, 3 of 3" in pages["right"]
    missed = [
        each.split("`")[-1] for each in exercises()["who_writes"].rules().values()
    ]
    words = [
        "7 of 17 passed",
        "5 not attempted",
        "6 with the same answer",
        "1 with the",
    ]
    assert not [each for each in words + missed if each not in pages["class"]]


@pytest.mark.parametrize("slug", ["replay", "screen"])
def test_an_honest_answer_is_not_taken_for_ours(slug, tmp_path):
    """an import of what the card names, from our module, is no flag"""
    path = tmp_path / f"{exercises()[slug].lesson}.ipynb"
    rows = handed_in.handed_in(write_cells(path, *cells_with_answer(slug)))
    rows = [{**row, "attempted": True} for row in rows]
    grade._compare(rows)
    assert [row["ours"] for row in rows if row["text"]] == [False]


def test_of_two_copies_the_better_answer_counts(tmp_path, monkeypatch):
    """exercise by exercise, and the page says so; a forged report spoils no other"""
    slugs = [slug for slug, each in exercises().items() if each.lesson[:2] == "01"]
    for name, words in (("", "good bad"), ("-Copy1", "bad good")):
        answers = zip(slugs, words.split() * 2, strict=True)
        path = tmp_path / "class" / "ann" / f"01_naive_loop{name}.ipynb"
        write_cells(path, *(f"def {slug}(): '{word}'" for slug, word in answers))
    write_cells(tmp_path / "class" / "bob" / f"{LESSON}.ipynb", "def who_writes(): 'f'")

    def found(self, slug, text):
        fine = {"outcome": "wrong", "met": int("good" in text), "failures": []}
        forged = {"outcome": [], "met": "999", "failures": [{"rule": {}}]}
        return {**(forged if "'f'" in text else fine), "note": ""}

    monkeypatch.setattr(grade.Worker, "test", found)
    assert grade.grade(tmp_path / "class", unconfined=True) == 1
    *rows, _ = rows_of(tmp_path / "class_graded" / "results.csv")
    assert all((row["counts"] == "True") is (row["met"] == "1") for row in rows)
    ann, bob = rows_of(tmp_path / "class_graded" / "marks.csv")
    assert (ann["met"], bob["met"], bob["of"]) == ("4", "3", "3")
    page = (tmp_path / "class_graded" / "feedback" / "ann.html").read_text("utf-8")
    assert page.count("It does not count") == len(slugs)


def test_chosen_lessons_are_the_sum_of_every_learner(tmp_path):
    """with --lessons all of their exercises count, handed in or not, and no others"""
    write_cells(tmp_path / "class" / "ann" / f"{LESSON}.ipynb", RIGHT)
    write_cells(tmp_path / "class" / "bob" / "05_state_machine.ipynb", "x = 1")
    known = [LESSON, "04_tools_as_contracts", "04b_a_safe_calculator"]
    chosen = ["00", "04", "04b_a_safe_calculator"]
    assert grade.grade(tmp_path / "class", tmp_path / "out", lessons=chosen) == 0
    of = [len(e.rules()) for e in exercises().values() if e.lesson in known]
    ann, bob = rows_of(tmp_path / "out" / "marks.csv")
    assert [*ann] == ["learner", "met", "of", "percent", *known]
    assert (ann["of"], bob["of"]) == (str(sum(of)), str(sum(of)))
    assert (ann["met"], bob["met"], bob[LESSON]) == ("3", "0", "0")
    with pytest.raises(CourseError, match="99 is none"):
        grade.grade(tmp_path / "class", lessons=["99"])


@pytest.mark.parametrize(
    ("folder", "name", "cell", "learner", "count"),
    [
        ("ann/deep", "01_naive_loop_ann (2).ipynb", RIGHT, "ann", 4),
        ("ann_8" + MOODLE, "homework.ipynb", "def parse_turn(): 0", "ann", 4),
        ("Bob_9" + MOODLE, f"{LESSON}.ipynb", RIGHT, "Bob_9", 1),
        ("ann", "homework.ipynb", "def unknown(): ...", "ann", 1),
    ],
)
def test_whose_it_is_and_of_which_lesson(tmp_path, folder, name, cell, learner, count):
    """Moodle's number stays where two have one name; a lesson shows in name or cells"""
    write_cells(tmp_path / folder / name, cell)
    write_cells(tmp_path / f"Bob_7{MOODLE}" / name, cell)
    (tmp_path / "Bob_7_assignsubmission_onlinetext").mkdir()
    found = handed_in.handed_in(tmp_path)
    rows = [row for row in found if row["learner"].startswith(learner)]
    assert len(rows) == count
    assert bool(rows[0]["problem"]) is ("unknown" in cell)


def test_what_is_hidden_or_leads_out_is_not_read(tmp_path, monkeypatch):
    """checkpoints are skipped; a link out of the folder, or too large, is a row"""
    monkeypatch.setattr(handed_in, "LARGEST_B", 500)
    book, (ann, bob) = f"{LESSON}.ipynb", (tmp_path / name for name in ("ann", "bob"))
    for folder in (bob, ann / ".ipynb_checkpoints", ann / "__MACOSX"):
        write_cells(folder / book, RIGHT)
    (ann / book).symlink_to(bob / book)
    (ann / "round.ipynb").symlink_to("round.ipynb")
    (tmp_path / "cyd").symlink_to(bob)
    (tmp_path / "dan" / book).mkdir(parents=True)
    write_cells(tmp_path / "eve" / book, "x = 1" * 500)
    rows = handed_in.handed_in(tmp_path)
    found = {(row["learner"], row["notebook"]): row["problem"] for row in rows}
    assert not found.pop(("bob", book))  # without metadata, as of another tool
    assert "leads elsewhere" in found["ann", book]
    assert "more than 500 bytes" in found["eve", book]
    assert all(found.values())
    assert len(found) == 5


def test_without_confinement_it_refuses(tmp_path, monkeypatch):
    """without bubblewrap it needs another program, or the word --unconfined"""
    write_cells(tmp_path / "class" / "ann" / f"{LESSON}.ipynb", RIGHT)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))
        with pytest.raises(CourseError, match="--unconfined"):
            grade.grade(tmp_path / "class")
        assert not (tmp_path / "class_graded").exists()
        assert grade.grade(tmp_path / "class", unconfined=True) == 0
    assert grade.grade(tmp_path / "class", tmp_path / "out", wrapper="nice -n 1") == 0
    assert rows_of(tmp_path / "out" / "marks.csv")[0]["met"] == "3"
    monkeypatch.setattr(grade, "OWN", ["false"])
    with pytest.raises(CourseError, match="does not work here"):
        grade.bubblewrap()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"wrapper": "'docker run"}, "No closing quotation"),
        ({"out": "class/out"}, "Name another one"),
        ({"out": "marked"}, "holds marks, which stay"),
        ({"out": ROOT / "data" / "marks"}, "Every notebook may read"),
    ],
)
def test_wrong_use_is_reported_before_anything_is_graded(tmp_path, options, words):
    """a sentence says what to do, and marks that are there stay"""
    write_cells(tmp_path / "class" / "ann" / f"{LESSON}.ipynb", RIGHT)
    (tmp_path / "marked").mkdir()
    (tmp_path / "marked" / "marks.csv").write_text("mine")
    options = {key: tmp_path / v if key == "out" else v for key, v in options.items()}
    with pytest.raises(CourseError, match=words):
        grade.grade(tmp_path / "class", **options)
    assert (tmp_path / "marked" / "marks.csv").read_text() == "mine"
    assert not (tmp_path / "class_graded").exists()


def test_collect_keeps_the_newest_answer_that_passes(tmp_path, own_data):
    """of two right answers the one saved last; one that raises is a row, a stub none"""
    cells = {"b": f"{RIGHT}    # b", "a": f"{RIGHT}    # a", "d": STUB, "s": "x = 1"}
    cells["c"] = "def who_writes(label): return 1 / 0"
    for age, (name, cell) in enumerate(cells.items()):
        path = write_cells(tmp_path / "n" / f"{name}.ipynb", cell)
        os.utime(path, (1_000_000 + age, 1_000_000 + age))
    write_cells(tmp_path / "n" / "mine.ipynb").write_text("{")
    rows = {row[0][0]: row for row in grade.collect(tmp_path / "n").rows}
    kept = {"b": "kept", "a": "kept", "d": SKIPPED, "c": RAISED, "m": SKIPPED}
    assert {name: row[2] for name, row in rows.items()} == kept
    assert "cannot be read" in rows["m"][3]
    assert path_of("who_writes").read_text(encoding="utf-8").endswith('"model"\n')
    with pytest.raises(CourseError, match="holds no notebook"):
        grade.collect(tmp_path / "nowhere")


@pytest.mark.in_ci
def test_pytest_finds_the_same(tmp_path):
    """as grade does; a failure says what check says, -k chooses, a slip is told"""
    for name, cell in (("ann", RIGHT), ("bob", STUB), ("cyd", "def who_writes(): 0")):
        write_cells(tmp_path / "class" / name / f"{LESSON}.ipynb", cell)
    write_cells(tmp_path / "class" / "dan" / f"{LESSON}.ipynb").write_text("")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-v"]

    def printed(folder, *options):
        asked = [*command, f"--answers={folder}", *options]
        return subprocess.run(asked, cwd=ROOT, capture_output=True, text=True).stdout

    found = printed(tmp_path / "class", "--answers-unconfined")
    grade.grade(tmp_path / "class", tmp_path / "out", unconfined=True)
    rows = rows_of(tmp_path / "out" / "results.csv")
    assert len(rows) == 4
    for row in rows:
        item = "{learner}/{notebook}::{exercise}".format(**row)
        outcome = "failed" if row["problem"] else row["outcome"]
        outcome = {"passed": "PASSED", SKIPPED: "SKIPPED"}.get(outcome, "FAILED")
        assert f"{item} {outcome}" in found
    assert "2 failed, 1 passed, 1 skipped" in found
    assert "who_writes · your code raised · 0 of 3" in found
    assert "cannot be read as a notebook" in found
    assert "1 passed, 3 deselected" in printed(tmp_path / "class", "-k", "ann")
    assert "no tests ran" in printed(tmp_path / "nowhere")
