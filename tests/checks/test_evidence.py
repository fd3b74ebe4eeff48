"""What a failure says: the call, what came back, what was expected, and why."""

import textwrap

import pytest

from tests.learner import report_on
from workbook.checks.evidence import shown, wanted_error

TESTS = '''
import pytest
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize("number", [1, 2, 3])
def test_small(who_writes, number):
    assert who_writes(number) == 2 * number


@given(st.integers(0, 1000))
def test_any(who_writes, number):
    """every number is doubled

    perhaps: you have a table of answers
    """
    assert who_writes(number) == 2 * number


def test_negative(who_writes):
    with pytest.raises(ValueError):
        who_writes(-1)


def test_of_the_package_alone():
    raise AssertionError("it is not run")
'''
ONE = '''
import pytest
from decimal import Decimal


class Double:
    kept = 3


def test_it(who_writes):
    """it is so

    {}
    """
{}
'''
RIGHT = "if n < 0: raise ValueError(n)\n    return 2 * n"


@pytest.fixture
def found(tmp_path):
    """Return a function that runs tests on an answer with a body, and reports."""

    def run(body, tests=TESTS):
        path = tmp_path / "test_it.py"
        path.write_text(tests, encoding="utf-8")
        return report_on("who_writes", f"def who_writes(n):\n    {body}\n", str(path))

    return run


@pytest.mark.parametrize(
    ("body", "met", "first"),
    [
        (RIGHT, 3, ()),
        (f"if n > 6: return 0\n    {RIGHT}", 2, ("who_writes(7)", "0", "14", "you h")),
    ],
)
def test_the_rules_are_the_tests_that_take_the_function(found, body, met, first):
    """a test counts once, with its first case that fails, or its smallest example"""
    report = found(body)
    assert (report["met"], report["of"]) == (met, 3)
    evidence = report["failures"][0]["evidence"] if report["failures"] else []
    labels = ("called", "returned", "expected", "perhaps")
    for (label, text), name, words in zip(evidence, labels, first, strict=False):
        assert (label, text[: len(words)]) == (name, words)
    assert len(evidence) == len(first)


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("'''Say it.'''", "not attempted"),
        ("raise NotImplementedError", "not attempted"),
        ("if n > 1: raise NotImplementedError\n    return 2", "your code raised"),
        ("[].append(n)", "wrong"),
    ],
)
def test_a_stub_is_told_apart_from_an_answer(found, body, outcome):
    """who wrote nothing has not attempted it; who wrote something reads how it is"""
    report = found(body)
    assert report["outcome"] == outcome
    goal = report["failures"][0]["rule"].startswith("Return")
    assert goal is (outcome == "not attempted")


WRAPPED = """try:
        return n["x"]
    except TypeError as error:
        raise KeyError("none") from error"""
UNSPEAKABLE = """class Unspeakable(Exception):
        def __repr__(self): raise ValueError("no")
        __str__ = __repr__
    """
ERROR = 'with pytest.raises(ValueError, match=r"2\\.5 V"):\n    who_writes([4])'
WANTED = 'a ValueError whose message has "2.5 V"'
WORDS = "assert who_writes([4]) == 'also this'"
LONG = "assert who_writes(2) == ['a' * 400, 2]"
UNUSED = "what came back cannot be used: AttributeError: 'int' object has no"


