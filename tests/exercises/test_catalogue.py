"""Reading data/exercises.toml."""

import json

import pytest

from workbook.exercises.catalogue import (
    CourseError,
    exercises,
    find,
    lessons,
    near_miss,
)


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
