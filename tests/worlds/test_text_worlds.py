"""The text worlds: any action is answered, and each goal can be reached."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.worlds.catalogue import make_world, tasks
from workbook.worlds.house import HOUSE, PLACES, HouseTask, Thing, kind_of
from workbook.worlds.text_world import StepResult, ToolWorld
from workbook.worlds.wiki import load_articles, split_sentences

EACH_WORLD = pytest.mark.parametrize("name", ["wiki", "claims", "house"])
VERBS = ("search[{}]", "lookup[{}]", "think: {}", "{}", "open {}", "go to {}", "look")
VERBS += ("take {} from {}", "put[{}] on [{}]", "heat {} with {}", "take[{}]")
NAMES = (
    st.sampled_from(["", "desk 1", "cup 1", "[[", "\ud800" + "x" * 9_999]) | st.text()
)
ACTION = st.builds(lambda *parts: parts[0].format(*parts[1:]), st.sampled_from(VERBS),
                   NAMES, NAMES)  # fmt: skip


def started(name, task=None, **parts):
    world = make_world(name, **parts)
    world.reset(task or tasks(name)[0])
    return world


def do(world, *actions):
    """Take actions and return the last observation."""
    return [world.step(action).text for action in actions][-1]


@EACH_WORLD
@settings(max_examples=60, deadline=None)
@given(actions=st.lists(ACTION, max_size=12))
def test_any_action_is_answered(name, actions):
    """any string gets a text and a reward from 0 to 1, the same one each time"""
    world, other = started(name), started(name)
    for action in actions:
        result = world.step(action)
        assert result == other.step(action)
        assert 0 < len(result.text.encode()) < 2_000, "a long name is quoted in part"
        assert 0.0 <= result.reward <= 1.0


def test_a_tool_world_calls_functions():
    """an action calls its function; what it raises, and an unknown verb, is observed"""
    world = ToolWorld({"Divide": lambda text: 1 / int(text)})
    assert do(world, "divide[4]") == "0.25"
    assert do(world, "Divide[0]") == "Error: division by zero"
    for unknown in ("Search[x]", "Divide 1"):
        assert do(world, unknown).endswith("Valid actions are Divide[…], Finish[…].")
    assert world.step("Finish[1]").done


# an episode of each world: an action and a part of its observation a line

EPISODES = {
    "wiki": """
dance → Invalid action: 'dance'. You can use: search[entity],
Think[so far so good] → OK.
lookup[river] → No article is open
search[the Eifel tower] → Could not find [the Eifel tower]. Similar titles: Eiffel Tower
search[诗人李白] → Similar titles: 李白;
 SEARCH[ Ｅｉｆｆｅｌ  tower ] x → The Eiffel Tower is an iron tower
search[长江] → 长江是中国最长的河流。它
search[Danube] → The Danube is a river
lookup[river] → (Result 1 / 2)
lookup[river] → (Result 2 / 2)
lookup[Vienna] → (Result 1 / 1)
lookup[river] → (Result 1 / 2)
search[Danube] → The Danube is a river
lookup[river] → (Result 1 / 2)
finish[ warsaw. ] → Your answer: warsaw.""",
    "claims": """
lookup[Angara] → No article is open
search[Lake Baikal] → Lake Baikal
lookup[Angara] → (Result 1 / 1) One river
finish[SUPPORTS] → Your answer: SUPPORTS""",
    "house": """
