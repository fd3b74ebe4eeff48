"""What a test waits for: an exception, in words, or a value."""

import sys

import pytest

from workbook.exercises.wanted import WantedError, in_words, wanted_value


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("price", 'has "price"'),
        (r"write \*", 'has "write *"'),
        (r"\(1\) of 2\.5", 'has "(1) of 2.5"'),
        ("(?s)(?=.*THINK)(?=.*observed)", 'has "THINK" and "observed"'),
        ("no test in .* takes", 'has "no test in " and then " takes"'),
        ("^[0-9]+$", "matches the pattern ^[0-9]+$"),
        (r"a\d", r"matches the pattern a\d"),
        ("(?s)(?=.*a|b)", "matches the pattern (?s)(?=.*a|b)"),
    ],
)
def test_a_pattern_is_told_in_words(pattern, words):
    """a pattern that is plain text is told as text, another one as it is"""
    assert in_words(pattern) == words


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (WantedError(("ValueError",)), "a ValueError"),
        (WantedError(("OSError", "KeyError")), "an OSError or a KeyError"),
        (WantedError(("KeyError",), "n"), 'a KeyError whose message has "n"'),
    ],
)
def test_an_exception_is_told_in_words(wanted, words):
    """the kinds are named, and what the message must have"""
    assert str(wanted) == words


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("assert double(2) == 2 * two", (4,)),
        ("assert double(2) is None", (None,)),
        ("assert double(2) == double(2)", ()),
        ("assert double(2) < 5", ()),
        ("assert double(2).ok == 4", ()),
        ("found = double(2)", ()),
        ("assert double(2) ==", ()),
    ],
)
def test_the_value_that_was_due_is_computed_where_the_test_says_it(statement, value):
    """only a value that does not need the function under test is known"""
    two = 2
    assert wanted_value(sys._getframe(), statement, "double") == value, two
