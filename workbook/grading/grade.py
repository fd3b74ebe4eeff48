"""A folder of notebooks, graded: tables of marks, a page a learner, one of the class.

Each notebook has a process of its own, confined.
"""

import csv
import hashlib
import os
import re
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

from workbook.exercises.answer import answer_in
from workbook.exercises.catalogue import CourseError, exercises
from workbook.exercises.display import as_message
from workbook.exercises.report import Failure, Outcome, Report
from workbook.exercises.worker import Worker
from workbook.grading.confinement import bubblewrap, environment
from workbook.grading.notebooks import Book, books_in
from workbook.pages import template

FORMULA = tuple("=+-@\t\r\n")  # what a spreadsheet would calculate begins so
PARSING = Lock()  # Python 3.11 fails now and then where two threads parse
Reports = dict[str, Report]  # by exercise


@dataclass
class Paper:
    """What came of a notebook: each of its exercises has a report."""

    book: Book
    reports: Reports = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)  # the answers that were tested
    problem: str = ""  # why something in it could not be graded


def grade_command(
    folder: Path,
    out: Path | None = None,
    jobs: int | None = None,
    wrapper: str = "",
    unconfined: bool = False,
) -> int:
    """Grade a folder, write tables and pages, and return the exit code.

    It is 0 when all was graded, whatever the marks; 1 when something could not be.
    Wrong use is a CourseError.
    """
    folder = folder.absolute()
    out = out or folder.with_name(f"{folder.name}_graded")
    if out.resolve().is_relative_to(folder.resolve()):
        raise CourseError(f"{out} is in the folder that is graded. Name another one.")
    if jobs is not None and jobs < 1:
        raise CourseError(f"--jobs is {jobs}: use 1 or more.")
    confined = command_in(wrapper) or ([] if unconfined else bubblewrap(folder, out))
    try:
        out.mkdir(parents=True, exist_ok=True)
        papers = grade_books(books_in(folder), confined, jobs)
        learners: dict[str, Reports] = {paper.book.learner: {} for paper in papers}
        for paper in papers:
            learners[paper.book.learner].update(paper.reports)
        write_results(papers, out / "results.csv")
        write_marks(learners, out / "marks.csv")
        write_feedback(papers, out / "feedback")
        write_class([*learners.values()], out / "class.html")
    except OSError as error:
        words = f"{error.filename or out}: {error.strerror}. Name another folder."
        raise CourseError(words) from None
    print(f"{len(papers)} notebooks. Tables and pages are in {out}.")
    return 1 if any(paper.problem for paper in papers) else 0


def command_in(wrapper: str) -> list[str]:
    """Return the words of a command that confines; a CourseError: it cannot be run."""
    try:
        words = shlex.split(wrapper)
    except ValueError as error:
        raise CourseError(f"--wrapper {wrapper!r} cannot be read: {error}.") from None
    if words and not shutil.which(words[0]):
        raise CourseError(f"--wrapper: there is no program {words[0]} here.")
    return words


def grade_books(
    books: Sequence[Book], wrapper: Sequence[str], jobs: int | None = None
) -> list[Paper]:
    """Return a paper a notebook; at Ctrl-C those that were begun are waited for."""
    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        env = environment()
        futures = {pool.submit(grade_book, book, wrapper, env): book for book in books}
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                book, problem = futures[future], future.result().problem
                line = f"{done} of {len(books)}  {book.learner}  {book.name}  {problem}"
                print(line.rstrip(), file=sys.stderr, flush=True)
        finally:
            pool.shutdown(cancel_futures=True)
    return [future.result() for future in futures]


