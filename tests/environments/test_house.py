"""The house: what one can do in it, and that its goals can be reached."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.environments.house import (
    HOUSE,
    PLACES,
    HouseTask,
    HouseWorld,
    Thing,
    house_tasks,
    kind_of,
    lay_out,
)

VERB_FOR = {"clean": "clean", "hot": "heat", "cold": "cool"}
CUP_ON_BED = HouseTask("test", "cup", "bed", "clean")


def expert(world, task):
    """Solve a task by what the texts say; return the last result."""

    def at(kind):
        return next(place for place in PLACES if kind_of(place) == kind)

    result = None
    for place in PLACES:
        if kind_of(place) == task.place:
            continue
        for name in re.findall(rf"{task.kind} \d", world.step(f"go to {place}").text):
            world.step(f"go to {place}")
            world.step(f"take {name} from {place}")
            if task.state:
                verb = VERB_FOR[task.state]
                tool = at(HOUSE["treatments"][verb]["place"])
                world.step(f"go to {tool}")
                world.step(f"{verb} {name} with {tool}")
            goal = at(task.place)
            world.step(f"go to {goal}")
            result = world.step(f"put {name} in/on {goal}")
            if result.done:
                return result
    return result


@pytest.fixture
def house():
    """A house with an apple and two cups on the counter, and an egg in the fridge."""
    world = HouseWorld()
    world.reset(CUP_ON_BED)
    world.things = [
        Thing("cup 1", "counter 1"),
        Thing("cup 2", "counter 1"),
        Thing("apple 1", "counter 1"),
        Thing("egg 1", "fridge 1"),
        Thing("book 1", "shelf 1"),
    ]
    return world


def say(world, *actions):
    """Take actions and return the last observation."""
    return [world.step(action).text for action in actions][-1]


@pytest.mark.parametrize("task", house_tasks(), ids=lambda t: t.slug)
def test_the_expert_reaches_every_goal(task):
    """every goal can be reached by what the texts say"""
    world = HouseWorld()
    assert task.text in world.reset(task)
    result = expert(world, task)
    assert (result.reward, result.done) == (1.0, True)


@pytest.mark.parametrize("task", house_tasks(), ids=lambda t: t.slug)
def test_the_words_of_a_goal_say_its_fields(task):
    """a goal in words names the kind, the state, the place and the number"""
    stem = task.kind.removesuffix("fe")
    said = [stem, task.state, task.place, {1: "", 2: "two", 3: "three"}[task.count]]
    assert all(word in task.text for word in said)


@given(st.sampled_from(house_tasks()), st.integers())
def test_things_lie_where_such_things_lie(task, seed):
    """enough things for the goal, none where it should go, all where such are found"""
    things = lay_out(random.Random(seed), task)
    wanted = [thing for thing in things if kind_of(thing.name) == task.kind]
    assert len(wanted) >= task.count
    assert all(kind_of(thing.place) != task.place for thing in wanted)
    assert len({thing.name for thing in things}) == len(things)
    for thing in things:
        assert kind_of(thing.place) in HOUSE["found_in"][kind_of(thing.name)]
    assert {str(lay_out(random.Random(n), task)) for n in range(5)} != {str(things)}


def test_going_shows_what_is_there(house):
    """one sees what lies at a place by going there, and a room's places"""
    assert say(house, "go to counter 1") == (
        "You are at counter 1. On it: cup 1, cup 2, apple 1."
    )
    assert say(house, "go to table 1") == "You are at table 1. On it: nothing."
    assert say(house, "go to the study") == (
        "You are in the study. There: desk 1, drawer 1, drawer 2, shelf 2."
    )
    assert "not at any place" in say(house, "look")


def test_nothing_happens_where_there_is_nothing(house):
    """a place or a thing that is not there is told by its name"""
    assert "no 'moon'" in say(house, "go to moon")
    say(house, "go to counter 1")
    assert "no 'pen 9' at counter 1" in say(house, "take pen 9 from counter 1")
    assert "not at 'fridge 1'" in say(house, "take egg 1 from fridge 1")


def test_one_thing_at_a_time(house):
    """one carries one thing, puts down what one holds, and the inventory says which"""
    assert say(house, "inventory") == "You are holding nothing."
    assert "not holding 'cup 1'" in say(house, "go to table 1", "put cup 1 on table 1")
    say(house, "go to counter 1", "take cup 1 from counter 1")
    assert "hands are full" in say(house, "take cup 2 from counter 1")
    assert say(house, "inventory") == "You are holding cup 1."


@pytest.mark.parametrize("word", ["in", "on", "in/on", "into", "onto"])
def test_names_may_be_written_loosely(house, word):
    """names are understood in any case and with "the"; in is on"""
    say(house, "go to counter 1")
    taken = say(house, "TAKE the  cup 1 FROM the counter 1.")
    assert taken == "You take cup 1 from counter 1."
    say(house, "go to table 1")
    assert say(house, f"put cup 1 {word} table 1") == "You put cup 1 on table 1."


def test_clean_heat_and_cool(house):
    """a sink cleans, a microwave heats, a fridge cools what was hot; nothing else"""
    say(house, "go to counter 1", "take cup 1 from counter 1", "go to sink 1")
    assert "find a microwave" in say(house, "heat cup 1 with sink 1")
    say(house, "clean cup 1 with sink 1", "go to microwave 1")
    say(house, "heat cup 1 with microwave 1")
    assert say(house, "inventory") == "You are holding cup 1 (clean, hot)."
    say(house, "go to fridge 1", "cool cup 1 with fridge 1")
    assert say(house, "inventory") == "You are holding cup 1 (clean, cold)."
    say(house, "go to counter 1", "put cup 1 on counter 1")
    say(house, "go to shelf 1", "take book 1 from shelf 1", "go to sink 1")
    assert "cannot clean a book" in say(house, "clean book 1 with sink 1")


def test_the_goal_needs_state_and_number(house):
    """dirty cups on the bed are not the goal, nor one clean cup where it takes two"""
    house.reset(HouseTask("test", "cup", "bed", "clean", count=2))
    house.things = [Thing(f"cup {n}", "counter 1") for n in (1, 2)]
    results = []
    for name in ("cup 1", "cup 2"):
        say(house, "go to counter 1", f"take {name} from counter 1", "go to bed 1")
        results.append(house.step(f"put {name} on bed 1"))
        say(house, f"take {name} from bed 1", "go to sink 1")
        say(house, f"clean {name} with sink 1", "go to bed 1")
        results.append(house.step(f"put {name} on bed 1"))
    ends = [(result.reward, result.done) for result in results]
    assert ends == [(0.0, False)] * 3 + [(1.0, True)]