@pytest.mark.parametrize(
    ("body", "test", "said"),
    [
        # What was expected is a value, of the result or of an attribute of it.
        ("return False", "assert who_writes([4]) is True", {"expected": "True"}),
        ("return False", "who_writes(2)\nassert Double.kept == 4",
         {"expected": "4", "but": "it is 3"}),
        ("return 5", "who_writes(2)\nx = Double()\nassert x.kept > 4",
         {"expected": "3 > 4"}),
        ("return 2j", "assert who_writes(2).imag == 3", {"expected": "its imag is 3"}),
        ("return 'abc'", "assert who_writes(2) == 'a', 'it grew'",
         {"because": "it grew"}),
        ("return 'abc'", "assert 'x' in who_writes(2), 'it grew'", {"but": "it grew"}),
        ("return n", "one = who_writes([1])\nwho_writes([2])\nassert one == 3",
         {"called": "who_writes([1])", "returned": "[1]", "expected": "3"}),
        # Long values are cut where they are the same; like ones have their type.
        ("return ['a' * 400, 3]", LONG, {"returned": f"['{58 * 'a'} … (407 characters)",
         "expected": f"['{58 * 'a'} … (407 characters)"}),
        ("class Double:\n        def __repr__(self): return '3'\n    return Double()",
         "assert who_writes(2) == 3",
         {"returned": "3 (Double)", "expected": "3 (int)"}),
        # An exception that is waited for, and one that is not.
        ("return 3", ERROR, {"outcome": "wrong", "expected": f"{WANTED} is raised"}),
        ("raise ValueError('2.6')", ERROR,
         {"raised": "ValueError: 2.6", "expected": WANTED, "outcome": "wrong"}),
        ("raise KeyError('n')", ERROR,
         {"outcome": "your code raised", "expected": WANTED}),
        ("return who_writes(n)", WORDS,
         {"raised": "RecursionError: maximum recursion"}),
        (WRAPPED, WORDS, {"raised": "KeyError: 'none'",
         "at": 'line 5 of who_writes: raise KeyError("none") from'}),
        ("return 3", "who_writes(2).split()", {"outcome": "wrong", "but": UNUSED}),
        (UNSPEAKABLE + "raise Unspeakable", WORDS,
         {"raised": "Unspeakable: <an Unspeakable whose str"}),
        # What it did besides.
        ("print(n)", WORDS, {"printed": "'[4]", "returned": "None"}),
        ("n[0].append(1)", "who_writes([[4]])",
         {"changed": "n, which is now [[4, 1]]", "expected": "n stays [[4]]"}),
    ],
)  # fmt: skip
def test_a_failure_says_what_came_what_was_expected_and_no_name_of_the_tests(
    found, body, test, said
):
    """a failure reports call, result, expectation and cause in a learner's terms"""
    report = found(body, ONE.format("", textwrap.indent(test, "    ")))
    (failure,) = report["failures"]
    evidence = {"outcome": report["outcome"], **dict(failure["evidence"])}
    assert failure["rule"] == "it is so"
    assert evidence["called"].startswith("who_writes(")
    for label, words in said.items():
        assert str(evidence.get(label)).startswith(str(words))
    assert "kept" not in str(evidence)
    assert len(str(evidence)) < 1000


@pytest.mark.parametrize(
    ("guess", "body", "is_shown"),
    [
        ("perhaps: you add", "raise KeyError", False),
        ("perhaps, of 3 or 4: you add", "return 4", True),
        ("perhaps, of 3 or 4: you add", "return 6", False),
        ("perhaps, of KeyError: you add", "raise KeyError", True),
    ],
)
def test_the_tests_own_guess_needs_its_evidence(found, guess, body, is_shown):
    """a test that names what its guess is about shows it of nothing else"""
    report = found(body, ONE.format(guess, "    assert who_writes(5) in [10]"))
    evidence = dict(report["failures"][0]["evidence"])
    assert (evidence.get("perhaps") == "you add") is is_shown


def test_the_test_file_is_fresh_each_time(found):
    """what a function did to the tests' own data is gone the next time"""
    tests = "N = [1]\n\ndef test_it(who_writes):\n    assert who_writes(N) == [1]\n"
    assert found("n.append(2); return n", tests)["outcome"] == "wrong"
    assert found("return [*n]", tests)["outcome"] == "passed"


@pytest.mark.parametrize(
    "body",
    [
        "class Any:\n        __eq__ = lambda *_: True\n    return Any()",
        "from unittest import mock; return mock.ANY",
    ],
)
def test_a_result_that_decides_what_it_equals_is_refused(found, body):
    """an object whose `==` the learner wrote proves nothing; a dataclass is fine"""
    report = found(body)
    assert report["outcome"] == "your code raised"
    assert "decides itself what it equals" in str(report["failures"][0]["evidence"])
    body = "import dataclasses as d; return d.make_dataclass('R', ['n'])(n)"
    tests = "def test_it(who_writes):\n    assert who_writes(2).n == 2\n"
    assert found(body, tests)["outcome"] == "passed"


def test_a_value_and_an_error_are_written_without_noise():
    """members of an enumeration stand as in code, patterns as the text they look for"""
    from workbook.runtime.calls import Effect

    value = {Effect.WRITE: (shown, lambda: 0, object()), "text": "<A.B: 1> at 0x1f"}
    assert shown(value) == (
        "{Effect.WRITE: (<function shown>, <function <lambda>>, <object object>),"
        " 'text': '<A.B: 1> at 0x1f'}"
    )
    words = wanted_error((OSError, KeyError), r"(?s)(?=.*THINK)(?=.*2\.5 V)")
    assert words == 'an OSError or a KeyError whose message has "THINK" and "2.5 V"'
