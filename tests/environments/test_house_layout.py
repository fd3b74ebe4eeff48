"""The goals of the house in words, and how things are laid out."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.environments.house import (
    HOUSE,
    PLACES,
    HouseTask,
    Thing,
    house_tasks,
    kind_of,
    lay_out,
)


@pytest.mark.parametrize(
    ("task", "text"),
    [
        (HouseTask("t", "cup", "desk", "clean"), "put a clean cup on the desk"),
        (HouseTask("t", "egg", "fridge", "hot"), "put a hot egg in the fridge"),
        (HouseTask("t", "egg", "table"), "put an egg on the table"),
        (
            HouseTask("t", "book", "sofa", count=2),
            "find two books and put them on the sofa",
        ),
        (
            HouseTask("t", "knife", "drawer", "clean", 3),
            "find three clean knives and put them in the drawer",
        ),
        (
            HouseTask("t", "tomato", "sink", count=2),
            "find two tomatoes and put them in the sink",
        ),
    ],
)
def test_a_goal_in_words(task, text):
    """a goal reads as a sentence, also with several things"""
    assert task.text == text


@given(st.sampled_from(house_tasks()), st.integers())
def test_no_goal_holds_at_the_start(task, seed):
    """there are enough things for the goal, and none lies where it should go"""
    wanted = [t for t in lay_out(random.Random(seed), task) if t.kind == task.kind]
    assert len(wanted) >= task.count
    assert all(kind_of(thing.place) != task.place for thing in wanted)


@given(st.sampled_from(house_tasks()), st.integers())
def test_things_lie_where_such_things_lie(task, seed):
    """every thing has a name of its own and lies where such things are found"""
    things = lay_out(random.Random(seed), task)
    assert len({thing.name for thing in things}) == len(things)
    assert {thing.kind for thing in things} == set(HOUSE["found_in"])
    for thing in things:
        assert thing.place in PLACES
        assert kind_of(thing.place) in HOUSE["found_in"][thing.kind]


def test_states_of_a_thing():
    """a thing can be clean and hot at once, and says so"""
    assert (
        str(Thing("cup 1", "cup", "desk 1", {"hot", "clean"})) == "cup 1 (clean, hot)"
    )
