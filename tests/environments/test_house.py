"""The house: what one can do in it, and that its goals can be reached."""

import re

import pytest

from workbook.environments.house import (
    HOUSE,
    PLACES,
    HouseTask,
    HouseWorld,
    Thing,
    house_tasks,
    kind_of,
)

VERB_FOR = {"clean": "clean", "hot": "heat", "cold": "cool"}
CUP_ON_BED = HouseTask("test", "cup", "bed", "clean")


def expert(world, task):
    """Solve a task by what the texts say; return the last result."""

    def at(kind):
        return next(place for place in PLACES if kind_of(place) == kind)

    def look_at(place):
        text = world.step(f"go to {place}").text
        return world.step(f"open {place}").text if "closed" in text else text

    result = None
    for place in PLACES:
        if kind_of(place) == task.place:
            continue
        for name in re.findall(rf"{task.kind} \d", look_at(place)):
            world.step(f"go to {place}")
            world.step(f"take {name} from {place}")
            if task.state:
                verb = VERB_FOR[task.state]
                tool = at(HOUSE["treatments"][verb]["place"])
                world.step(f"go to {tool}")
                world.step(f"{verb} {name} with {tool}")
            goal = at(task.place)
            look_at(goal)
            result = world.step(f"put {name} in/on {goal}")
            if result.done:
                return result
    return result


@pytest.fixture
def house():
    """A house with an apple and a cup on the counter, and an egg in the fridge."""
    world = HouseWorld()
    world.reset(CUP_ON_BED)
    world.things = [
        Thing("cup 1", "cup", "counter 1"),
        Thing("cup 2", "cup", "counter 1"),
        Thing("apple 1", "apple", "counter 1"),
        Thing("egg 1", "egg", "fridge 1"),
        Thing("book 1", "book", "shelf 1"),
    ]
    return world


def say(world, *actions):
    """Take actions and return the last observation."""
    return [world.step(action).text for action in actions][-1]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("task", house_tasks(), ids=lambda t: t.slug)
def test_the_expert_reaches_every_goal(task, seed):
    """every goal can be reached by what the texts say, with any seed"""
    world = HouseWorld(seed)
    assert task.text in world.reset(task)
    result = expert(world, task)
    assert (result.reward, result.done) == (1.0, True)


def test_seeds_differ():
    """another seed lays the things out differently"""
    layouts = set()
    for seed in range(5):
        world = HouseWorld(seed)
        world.reset(house_tasks()[0])
        layouts.add(str(world.things))
    assert len(layouts) == 5


def test_going_shows_what_is_there(house):
    """one sees what lies at a place by going there"""
    assert say(house, "go to counter 1") == (
        "You are at counter 1. On it: cup 1, cup 2, apple 1."
    )
    assert say(house, "go to table 1") == "You are at table 1. On it: nothing."


def test_a_room_lists_its_places(house):
    """going to a room shows the places in it"""
    assert say(house, "go to the study") == (
        "You are in the study. There: desk 1, drawer 1, drawer 2, shelf 2."
    )


def test_closed_places_hide_what_is_in_them(house):
    """what is in a closed place is neither seen nor taken; opening shows it"""
    assert say(house, "go to fridge 1") == "You are at fridge 1. It is closed."
    assert "fridge 1 is closed" in say(house, "take egg 1 from fridge 1")
    assert say(house, "open fridge 1") == "You open fridge 1. In it: egg 1."
    assert say(house, "take egg 1 from fridge 1") == "You take egg 1 from fridge 1."


def test_open_and_close(house):
    """a place that is open cannot be opened, and closing hides things again"""
    say(house, "go to fridge 1", "open fridge 1")
    assert "already open" in say(house, "open fridge 1")
    assert say(house, "close fridge 1", "look") == "You are at fridge 1. It is closed."
    assert "already closed" in say(house, "close fridge 1")
    assert "cannot be opened" in say(house, "go to table 1", "open table 1")


def test_one_thing_at_a_time(house):
    """one carries one thing, and the inventory says which"""
    assert say(house, "inventory") == "You are holding nothing."
    say(house, "go to counter 1", "take cup 1 from counter 1")
    assert "hands are full" in say(house, "take cup 2 from counter 1")
    assert say(house, "inventory") == "You are holding cup 1."