def grade_book(
    book: Book, wrapper: Sequence[str] = (), env: Mapping[str, str] | None = None
) -> Paper:
    """Test a notebook's answers one after another in a process; see `Worker`.

    The `total` of a report is always the number of the exercise's tests.
    """
    paper, worker = Paper(book, problem=book.problem), None
    for slug in book.slugs:
        with PARSING:
            of = len(exercises()[slug].requirements())
        report = Report(slug, Outcome.NOT_ATTEMPTED, 0, of)
        try:
            if book.problem:
                raise LookupError(book.problem)
            with PARSING:
                text = answer_in(book.cells, slug, exercises().keys() - {slug})
            paper.texts[slug] = text
            if worker is None or worker.ended:
                worker = Worker(wrapper, env)
            found = worker.test(slug, text)
            report = replace(found, passed=max(0, min(found.passed, of)), total=of)
        except Exception as error:
            report = replace(report, failures=(Failure(str(error)),))
            if slug in paper.texts:  # then the tests cannot run
                paper.problem = f"{slug}: {error}"
            elif not isinstance(error, LookupError):  # it cannot be made a text
                report = replace(report, outcome=Outcome.RAISED)
        paper.reports[slug] = report
    if worker:
        worker.close()
    return paper


def write_results(papers: Iterable[Paper], path: Path) -> None:
    """Write a table with a row an exercise, or one that says why there is none."""
    head = "learner", "notebook", "exercise", "outcome", "met", "of", "not met", "note"
    rows: list[Sequence[object]] = [head]
    for paper in sorted(papers, key=lambda paper: paper.book.learner.casefold()):
        whose = (paper.book.learner, paper.book.name)
        for slug, each in paper.reports.items():
            missed = each.failures[0].requirement if each.failures else ""
            found = (slug, each.outcome, each.passed, each.total, missed)
            rows.append((*whose, *found, paper.problem))
        if not paper.reports:
            rows.append((*whose, "", "", 0, 0, "", paper.problem))
    _write(rows, path)


def write_marks(learners: dict[str, Reports], path: Path) -> None:
    """Write a table with a row a learner: `of` counts all exercises of each lesson."""
    slugs = [s for s in exercises() if any(s in own for own in learners.values())]
    rows: list[Sequence[object]] = [("learner", "met", "of", *slugs)]
    for learner, own in sorted(learners.items()):
        met = sum(report.passed for report in own.values())
        of = sum(report.total for report in own.values())
        each = [own[slug].passed if slug in own else "" for slug in slugs]
        rows.append((learner, met, of, *each))
    _write(rows, path)


def _write(rows: Iterable[Sequence[object]], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8-sig", errors="replace") as file:
        for row in rows:
            texts = [str(cell) for cell in row]
            texts = [f"'{each}" if each.startswith(FORMULA) else each for each in texts]
            csv.writer(file).writerow(texts)


def write_feedback(papers: Sequence[Paper], folder: Path) -> None:
    """Write a page for each learner, with nobody else's name in it."""
    folder.mkdir(exist_ok=True)
    known = {"exercises": exercises(), "message": as_message}
    page = template("classroom/feedback.html", **known)
    for name in {paper.book.learner for paper in papers}:
        own = [paper for paper in papers if paper.book.learner == name]
        plain = re.sub(r"[^\w-]", "_", name)[:60]  # what any system takes for a file
        if plain != name:  # or two names could be one
            plain += f"-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
        text = page.render(name=name, papers=own)
        (folder / f"{plain}.html").write_text(text, encoding="utf-8", errors="replace")


def write_class(learners: Sequence[Reports], path: Path) -> None:
    """Write what the class missed, exercise by exercise, without names."""
    rows = []
    for slug, exercise in exercises().items():
        reports = [own[slug] for own in learners if slug in own]
        passed = sum(report.outcome is Outcome.PASSED for report in reports)
        failures = [failure for report in reports for failure in report.failures]
        missed = Counter(each.requirement for each in failures if each.test)
        if reports:
            rows.append((exercise, passed, len(reports), missed.most_common(5)))
    text = template("classroom/class.html").render(rows=rows, learners=len(learners))
    path.write_text(text, encoding="utf-8", errors="replace")
