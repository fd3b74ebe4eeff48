"""Hostile notebooks between two witnesses: nobody gets more than is due, nobody less.

One run over one folder; then an assertion for each notebook, and for what it touched.
"""

import hashlib
import os
import socket
import tempfile
import threading
import uuid
from pathlib import Path

import psutil
import pytest

from tests.classroom.benign import RIGHT, WRONG, learner_notebook
from tests.classroom.texts import read
from workbook.classroom.run import grade_folder
from workbook.exercises.catalogue import exercises
from workbook.exercises.report import Outcome
from workbook.paths import ROOT

pytestmark = pytest.mark.in_ci

BOOKS = read(Path(__file__).parent / "hostile")
LESSONS = ("00", "01", "03", "06", "07")
WITNESSED = [e.slug for e in exercises().values() if e.lesson[:2] in LESSONS]
WITNESSES = {"0 all right": RIGHT, "zz all wrong": WRONG}


class Run:
    """What a run over the folder left: papers, connections, processes, files."""

    def __init__(self, base):
        self.mark = f"mark-{uuid.uuid4().hex}"
        self.folder, self.home, self.tmp = (base / n for n in ("class", "home", "tmp"))
        for each in (self.folder, self.home, self.tmp):
            each.mkdir()
        (self.folder / "results.csv").write_text("last week's table")
        (self.home / "notes.txt").write_text("mine")
        self.server = socket.create_server(("127.0.0.1", 0))
        self.called = []
        threading.Thread(target=self._listen, daemon=True).start()
        known = {
            "CLASS": self.folder, "HOME": self.home, "TMP": self.tmp, "ROOT": ROOT,
            "MARK": self.mark, "PORT": self.server.getsockname()[1],
            "LONG": "x" * 5_000_000, "DEEP": "[" * 5_000 + "]" * 5_000,
        }  # fmt: skip
        for name, slugs in WITNESSES.items():
            text = learner_notebook(dict.fromkeys(WITNESSED, slugs))
            self._submit(name, "lessons.ipynb", text)
        for name, book in BOOKS.items():
            text = book.as_json()
            for key, value in known.items():
                text = text.replace(f"@{key}@", str(value))
            self._submit(name, book.file_name, text)

    def _submit(self, learner, notebook, text):
        (self.folder / learner).mkdir()
        (self.folder / learner / notebook).write_text(text, encoding="utf-8")

    def _listen(self):
        while True:
            try:
                connection, _ = self.server.accept()
            except OSError:
                return
            self.called.append(connection.getpeername())
            connection.close()

    def grade(self, out):
        """Grade the folder, with environment, home and temporary files of its own."""
        before = dict(os.environ), tempfile.tempdir
        os.environ.update(HOME=str(self.home), TMPDIR=str(self.tmp), MARK=self.mark)
        tempfile.tempdir = None
        try:
            papers = grade_folder(self.folder, out, jobs=2)
        finally:
            os.environ.clear()
            os.environ.update(before[0])
            tempfile.tempdir = before[1]
            self.server.close()
        self.papers = {paper.learner: paper for paper in papers}

    def processes(self):
        """Return the command lines of processes that this run began."""
        found = []
        for process in psutil.process_iter():
            try:
                about = [*process.cmdline(), *process.environ().values()]
            except psutil.Error:
                continue
            if process.pid != os.getpid() and any(self.mark in text for text in about):
                found.append(" ".join(process.cmdline())[:200])
        return found


def digests(*folders):
    """Return a digest, mode and extended attributes of each file, by path."""
    found = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                known = hashlib.sha256(path.read_bytes()).hexdigest()
                names = os.listxattr(path) if hasattr(os, "listxattr") else ()
                found[str(path)] = (known, path.stat().st_mode, tuple(names))
    return found


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    """Grade them all, once; note what was there before and after."""
    run = Run(tmp_path_factory.mktemp("hostile"))
    house = [ROOT / name for name in ("workbook", "tests", "data", "notebooks")]
    run.before = digests(*house), digests(run.folder, run.home)
    run.top = {path.name for path in ROOT.iterdir()}
    run.grade(tmp_path_factory.mktemp("out"))
    run.after = digests(*house), digests(run.folder, run.home)
    return run


@pytest.mark.parametrize("slug", WITNESSED)
@pytest.mark.parametrize("name", WITNESSES)
def test_a_witness_gets_what_is_due(name, slug, run):
    """beside hostile ones, who is all right passes all, who is all wrong none"""
    (graded,) = [found for found in run.papers[name].graded if found.slug == slug]
    assert graded.report is not None, graded.problem
    passed = graded.report.outcome is Outcome.PASSED
    assert passed is (WITNESSES[name] == RIGHT), graded.report
    assert graded.report.total > 0


@pytest.mark.parametrize("name", BOOKS)
def test_a_cheat_gets_no_more_than_it_solved(name, run):
    """whatever a notebook tries, no requirement counts that its answer does not meet"""
    book, paper = BOOKS[name], run.papers[name]
    met = int(book.known.get("met", 0))
    assert paper.graded, "no row"
    for graded in paper.graded:
        assert graded.report or graded.problem, "neither found nor said why not"
        if report := graded.report:
            assert report.passed <= met, (book.about, report)
            solved = report.passed == report.total == met
            assert solved or report.outcome is not Outcome.PASSED, (book.about, report)


@pytest.mark.parametrize("name", [n for n in BOOKS if "sign" in BOOKS[n].known])
def test_an_answer_that_is_ours_is_flagged(name, run):
    """an answer that calls the package's own function carries a sign"""
    assert any(graded.signs for graded in run.papers[name].graded), BOOKS[name].about


def test_the_house_is_unchanged(run):
    """no file of the package, tests, data and lessons is changed, gone or new"""
    before, after = run.before[0], run.after[0]
    new = {path for path in after.keys() - before.keys() if ".pyc" not in path}
    assert {path for path in before if before[path] != after.get(path)} == set()
    assert new == set()
    assert [path for path in after if "was_here" in path and ".pyc" in path] == []
    assert {path.name for path in ROOT.iterdir()} - run.top <= {".hypothesis"}


def test_other_folders_are_unchanged(run):
    """class, home and the folder for temporary files hold what they held before"""
    before, after = run.before[1], run.after[1]
    assert {path for path in before if before[path] != after.get(path)} == set()
    assert after.keys() - before.keys() == set()
    left = {path.name for path in run.tmp.iterdir()}
    assert {name for name in left if not name.startswith("workbook-copy-")} == set()
    for folder in ("/tmp", "/var/tmp", "/dev/shm", "/", str(ROOT), str(ROOT.parent)):
        assert not list(Path(folder).glob(f"was-here-{run.mark}*")), folder


def test_no_process_is_left(run):
    """nothing that a notebook began is still running"""
    assert run.processes() == []


def test_nobody_was_called(run):
    """no notebook reached a server on this machine"""
    assert run.called == []
