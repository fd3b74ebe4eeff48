"""Reading data/exercises.toml."""

import pytest

from workbook.exercises.catalogue import (
    CourseError,
    find,
    near_miss,
)


def test_find_names_the_near_miss():
    """a misspelt exercise is answered with the one that was meant"""
    with pytest.raises(CourseError, match="Did you mean parse_turn"):
        find("parse_trun")


def test_nothing_near_is_no_guess():
    """a word that resembles no exercise gets no guess"""
    assert near_miss("zebra") is None
