"""The pytest plugin: a fixture for each exercise, and `--answers FOLDER`."""

from pathlib import Path

import pytest

from workbook.checks.catalogue import CourseError
from workbook.checks.display import as_message
from workbook.checks.grade import bubblewrap, complete, environment
from workbook.checks.handed_in import Row, handed_in
from workbook.checks.tester import fixtures


def pytest_addoption(parser: pytest.Parser) -> None:
    add = parser.getgroup("workbook", "exercises of the workbook").addoption
    words = "grade a notebook, or a folder with one subfolder a learner; no other test"
    add("--answers", metavar="PATH", type=Path, help=words)
    add("--answers-unconfined", action="store_true", help="grade without bubblewrap")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(fixtures(), "workbook-fixtures")  # the package's own
    if config.getoption("--answers"):
        config.args.clear()


class Answer(pytest.Item):
    """One exercise of one notebook: `ann/01_naive_loop.ipynb::parse_turn`."""

    row: Row
    wrapper: list[str]

    def runtest(self) -> None:
        (row,) = complete([self.row], self.wrapper, environment())
        if row["problem"] or row["outcome"] not in ("passed", "not attempted"):
            pytest.fail(row["problem"] or str(as_message(row)), pytrace=False)
        if row["outcome"] == "not attempted":
            pytest.skip("not attempted")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    if path := config.getoption("--answers"):
        trusted = config.getoption("--answers-unconfined")
        try:
            rows, wrapper = handed_in(path), [] if trusted else bubblewrap(path)
        except CourseError as error:
            raise pytest.UsageError(str(error)) from None
        for row in rows:
            name = f"{row['learner']}/{row['notebook']}::{row['slug']}"
            items.append(item := Answer.from_parent(session, name=name, nodeid=name))
            item.row, item.wrapper = row, wrapper
