"""Grading: the exercise's own tests, run on any function."""

import itertools
import textwrap
import threading
import warnings
from collections import Counter

import pytest

from workbook.evaluation.grading import Paired
from workbook.exercises.catalogue import CourseError, Exercise, find
from workbook.exercises.display import as_message
from workbook.exercises.grade import grade
from workbook.exercises.report import Outcome

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
        (lambda n: 2 * n, ("expected", "a ValueError is raised")),
        (lambda n: right(n) if n != 2 else 1, ("because", "it has shrunk")),
        (lambda n: right(n) if n != 3 else 7, ("expected", "double(3) % 2 == 0")),
        (lambda n: right(n) if n != 3 else 7, ("but", "it is 1")),
        (
            lambda n: right(n) if n != 4 else "",
            (
                "but",
                "in the test, double(4) + 1 raises TypeError: can only concatenate"
                ' str (not "int") to str',
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


RAISING = '''
import pytest


class Cell:
    ok = False


def test_it(double):
    """{docstring}"""
    {body}
'''


@pytest.fixture
def evidence(exercise):
    """Return a function that grades against one test, and gives what is shown."""

    def of(function, body, docstring="it is so"):
        exercise.tests_path.write_text(RAISING.format(body=body, docstring=docstring))
        report = grade(exercise, function)
        return report.outcome, dict(report.failures[0].evidence)

    return of


WAITS = """with pytest.raises(ValueError, match=r"2\\.5 {unit}"):
        double(2)"""


def raises(error):
    raise error


def test_another_message_is_shown_beside_the_one_that_was_wanted(evidence):
    """of an exception with another message, both messages are shown"""
    body = 'unit = "V"\n    ' + WAITS.replace('r"2', 'rf"2')
    outcome, shown = evidence(lambda n: raises(ValueError("2.6 V")), body)
    assert outcome is Outcome.WRONG
    assert shown["raised"] == "ValueError: 2.6 V"
    assert shown["expected"] == 'a ValueError whose message has "2.5 V"'
    _, shown = evidence(lambda n: 3, body)
    assert shown["expected"] == 'a ValueError whose message has "2.5 V" is raised'


def test_another_exception_is_shown_beside_the_one_that_was_wanted(evidence):
    """of another exception than the one that was wanted, both are named"""
    outcome, shown = evidence(lambda n: raises(KeyError("n")), WAITS)
    assert outcome is Outcome.RAISED
    assert shown["raised"] == "KeyError: 'n'"
    assert shown["expected"].startswith("a ValueError whose message")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("double(2)\n    assert Cell.ok is True", "Cell.ok is True"),
        ("result = double(2)\n    assert result is True", "True"),
        ("assert double(2) is True", "True"),
        ("assert True is double(2)", "True"),
    ],
)
def test_an_expectation_has_its_subject(evidence, body, expected):
    """what is compared with the result stands alone; else it is said what it is about

    Of `x.ok is True`, the subject is `x.ok`, also when the function returned False.
    """
    assert evidence(lambda n: False, body)[1]["expected"] == expected


def test_what_the_test_looks_at_is_not_shown_twice(evidence):
    """a value that was returned is not repeated to say what is missing in it"""
    _, shown = evidence(lambda n: "abc", "assert 'x' in double(2)")
    assert shown["expected"] == "'x' in double(2)"
    assert "but" not in shown
    _, shown = evidence(lambda n: "abc", "assert 'b' not in double(2)[1:]")
    assert shown["but"] == "'b' not in 'bc' is not so"


@pytest.mark.parametrize(
    ("body", "result"),
    [
        ("assert double(2).splitlines() == []", ["a"]),
        ("lines = double(2).splitlines()", ["a"]),
        ("assert len(double(2).split()) == 1", 3),
    ],
)
def test_a_result_that_the_test_cannot_use_is_not_an_error_of_the_learners(
    evidence, body, result
):
    """a result of another type is wrong, and it is said that the test cannot use it"""
    outcome, shown = evidence(lambda n: result, body)
    assert (outcome, shown["returned"]) == (Outcome.WRONG, str(result))
    assert shown["but"].startswith("in the test, ")
    assert f"'{type(result).__name__}' object has no" in shown["but"]


def test_the_tests_own_guess_stands_where_there_is_no_general_one(evidence):
    """a guess of the test's own is told where the error itself explains nothing"""
    hint = "it is so\n\n    perhaps, of KeyError: zero has no row\n    "
    _, shown = evidence(lambda n: {}[n], "assert double(0) == 1", hint)
    assert shown["perhaps"] == "zero has no row"
    _, shown = evidence(lambda n: undefined, "assert double(0) == 1", hint)  # noqa: F821
    assert shown["perhaps"].startswith("a misspelt name")


