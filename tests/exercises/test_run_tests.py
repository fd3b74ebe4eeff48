"""The exercise's own tests, run on any function, and what a failure says."""

import textwrap

import pytest

from workbook.exercises.catalogue import CourseError, Exercise
from workbook.exercises.report import Outcome, error_in_words, shorten
from workbook.exercises.run_tests import run_tests

TESTS = '''
import pytest
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize("number", [1, 2, 3])
def test_small(double, number):
    assert double(number) == 2 * number


@given(st.integers(0, 1000))
def test_any(double, number):
    """every number is doubled

    perhaps: you have a table of answers
    """
    assert double(number) == 2 * number


def test_negative(double):
    with pytest.raises(ValueError):
        double(-1)


def test_of_the_package_alone():
    raise AssertionError("it is not run")
'''
ONE = '''
import pytest


class Double:
    kept = 3


def test_it(double):
    """it is so

    {}
    """
{}
'''


def right(number):
    if number < 0:
        raise ValueError(number)
    return 2 * number


def answers(value):
    """Return a function that returns a value, or raises an error."""

    def double(n):
        if isinstance(value, BaseException):
            raise value
        return value

    return double


@pytest.fixture
def exercise(tmp_path):
    """An exercise of its own, with tests of its own."""
    path = tmp_path / "test_double.py"
    path.write_text(TESTS, encoding="utf-8")
    about = ("double", "00", "double", "builtins:abs", str(path), 1, 1)
    return Exercise(*about, "Return twice the number.", ["a", "b", "c"])


@pytest.fixture
def shown(exercise):
    """Return a function that runs one test, and returns what is said of its failure."""

    def run(answer, body, hint=""):
        text = ONE.format(hint, textwrap.indent(body, "    "))
        exercise.tests_path.write_text(text, encoding="utf-8")
        report = run_tests(exercise, answer if callable(answer) else answers(answer))
        (failure,) = report.failures
        assert failure.requirement == "it is so"
        return {"outcome": report.outcome, **dict(failure.evidence)}

    return run


@pytest.mark.parametrize(
    ("function", "passed", "first"),
    [
        (right, 3, ()),
        (lambda n: right(n) if n < 7 else 0, 2, ("double(7)", "0", "14", "you have a")),
        (lambda n: right(n) if n < 2 else 5, 1, ("double(2)", "5", "4")),
    ],
)
def test_the_requirements_are_the_tests_that_take_the_function(
    exercise, function, passed, first
):
    """a test counts once, with its first case that fails, or its smallest example"""
    report = run_tests(exercise, function)
    assert (report.passed, report.total) == (passed, 3)
    shown = report.failures[0].evidence if report.failures else ()
    expected = zip(("called", "returned", "expected", "perhaps"), first, strict=False)
    assert [(label, text[:10]) for label, text in shown] == [*expected]


def test_before_each_test_and_call_it_is_told_what_comes(exercise):
    """who is listening knows what holds if a test, or a call, never ends"""
    told, calls = [], []
    run_tests(exercise, lambda n: right(n) if n else 1, told.append, calls.append)
    never = [(report.failures[0].test, report.passed) for report in told]
    assert never == 3 * [("test_small", 0)] + [("test_any", 1), ("test_negative", 1)]
    assert (told[0].total, told[0].note) == (3, "2 of 3 tests were not run.")
    assert calls[:3] == ["double(1)", "double(2)", "double(3)"]


def test_the_environment_changes_nothing(exercise, monkeypatch, tmp_path):
    """options and plugins of the environment do not reach a check"""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    monkeypatch.setenv("PYTEST_PLUGINS", "no_such_plugin")
    assert run_tests(exercise, right).outcome is Outcome.PASSED
    left = {path.name for path in tmp_path.iterdir()}
    assert left <= {"test_double.py", "__pycache__"}