def test_one_must_be_there(house):
    """nothing happens at a place where one is not"""
    assert say(house, "take cup 1 from counter 1") == (
        "Nothing happens: you are not at counter 1."
    )
    assert "not at fridge 1" in say(house, "go to counter 1", "open fridge 1")


@pytest.mark.parametrize(
    "action",
    [
        "take cup from counter",
        "TAKE the cup 1 FROM the counter 1.",
        "take  cup 1  from counter",
    ],
)
def test_names_may_be_written_loosely(house, action):
    """names are understood in any case, with "the", and without a number"""
    say(house, "go to counter")
    assert say(house, action) == "You take cup 1 from counter 1."


@pytest.mark.parametrize("word", ["in", "on", "in/on", "into", "onto"])
def test_put_in_or_on(house, word):
    """in, on and in/on are all the same to put"""
    say(house, "go to counter 1", "take cup 1 from counter 1", "go to table 1")
    assert say(house, f"put cup 1 {word} table 1") == "You put cup 1 on table 1."


def test_what_is_not_held_cannot_be_put(house):
    """only what one holds can be put down"""
    assert "not holding 'cup 1'" in say(house, "go to table 1", "put cup 1 on table 1")


def test_nothing_goes_into_a_closed_place(house):
    """a closed place takes nothing in"""
    say(house, "go to counter 1", "take cup 1 from counter 1", "go to cupboard 1")
    assert "cupboard 1 is closed" in say(house, "put cup 1 in cupboard 1")


def test_clean_heat_and_cool(house):
    """a sink cleans, a microwave heats, a fridge cools what was hot"""
    say(house, "go to counter 1", "take cup 1 from counter 1")
    say(house, "go to sink 1", "clean cup 1 with sink 1")
    say(house, "go to microwave 1", "heat cup 1 with microwave 1")
    assert say(house, "inventory") == "You are holding cup 1 (clean, hot)."
    say(house, "go to fridge 1", "cool cup 1 with fridge 1")
    assert say(house, "inventory") == "You are holding cup 1 (clean, cold)."


def test_the_wrong_tool_or_thing(house):
    """a sink heats nothing, and a book cannot be cleaned"""
    say(house, "go to counter 1", "take cup 1 from counter 1", "go to sink 1")
    assert "find a microwave" in say(house, "heat cup 1 with sink 1")
    say(house, "go to counter 1", "put cup 1 on counter 1")
    say(house, "go to shelf 1", "take book 1 from shelf 1", "go to sink 1")
    assert "cannot clean a book" in say(house, "clean book 1 with sink 1")


def test_the_goal_needs_the_state(house):
    """a dirty cup on the bed is not the goal, a clean one is"""
    say(house, "go to counter 1", "take cup 1 from counter 1", "go to bed 1")
    assert not house.step("put cup 1 on bed 1").done
    say(house, "take cup 1 from bed 1", "go to sink 1", "clean cup 1 with sink 1")
    say(house, "go to bed 1")
    result = house.step("put cup 1 on bed 1")
    assert (result.reward, result.done) == (1.0, True)


def test_the_goal_needs_the_number():
    """one book is not two"""
    world = HouseWorld()
    world.reset(HouseTask("test", "book", "sofa", count=2))
    world.things = [Thing(f"book {n}", "book", "shelf 1") for n in (1, 2)]
    done = []
    for name in ("book 1", "book 2"):
        say(world, "go to shelf 1", f"take {name} from shelf 1", "go to sofa 1")
        done.append(world.step(f"put {name} on sofa 1").done)
    assert done == [False, True]


def test_a_reset_closes_everything(house):
    """a reset begins anew: what was open is closed again"""
    say(house, "go to fridge 1", "open fridge 1")
    house.reset(CUP_ON_BED)
    assert say(house, "go to fridge 1") == "You are at fridge 1. It is closed."


def test_what_does_not_exist(house):
    """a place or thing that does not exist is named in the answer"""
    assert "no 'moon'" in say(house, "go to moon")
    assert "no 'pen 9'" in say(house, "go to counter 1", "take pen 9 from counter 1")


def test_all_closed_at_first(house):
    """whatever can be closed is closed at first"""
    for place in PLACES:
        closed = "It is closed" in say(house, f"go to {place}")
        assert closed == (kind_of(place) in HOUSE["closable"])
