"""The pytest plugin: one fixture per exercise, and `--answers`.

By default a fixture `parse_turn` is the package's function: the package is tested.
With `--answers PATH` each exercise of each notebook is one item, and all there is.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

import pytest

from workbook.exercises.catalogue import CourseError
from workbook.exercises.display import as_message
from workbook.exercises.report import Outcome
from workbook.exercises.run_tests import fixtures
from workbook.grading.confinement import bubblewrap, environment
from workbook.grading.grade import Paper, grade_book
from workbook.grading.notebooks import Book, books_in


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("workbook", "exercises of the workbook")
    words = "grade a notebook, or a folder with one subfolder a learner; no other test"
    group.addoption("--answers", metavar="PATH", type=Path, help=words)
    words = "grade without bubblewrap, where you trust the authors"
    group.addoption("--answers-unconfined", action="store_true", help=words)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(fixtures(), "workbook-fixtures")
    if path := config.getoption("--answers"):
        unconfined = config.getoption("--answers-unconfined")
        try:
            answers = Answers(books_in(path), [] if unconfined else bubblewrap(path))
        except CourseError as error:
            raise pytest.UsageError(str(error)) from None
        config.pluginmanager.register(answers, "workbook-answers")


class ExerciseItem(pytest.Item):
    """One exercise of one notebook: `ann/01_naive_loop.ipynb::parse_turn`."""

    paper: Callable[[], Paper]  # the notebook is graded when it is first asked for

    def runtest(self) -> None:
        paper = self.paper()
        report = paper.reports[self.name]
        if paper.problem:
            pytest.fail(paper.problem, pytrace=False)
        if report.outcome is Outcome.NOT_ATTEMPTED:
            pytest.skip("not attempted")
        if report.outcome is not Outcome.PASSED:
            pytest.fail(str(as_message(report)), pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, self.nodeid


class Answers:
    """Has exercises in place of tests."""

    def __init__(self, books: Sequence[Book], wrapper: Sequence[str]) -> None:
        self.books, self.wrapper = books, wrapper

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool:
        for book in self.books:
            paper = cache(partial(grade_book, book, self.wrapper, environment()))
            for slug in book.slugs:
                name = f"{book.learner}/{book.name}::{slug}"
                item = ExerciseItem.from_parent(session, name=slug, nodeid=name)
                item.paper = paper
                session.items.append(item)
        hook, config, items = session.config.hook, session.config, session.items
        hook.pytest_collection_modifyitems(session=session, config=config, items=items)
        session.testscollected = len(items)  # `-k` has chosen among them
        hook.pytest_collection_finish(session=session)
        return True
