"""What holds in every world, whatever an agent writes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.environments.text_world import OVER
from workbook.environments.worlds import WORLDS, make_world, tasks
from workbook.loop.text_world import StepResult

EACH_WORLD = pytest.mark.parametrize("name", WORLDS)
TASKS = {name: tasks(name) for name in WORLDS}
VERBS = (
    *("search[{}]", "lookup[{}]", "finish[{}]", "click[{}]", "think: {}", "{}"),
    *("go to {}", "take {} from {}", "put {} in/on {}"),
    *("clean {} with {}", "heat {} with {}", "look", "inventory"),
)
WORDS = ("", "desk 1", "cup 1", "the Moon", "[[", "]", "富士山", "mug", "p05", "back")
any_action = st.text(max_size=30) | st.builds(
    lambda verb, a, b: verb.format(a, b),
    st.sampled_from(VERBS),
    st.sampled_from(WORDS) | st.text(max_size=8),
    st.sampled_from(WORDS),
)


@EACH_WORLD
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_any_string_is_a_legal_call(name, data):
    """any string gets a text and a reward from 0 to 1, the same one each time"""
    task = data.draw(st.sampled_from(TASKS[name]))
    actions = data.draw(st.lists(any_action, max_size=12))
    world, other = make_world(name), make_world(name)
    assert world.reset(task) == other.reset(task)
    for number, action in enumerate(actions, start=1):
        result = world.step(action)
        assert result == other.step(action)
        assert result.text
        assert 0.0 <= result.reward <= 1.0
        assert result.done or result.reward == 0.0
        assert (world.done, world.steps) == (result.done, number)


@EACH_WORLD
@pytest.mark.parametrize("action", ["", "dance", "fly[Moon]"])
def test_an_unknown_verb_costs_a_step(name, action):
    """an unknown verb is answered with "Invalid action" and costs a step"""
    world = make_world(name)
    world.reset(TASKS[name][0])
    result = world.step(action)
    assert result.text.startswith("Invalid action")
    assert "You can use:" in result.text
    assert (result.done, world.steps) == (False, 1)


@pytest.mark.parametrize(
    ("name", "action"),
    [
        *((name, "{}") for name in WORLDS),
        ("wiki", "search[{}]"),
        ("shop", "click[{}]"),
        ("house", "go to {}"),
        ("house", "put {} on the desk"),
    ],
)
def test_a_long_name_is_not_said_back_whole(name, action):
    """10,000 characters do not fill the observation; half a character can be sent"""
    world = make_world(name)
    world.reset(TASKS[name][0])
    text = world.step(action.format("\ud800" + "x" * 10_000)).text
    assert len(text.encode()) < 400


@EACH_WORLD
@pytest.mark.parametrize("thought", ["think: where is it?", "Think[so far so good]"])
def test_a_thought_changes_nothing(name, thought):
    """a thought is answered with "OK." and changes nothing in the world"""
    world = make_world(name)
    world.reset(TASKS[name][0])
    before = {**vars(world), "steps": 1}
    assert world.step(thought) == StepResult("OK.")
    assert vars(world) == before


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        ("wiki", ["finish[no idea]"]),
        ("shop", ["search[mug]", "click[p05]", "click[buy now]"]),
    ],
)
def test_outside_of_a_run_nothing_counts(name, ending):
    """before a reset and after the end each action is told so, and earns nothing"""
    world = make_world(name)
    assert world.step("search[Moon]") == StepResult(OVER, done=True)
    world.reset(TASKS[name][0])
    assert [world.step(action).done for action in ending][-1]
    assert world.step(ending[-1]) == StepResult(OVER, 0.0, True)
    world.reset(TASKS[name][0])
    assert (world.steps, world.done) == (0, False)


@EACH_WORLD
def test_each_world_has_a_dozen_tasks(name):
    """a world has twelve tasks or more, each with a name and a goal of its own"""
    slugs, goals = zip(*((task.slug, task.text) for task in TASKS[name]), strict=True)
    assert len(slugs) >= 12
    assert len(set(slugs)) == len(set(goals)) == len(slugs)
