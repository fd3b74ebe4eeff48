"""Reading data/exercises.toml."""

import pytest

from workbook.course.exercises import CourseError, find, near_miss, read_course

LESSON = '[[lesson]]\nslug = "00"\ntitle = "t"\nminutes = 5\n'
EXERCISE = """[[exercise]]
slug = "f"
lesson = "00"
title = "t"
target = "m:f"
tests = "t.py"
difficulty = 1
minutes = 2
goal = "g"
hints = ["a", "b", "c"]
"""


def test_a_good_file_is_read():
    """lessons and exercises come by name"""
    lessons, exercises = read_course(LESSON + EXERCISE)
    assert (list(lessons), exercises["f"].hints) == (["00"], ("a", "b", "c"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[exercise", "is not TOML"),
        (LESSON + EXERCISE + EXERCISE, "f is there twice"),
        (EXERCISE, "belongs to the lesson '00', which has no"),
        (LESSON + EXERCISE.replace('goal = "g"\n', ""), "f: missing .*'goal'"),
        (LESSON + EXERCISE + "colour = 3\n", "f: .*unexpected .*'colour'"),
    ],
)
def test_a_bad_entry_is_named(text, words):
    """an entry that is not right is named, with what is wrong"""
    with pytest.raises(CourseError, match=words):
        read_course(text)


def test_find_names_the_near_miss():
    """a misspelt exercise is answered with the one that was meant"""
    with pytest.raises(CourseError, match="Did you mean parse_turn"):
        find("parse_trun")


def test_nothing_near_is_no_guess():
    """a word that resembles no exercise gets no guess"""
    assert near_miss("zebra") is None