@pytest.mark.parametrize(
    ("hint", "function", "told"),
    [
        ("perhaps: you add", lambda n: 3, True),
        ("perhaps: you add", lambda n: {}[n], False),
        ("perhaps, of 3 or 4: you add", lambda n: 4, True),
        ("perhaps, of 3 or 4: you add", lambda n: 6, False),
        ("perhaps, of 3 or 4: you add", lambda n: {}[n], False),
        ("perhaps, of KeyError: you add", lambda n: {}[n], True),
    ],
)
def test_the_tests_own_guess_needs_its_evidence(evidence, hint, function, told):
    """a test that names what its guess is about tells it of nothing else"""
    docstring = f"it is so\n\n    {hint}\n    "
    _, shown = evidence(function, "assert double(5) == 10", docstring)
    assert ("perhaps" in shown) is told


def test_a_helper_of_the_tests_is_introduced(evidence):
    """a function that only the test knows is named with what it is for"""
    body = "assert size(double(2)) == 4\n\nfrom shutil import which as double"
    body += '\ndef size(x):\n    """Return how many."""'
    _, shown = evidence(lambda n: 3, body + "\n    return x")
    assert shown["expected"] == "size(double(2)) == 4"
    assert shown["where"] == "size is the test's own: Return how many."


def test_the_cause_of_an_error_is_told(evidence):
    """of an error that was raised from another one, both are told"""

    def wrapped(n):
        try:
            return {}[n]
        except KeyError as error:
            raise ValueError("no such number") from error

    _, shown = evidence(wrapped, "assert double(2) == 4")
    assert shown["raised"] == "ValueError: no such number"
    assert shown["caused by"] == "KeyError: 2"


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda n: "found" if n > 1 else None, None),
        (lambda n: [].append(n), "did you forget a return?"),
        (lambda n: print(n), "it prints its result; return it instead"),
    ],
)
def test_a_forgotten_return_is_guessed_where_no_call_gave_a_value(
    evidence, function, words
):
    """None is put down to a missing return only where nothing else explains it"""
    body = "assert double(2) == 'found'\n    assert double(1) == 'also'"
    assert evidence(function, body)[1].get("perhaps") == words


def test_one_of_several_arguments_may_be_the_answer(exercise):
    """an argument among several may be what is to be chosen: it is not called a slip"""
    body = "def test_it(double):\n    assert double('a', 'b') == 'b'\n"
    exercise.tests_path.write_text(body)
    (failure,) = grade(exercise, lambda a, b: a).failures
    assert dict(failure.evidence).get("perhaps") is None


def test_the_alarms_own_words_are_not_the_learners(evidence):
    """what Python prints when the time is up in a callback is not shown as printed"""
    noise = "Exception ignored in: <function gc_callback>\\nlimits.TimeUp: not finished"
    _, shown = evidence(lambda n: print(noise) or 3, "assert double(2) == 4")
    assert "printed" not in shown


def test_a_time_limit_ends_the_run(exercise, monkeypatch):
    """after a test that takes too long, the others are not waited for"""
    monkeypatch.setattr("workbook.exercises.grade.TIME_LIMIT_S", 0.2)
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
    assert "5 of 6 were not looked at" in report.note


@pytest.mark.parametrize(
    "add_up",
    [
        lambda first, growth, turns: first * turns + growth * sum(range(turns)),
        lambda first, growth, turns: sum([first + growth * n for n in range(turns)]),
        lambda first, growth, turns: first * turns + growth * sum(sorted(range(turns))),
    ],
)
def test_an_honest_loop_ends(add_up):
    """an answer that adds up turn by turn ends in time, and is right"""

    def count_tokens_sent(first, growth, turns):
        if min(first, growth, turns) < 0:
            raise ValueError("negative")
        return add_up(first, growth, turns)

    assert grade(find("count_tokens_sent"), count_tokens_sent).outcome is Outcome.PASSED


def counts_all_throws(pairs):
    counts = Counter(pairs)
    n, won, lost = counts.total(), counts[False, True], counts[True, False]
    if not n:
        raise ValueError("no pairs")
    heads = Counter(map(sum, itertools.product((0, 1), repeat=won + lost)))
    far = sum(heads[k] for k in heads if abs(2 * k - won - lost) >= abs(won - lost))
    found = counts[True, True], won, lost, counts[False, False]
    return Paired(*found, (won - lost) / n, far / 2 ** (won + lost))


@pytest.mark.in_ci
def test_an_answer_that_is_too_slow_is_told_so():
    """what is right for few, and in C for ever of thousands, is stopped before that"""
    report = grade(find("paired_difference"), counts_all_throws)
    (failure,) = report.failures
    evidence = dict(failure.evidence)
    assert "thousands" in failure.requirement
    assert evidence["stopped"].startswith("not finished after")


def test_it_works_on_another_thread(exercise, monkeypatch):
    """where no alarm can be set, as in a thread, a loop is ended all the same"""
    monkeypatch.setattr("workbook.exercises.grade.TIME_LIMIT_S", 0.2)

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
    assert len(str(as_message(report))) < 3000


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