dance → Invalid action: 'dance'. You can use: go to …,
think: Where am I? → OK.
look → You are not at any place
inventory → You are holding nothing.
take egg 1 from fridge 1 → you are not at 'fridge 1'
go to moon → there is no 'moon' in this house
go to fridge 1 → You are at fridge 1. It is closed.
take egg 1 → fridge 1 is closed: open it first
open fridge 1 → You open fridge 1. You are at fridge 1. In it: egg 1.
open fridge 1 → fridge 1 is not closed
GOTO[Counter 1] → You are at counter 1. On it: cup 1, cup 2.
take pen 9 from counter 1 → there is no 'pen 9' at counter 1
put cup 1 on counter 1 → you are not holding 'cup 1'
TAKE the  cup 1 FROM the counter 1. → You take cup 1 from counter 1.
take cup 2 → your hands are full with cup 1
go to drawer 1 → It is closed.
put cup 1 in drawer 1 → drawer 1 is closed: open it first
go to bed 1 → You are at bed 1. On it: cup 3 (clean).
put[cup 1] onto [bed 1] → You put cup 1 on bed 1.
take[cup 1] → You take cup 1 from bed 1.
go to sink 1 → You are at sink 1. In it: nothing.
heat cup 1 with sink 1 → one cannot heat a thing with sink 1: find a microwave
clean cup 1 with sink 1 → You clean cup 1 with sink 1.
go to microwave 1 → It is closed.
heat cup 1 with microwave 1 → You heat cup 1 with microwave 1.
inventory → You are holding cup 1 (clean, hot).
go to fridge 1 → In it: egg 1.
cool cup 1 with fridge 1 → You cool cup 1 with fridge 1.
inventory → You are holding cup 1 (clean, cold).
put[cup 1] in/on [fridge 1] → You put cup 1 in fridge 1.
take cup 1 → You take cup 1 from fridge 1.
go to bed 1 → On it: cup 3 (clean).
put cup 1 → You put cup 1 on bed 1.""",
}


@EACH_WORLD
def test_an_episode(name):
    """names are read loosely; what cannot be done is named; the goal earns 1.0"""
    own = {"house": HouseTask("test", "cup", "bed", "clean", count=2)}
    world = started(name, own.get(name))
    places = {"cup 1": "counter 1", "cup 2": "counter 1", "egg 1": "fridge 1"}
    world.things = [Thing(thing, place) for thing, place in places.items()]
    world.things += [Thing("cup 3", "bed 1", {"clean"})]
    lines = [line.split(" → ") for line in EPISODES[name].strip("\n").split("\n")]
    for action, part in lines:
        result = world.step(action)
        assert part in result.text, f"{action}: {result.text}"
        assert result.reward == result.done == ([action, part] == lines[-1])


def test_what_the_encyclopedia_shows():
    """five sentences or three paragraphs of an article; five titles where none fits"""
    [tower] = [each for each in load_articles() if each.title == "Eiffel Tower"]
    shown = " ".join(split_sentences(tower.text)[:5])
    assert do(started("wiki"), "search[eiffel tower]") == shown
    assert do(started("wiki"), "search[Eifel tower]").count("; ") == 4
    shown = do(started("claims"), "search[Lake Baikal]")
    assert (shown.count("\n"), "Angara" in shown) == (2, False)
    own = started("wiki", lookup=lambda *given: (f"{len(given[0])}, {given[1:]}", 7))
    assert do(own, "search[Danube]", "lookup[river]").endswith(", ('river', 0)")
    assert do(own, "lookup[river]").endswith(", ('river', 7)")


# the tasks


@pytest.mark.parametrize("name", ["wiki", "claims"])
def test_the_expert_finds_every_answer(name):
    """the expert of a task earns 1.0, as each accepted answer does; others earn 0.0"""
    world = make_world(name)
    for task in tasks(name):
        assert task.text in world.reset(task)
        *seen, last = [world.step(action) for action in task.expert]
        assert "Could not find" not in seen[0].text
        is_known = "NOT ENOUGH INFO" not in task.answers
        assert "No more results." not in seen[-1].text or not is_known
        assert [seen[-1].reward, last.reward, last.done] == [0.0, 1.0, True]
        for answer in task.answers:
            world.reset(task)
            assert world.step(f"Finish[{answer}]").reward == 1.0
        world.reset(task)
        wrong = StepResult("Your answer: Warsaw, Poland", 0.0, True)
        assert world.step("finish[Warsaw, Poland]") == wrong


def test_every_goal_of_the_house_can_be_reached():
    """enough of what is wanted lies elsewhere, and something gives it its state"""
    world, gives = (
        make_world("house"),
        [t["gives"] for t in HOUSE["treatments"].values()],
    )
    for task in tasks("house"):
        assert task.text in world.reset(task)
        wanted = [each for each in world.things if kind_of(each.name) == task.kind]
        assert len(wanted) >= task.count
        assert task.place not in [kind_of(each.place) for each in wanted]
        assert task.place in map(kind_of, PLACES)
        assert task.state in ("", *gives)