@pytest.mark.parametrize(
    ("function", "outcome"),
    [
        (lambda n: None, Outcome.NOT_ATTEMPTED),
        (answers(NotImplementedError()), Outcome.NOT_ATTEMPTED),
        (lambda n: answers(NotImplementedError())(n) if n > 1 else 2, Outcome.RAISED),
        (lambda n: [].append(n), Outcome.WRONG),
        (lambda n: (yield), Outcome.WRONG),
    ],
)
def test_a_stub_is_told_apart_from_an_answer(exercise, function, outcome):
    """who wrote nothing has not attempted it; who wrote something is told how it is"""
    report = run_tests(exercise, function)
    assert report.outcome is outcome
    goal = [failure.requirement for failure in report.failures] == [exercise.goal]
    assert goal is (outcome is Outcome.NOT_ATTEMPTED)


class Unspeakable(Exception):  # noqa: N818 - it is a result, too
    def __str__(self):
        raise ValueError("no")

    __repr__ = __str__


def wrapped(n):
    try:
        return n["x"]
    except TypeError as error:
        raise KeyError("none") from error


ERROR = 'with pytest.raises(ValueError, match=r"2\\.5 V"):\n    double([4])'
WANTED = 'a ValueError whose message has "2.5 V"'
WORDS = "assert double([4]) == 'also this'"
LONG = "assert double(2) == ['a' * 200, 2]"
UNUSED = "what came back cannot be used: AttributeError: 'int' object has no"


@pytest.mark.parametrize(
    ("answer", "body", "said"),
    [
        # What was expected is a value, of the result or of an attribute of it.
        (False, "assert double([4]) is True", {"expected": "True"}),
        (False, "assert True is double([4])", {"expected": "True"}),
        (False, "double(2)\nassert Double.kept == 4", {"but": "it is 3"}),
        ("abc", "double(2)\nx = Double()\nassert x.kept > 4", {"expected": "3 > 4"}),
        ("abc", "got = double(2)\nassert 'x' in got", {"expected": "'x' in 'abc'"}),
        ("abc", "double(2)\nassert Double().kept == 4", {"expected": "4"}),
        (2j, "assert double(2).imag == 3", {"expected": "its imag is 3"}),
        ("abc", "assert len(double('x')) == 4", {"expected": "4", "but": "it is 3"}),
        ("abc", "assert double(2) == 'a', 'it grew'", {"because": "it grew"}),
        ("abc", "assert 'x' in double(2), 'it grew'", {"but": "it grew"}),
        (3.5, "assert double(2) == pytest.approx(3)", {"expected": "3 ± 3.0e-06"}),
        (["a" * 200, 3], LONG, {"differs": "in item 2: 3, not 2"}),
        (["a" * 200], LONG, {"differs": "in item 2: nothing, not 2"}),
        ([3], "assert double(2) == [4]", {"differs": None}),
        ("x\n" * 500_000, WORDS, {"perhaps": None, "differs": "in line 1: 'x', not"}),
        # An exception that is waited for, and one that is not.
        (3, ERROR, {"outcome": "wrong", "expected": f"{WANTED} is raised"}),
        (ValueError("2.6"), ERROR, {"raised": "ValueError: 2.6", "expected": WANTED}),
        (ValueError("2.6"), ERROR, {"outcome": "wrong"}),
        (KeyError("n"), ERROR, {"outcome": "your code raised", "expected": WANTED}),
        (
            wrapped,
            WORDS,
            {"raised": "KeyError: 'none'", "caused by": "TypeError: list"},
        ),
        (wrapped, WORDS, {"at": 'line 5 of wrapped: raise KeyError("none") from'}),
        (3, "double(2).split()", {"outcome": "wrong", "but": UNUSED}),
        (3, "assert len(double(2).split()) == 2", {"outcome": "wrong", "but": UNUSED}),
        (Unspeakable(), WORDS, {"raised": "Unspeakable: <an Unspeakable whose str"}),
        (lambda n: Unspeakable(), WORDS, {"returned": "<an Unspeakable whose repr"}),
        # What it did besides.
        (lambda n: print(n), WORDS, {"printed": "'[4]", "returned": "None"}),
        (SystemExit(2), WORDS, {"raised": "SystemExit: 2"}),
        (KeyboardInterrupt(), WORDS, {"raised": "KeyboardInterrupt"}),
        (lambda n: pytest.exit("now"), WORDS, {"raised": "Exit: now"}),
        (lambda n: n.append(1), WORDS, {"changed": "n, which is now [4, 1]"}),
        (lambda n: n.append(1), WORDS, {"expected": "n stays [4]", "perhaps": None}),
    ],
)
def test_a_failure_says_what_came_what_was_expected_and_no_name_of_the_tests(
    shown, answer, body, said
):
    """a failure tells call, result, expectation and cause in a learner's terms"""
    found = shown(answer, body)
    assert found["called"].startswith("double(")
    for label, words in said.items():
        assert str(found.get(label)).startswith(str(words))
    assert not [name for name in ("Double", "kept", "got") if name in str(found)]
    assert len(str(found)) < 1000


