"""Reading data/exercises.toml."""

import json

import pytest

from workbook.exercises.catalogue import (
    CourseError,
    exercises,
    find,
    lessons,
    near_miss,
    read_course,
)

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
    assert (list(lessons), exercises["f"].hints) == (["00"], ["a", "b", "c"])


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


@pytest.mark.parametrize("slug", exercises())
def test_the_goal_is_the_one_on_the_card(slug):
    """the goal that a stub is answered with is the task on the exercise's card"""
    exercise = exercises()[slug]
    notebook = lessons()[exercise.lesson].notebook.read_text(encoding="utf-8")
    cells = ["".join(cell["source"]) for cell in json.loads(notebook)["cells"]]
    head = f"### Exercise · {exercise.title}\n"
    (card,) = [cell for cell in cells if cell.startswith(head)]
    assert exercise.goal in card.split("\n\n")


def test_nothing_near_is_no_guess():
    """a word that resembles no exercise gets no guess"""
    assert near_miss("zebra") is None
