"""Grading: the exercise's own tests, run on any function."""

import textwrap
import threading
import warnings

import pytest

from workbook.course.display import Result
from workbook.course.exercises import CourseError, Exercise
from workbook.course.grading import grade
from workbook.course.report import Outcome

TESTS = '''
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

CALLS = []


@dataclass
class Pair:
    left: int
    right: int


@pytest.mark.parametrize("number", [1, 2, 3])
def test_small(double, number):
    """small numbers are doubled"""
    assert double(number) == 2 * number


@given(st.integers(0, 1000))
def test_any(double, number):
    """every number is doubled

    perhaps: you have a table of answers
    """
    assert double(number) == 2 * number


def test_negative(double):
    """a negative number raises a ValueError"""
    with pytest.raises(ValueError):
        double(-1)


def test_size(double):
    """the result is at least as large as the number"""
    assert double(2) >= 2, "it has shrunk"


def test_even(double):
    """the result is even"""
    assert double(3) % 2 == 0


def test_sum(double):
    """the result can be added to a number"""
    double(4) + 1


def test_of_the_package_alone():
    """this one does not take the function, and is not run"""
    raise AssertionError
'''


def right(number):
    if number < 0:
        raise ValueError(number)
    return 2 * number


@pytest.fixture
def exercise(tmp_path):
    """An exercise of its own, with tests of its own."""
    path = tmp_path / "test_double.py"
    path.write_text(textwrap.dedent(TESTS), encoding="utf-8")
    return Exercise(
        slug="double",
        lesson="00",
        title="double",
        target="builtins:abs",
        tests=str(path),
        difficulty=1,
        minutes=1,
        goal="Return twice the number.",
        hints=("a", "b", "c"),
    )


def test_only_tests_with_the_fixture_are_run(exercise):
    """the requirements are the tests that take the function, and no others"""
    report = grade(exercise, right)
    assert (report.outcome, report.passed, report.total) == (Outcome.PASSED, 6, 6)


def test_a_property_fails_with_its_smallest_example(exercise):
    """a property that does not hold shows the smallest example, and its guess"""
    report = grade(exercise, lambda n: right(n) if n < 7 else 0)
    (failure,) = report.failures
    assert failure.requirement == "every number is doubled"
    assert failure.evidence == (
        ("called", "double(7)"),
        ("returned", "0"),
        ("expected", "14"),
        ("perhaps", "you have a table of answers"),
    )


def test_parameters_of_a_test_are_one_requirement(exercise):
    """a parametrised test counts once, and shows the first case that fails"""
    report = grade(exercise, lambda n: right(n) if n != 2 else 5)
    assert report.failures[0].evidence[0] == ("called", "double(2)")
    assert (report.passed, report.total) == (5, 6)


@pytest.mark.parametrize(
    ("wrong", "evidence"),
    [
        (lambda n: 2 * n, ("expected", "ValueError is raised")),
        (lambda n: right(n) if n != 2 else 1, ("because", "it has shrunk")),
        (lambda n: right(n) if n != 3 else 7, ("expected", "double(3) % 2 == 0")),
        (lambda n: right(n) if n != 3 else 7, ("but", "1 is not 0")),
        (
            lambda n: right(n) if n != 4 else None,
            (
                "but",
                "double(4) + 1 raises TypeError: unsupported operand type(s) for +:"
                " 'NoneType' and 'int'",
            ),
        ),
    ],
)
def test_what_a_test_wanted_is_said_in_its_own_words(exercise, wrong, evidence):
    """an assertion that compares no result shows its text, its message, or the error"""
    found = [
        line for failure in grade(exercise, wrong).failures for line in failure.evidence
    ]
    assert evidence in found


def test_a_time_limit_ends_the_run(exercise, monkeypatch):
    """after a test that takes too long, the others are not waited for"""
    monkeypatch.setattr("workbook.course.grading.TIME_LIMIT_S", 0.2)
    calls = []

    def slow(number):
        calls.append(number)
        while number == 2:
            pass
        return right(number)

    report = grade(exercise, slow)
    assert report.outcome is Outcome.RAISED
    assert calls == [1, 2]
    assert (report.passed, report.total) == (0, 6)


def test_it_works_on_another_thread(exercise, monkeypatch):
    """where no alarm can be set, as in a thread, a loop is ended all the same"""
    monkeypatch.setattr("workbook.course.grading.TIME_LIMIT_S", 0.2)

    def endless(number):
        while True:
            pass

    reports = []
    thread = threading.Thread(target=lambda: reports.append(grade(exercise, endless)))
    thread.start()
    thread.join(timeout=20)
    assert reports[0].outcome is Outcome.RAISED


def test_a_huge_result_is_shown_at_once(exercise):
    """a wrong result of a million characters is cut, and compared in no time"""
    report = grade(exercise, lambda n: "x\n" * 500_000)
    assert len(str(Result(report))) < 3000


def test_the_test_file_is_fresh_each_time(exercise):
    """what a function did to the tests' own data is gone the next time"""
    path = exercise.tests_path
    path.write_text(
        "NUMBERS = [1]\n\ndef test_it(double):\n"
        '    """one number"""\n    assert double(NUMBERS) == [1]\n'
    )

    def spoil(numbers):
        numbers.append(2)
        return numbers

    assert grade(exercise, spoil).outcome is Outcome.WRONG
    assert grade(exercise, list).outcome is Outcome.PASSED


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("import no_such_module", "No module named 'no_such_module'"),
        ("def test_it(): pass", "no test in .* takes double"),
        ("def test_it(double, nothing): pass", "'nothing'"),
    ],
)
def test_broken_tests_are_not_the_learners_fault(exercise, content, words):
    """tests that cannot run are an error of the course, and said so"""
    exercise.tests_path.write_text(content)
    with pytest.raises(CourseError, match=words):
        grade(exercise, right)


def test_a_mark_of_a_plugin_that_is_left_out_is_known(exercise, monkeypatch):
    """a test that says which warnings it expects causes none itself"""
    monkeypatch.setattr(pytest.mark, "_markers", set())  # those of this very run
    exercise.tests_path.write_text(
        "import pytest\n\n@pytest.mark.filterwarnings('ignore')\n"
        "def test_it(double):\n    assert double(1) == 2\n"
    )
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        grade(exercise, right)
    assert [str(warning.message) for warning in seen] == []


def test_a_missing_test_file_says_what_to_install(exercise):
    """without the tests, the message says that a whole clone is needed"""
    exercise.tests_path.unlink()
    with pytest.raises(CourseError, match="pip install -e"):
        grade(exercise, right)


def test_a_stop_by_the_user_stops_the_check(exercise):
    """the stop button ends a check; it is not counted against the function"""

    def stopped(number):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade(exercise, stopped)