@pytest.mark.parametrize(
    ("hint", "answer", "told"),
    [
        ("perhaps: you add", 3, True),
        ("perhaps: you add", KeyError(), False),
        ("perhaps, of 3 or 4: you add", 4, True),
        ("perhaps, of 3 or 4: you add", 6, False),
        ("perhaps, of 3 or 4: you add", KeyError(), False),
        ("perhaps, of 3 or 4: you add", lambda n: Unspeakable(), False),
        ("perhaps, of KeyError: you add", KeyError(), True),
    ],
)
def test_the_tests_own_guess_needs_its_evidence(shown, hint, answer, told):
    """a test that names what its guess is about tells it of nothing else"""
    found = shown(answer, "assert double(5) in [10]", hint)
    assert (found.get("perhaps") == "you add") is told


def test_the_test_file_is_fresh_each_time(exercise):
    """what a function did to the tests' own data is gone the next time"""
    exercise.tests_path.write_text(
        "NUMBERS = [1]\n\ndef test_it(double):\n    assert double(NUMBERS) == [1]\n"
    )
    spoils = run_tests(exercise, lambda numbers: numbers.append(2) or numbers)
    assert spoils.outcome is Outcome.WRONG
    assert run_tests(exercise, lambda n: [*n]).outcome is Outcome.PASSED


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("import no_such_module", "No module named 'no_such_module'"),
        ("def test_it(): pass", "no test in .* takes double"),
        ("def test_it(double, nothing): pass", "'nothing'"),
        (None, r"`pip install -e \.` in a clone"),
    ],
)
def test_tests_that_cannot_run_are_nobodys_pass(exercise, monkeypatch, content, words):
    """broken tests are an error of the course; where pytest breaks nobody has passed"""
    monkeypatch.setattr("workbook.exercises.run_tests.explain", lambda seen: 1 / 0)
    exercise.tests_path.unlink()
    if content:
        exercise.tests_path.write_text(content)
    with pytest.raises(CourseError, match=words):
        run_tests(exercise, lambda n: 0)


def test_a_value_and_an_error_are_written_without_noise():
    """members of an enumeration stand as in code, patterns as the text they look for"""
    value = {Outcome.WRONG: (shorten, lambda: 0, object()), "text": "<A.B: 1> at 0x1f"}
    assert shorten(value) == (
        "{Outcome.WRONG: (<function shorten>, <function <lambda>>, <object object>),"
        " 'text': '<A.B: 1> at 0x1f'}"
    )
    words = error_in_words((OSError, KeyError), r"(?s)(?=.*THINK)(?=.*2\.5 V)")
    assert words == 'an OSError or a KeyError whose message has "THINK" and "2.5 V"'
