"""What holds in every world, whatever an agent writes."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.environments.text_world import NO_TASK, OVER
from workbook.environments.worlds import WORLDS, make_world, tasks
from workbook.loop.text_world import StepResult

EACH_WORLD = pytest.mark.parametrize("name", WORLDS)
TASKS = {name: tasks(name) for name in WORLDS}

VERBS = (
    "search[{}]",
    "lookup[{}]",
    "finish[{}]",
    "click[{}]",
    "go to {}",
    "open {}",
    "close {}",
    "take {} from {}",
    "put {} in/on {}",
    "clean {} with {}",
    "heat {} with {}",
    "think: {}",
    "{}",
)
WORDS = ("", "desk 1", "cup", "the Moon", "[[", "]", "富士山", "1", "p01", "\x00", "🍳")

any_action = st.one_of(
    st.text(max_size=30),
    st.builds(
        lambda verb, a, b: verb.format(a, b),
        st.sampled_from(VERBS),
        st.one_of(st.sampled_from(WORDS), st.text(max_size=8)),
        st.sampled_from(WORDS),
    ),
)


def texts(name, seed, task, actions):
    """Return all that a world says in one run."""
    world = make_world(name, seed)
    return [world.reset(task), *(world.step(action) for action in actions)]


@EACH_WORLD
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_string_is_a_legal_call(name, data):
    """any string gets an answer with a text and a reward between 0 and 1"""
    world = make_world(name)
    world.reset(data.draw(st.sampled_from(TASKS[name])))
    for action in data.draw(st.lists(any_action, max_size=6)):
        result = world.step(action)
        assert isinstance(result, StepResult)
        assert result.text
        assert 0.0 <= result.reward <= 1.0
        assert result.done or result.reward == 0.0


@EACH_WORLD
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_the_same_seed_and_actions_give_the_same_texts(name, data):
    """a run can be repeated: the same seed and actions give the same texts"""
    task = data.draw(st.sampled_from(TASKS[name]))
    seed = data.draw(st.integers(0, 5))
    actions = data.draw(st.lists(any_action, max_size=6))
    assert texts(name, seed, task, actions) == texts(name, seed, task, actions)


def random_action(rng, seen):
    """Return a verb with names that were just seen, or with others, or noise."""
    if rng.random() < 0.8:
        words = (*WORDS, *re.findall(r"[a-z]+ \d|p\d\d", seen), "next page", "back")
        return rng.choice(VERBS).format(rng.choice(words), rng.choice(words))
    return "".join(chr(rng.randrange(0x3100)) for _ in range(rng.randrange(40)))


@EACH_WORLD
def test_two_thousand_random_actions(name):
    """2,000 random actions, one run after the other, and never an exception"""
    rng = random.Random(2210)
    world = make_world(name)
    for number in range(2000):
        if number % 50 == 0:
            seen = world.reset(rng.choice(TASKS[name]))
        result = world.step(random_action(rng, seen))
        seen = result.text
        assert seen
        assert result.done == world.done
        assert world.steps == number % 50 + 1


@EACH_WORLD
@pytest.mark.parametrize("action", ["", "dance", "fly[Moon]"])
def test_an_unknown_verb_costs_a_step(name, action):
    """an unknown verb is answered with "Invalid action" and costs a step"""
    world = make_world(name)
    world.reset(TASKS[name][0])
    result = world.step(action)
    assert result.text.startswith("Invalid action")
    assert "You can use:" in result.text
    assert not result.done
    assert world.steps == 1


@EACH_WORLD
def test_a_long_unknown_action_is_not_said_back_whole(name):
    """an unknown action of 10,000 characters does not fill the observation"""
    world = make_world(name)
    world.reset(TASKS[name][0])
    assert len(world.step("x" * 10_000).text) < 300


@pytest.mark.parametrize(
    ("name", "action"),
    [
        ("wiki", "search[{}]"),
        ("shop", "click[{}]"),
        ("house", "go to {}"),
        ("house", "open {}"),
        ("house", "put {} on the desk"),
        ("house", "heat {} with the microwave"),
    ],
)
def test_a_long_name_is_not_said_back_whole(name, action):
    """a name of 10,000 characters that nobody knows does not fill the observation"""
    world = make_world(name)
    world.reset(TASKS[name][0])
    assert len(world.step(action.format("x" * 10_000)).text) < 300


@EACH_WORLD
@pytest.mark.parametrize("thought", ["think: where is it?", "Think[so far so good]"])
def test_a_thought_changes_nothing(name, thought):
    """a thought is answered with "OK." and changes nothing in the world"""
    world = make_world(name)
    world.reset(TASKS[name][0])
    before = {**vars(world), "steps": 1}
    assert world.step(thought) == StepResult("OK.")
    assert vars(world) == before


@EACH_WORLD
def test_before_a_reset_there_is_nothing_to_do(name):
    """before a reset every action is answered with what to do first"""
    world = make_world(name)
    assert world.step("search[Moon]") == StepResult(NO_TASK)


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        ("wiki", ["finish[no idea]"]),
        ("shop", ["search[mug]", "click[p05]", "buy"]),
    ],
)
def test_after_the_end_nothing_counts(name, ending):
    """after the end every action is answered with "over", and earns nothing"""
    world = make_world(name)
    world.reset(TASKS[name][0])
    assert [world.step(action).done for action in ending][-1]
    assert world.step(ending[-1]) == StepResult(OVER, 0.0, True)
    world.reset(TASKS[name][0])
    assert (world.steps, world.done) == (0, False)


@EACH_WORLD
def test_each_world_has_a_dozen_tasks(name):
    """each world has at least twelve tasks, each with a name and a goal of its own"""
    slugs = [task.slug for task in TASKS[name]]
    goals = [task.text for task in TASKS[name]]
    assert len(slugs) >= 12
    assert len(set(slugs)) == len(set(goals)) == len(slugs)


@EACH_WORLD
def test_a_world_is_made_with_its_seed(name):
    """a world is made by its name, and with the seed that was asked for"""
    world = make_world(name, 7)
    assert (type(world), world.seed) == (WORLDS[name][0], 7)


def test_an_unknown_world_is_refused():
    """an unknown world is refused, and the message lists those that there are"""
    for ask in (make_world, tasks):
        with pytest.raises(ValueError, match=r"'moon'.*wiki, house, shop"):
            ask("moon")
