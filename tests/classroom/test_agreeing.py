"""`check` in a kernel and the grader say the same of the same notebook."""

import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.classroom.texts import read
from workbook.classroom.judge import judge
from workbook.classroom.results import Submission

pytestmark = pytest.mark.in_ci

BOOKS = read(Path(__file__).parent / "agreeing")
ENDS = "passed|wrong|your code raised|not attempted"
SAID = re.compile(rf"^(\w+) · ({ENDS})(?: · (\d+) of (\d+))?$", re.MULTILINE)
DEFINED = re.compile(r"^\s*(?:async )?def (\w+)|^(\w+) = ", re.MULTILINE)


@pytest.fixture(scope="session")
def papers():
    """Return what the grader says of each notebook; two are judged at a time."""
    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        found = pool.map(
            lambda book: judge(Submission("ann", book.file_name, book.as_json())),
            BOOKS.values(),
        )
        return dict(zip(BOOKS, found, strict=True))


def said_by_check(book, kernel, folder):
    """Return what was said last of each exercise, when all cells ran in their order.

    A cell that defines a function and raises before its check is an answer that raised.
    One that no cell checks is checked at the end.
    """
    kernel(f"%reset -f\nimport os; os.chdir({str(folder)!r}); del os")
    said = {}
    for source, _ in [*book.cells, ("from workbook import check", [])]:
        shown = kernel(source.replace("\r\n", "\n"))
        found = SAID.findall(shown)
        said |= {slug: (outcome, met) for slug, outcome, met, _ in found}
        if re.search(r"^\w*(Error|Exception)\b", shown, re.MULTILINE) and not found:
            said |= dict.fromkeys(defined_in(source), ("your code raised", ""))
    for slug in defined(book) - said.keys():
        found = SAID.findall(kernel(f"check({slug})"))
        said |= {slug: (outcome, met) for slug, outcome, met, _ in found}
    return {slug: said.get(slug, ("not attempted", "")) for slug in defined(book)}


def defined_in(source):
    names = {name for names in DEFINED.findall(source) for name in names}
    return names & {"who_writes", "count_tokens_sent", "build_history"}


def defined(book):
    return set().union(*(defined_in(source) for source, _ in book.cells))


@pytest.mark.parametrize("name", BOOKS)
def test_check_and_the_grader_agree(name, kernel, papers, tmp_path):
    """what check says in a notebook is what the grader says of it"""
    book = BOOKS[name]
    said = said_by_check(book, kernel, tmp_path)
    graded = {found.slug: found for found in papers[name].graded}
    found = {}
    for slug in said:
        report = graded[slug].report
        met = str(report.passed) if report.total else ""
        met = "" if report.outcome == "not attempted" else met
        found[slug] = (str(report.outcome), met)
    assert found == said, book.about
