"""The text worlds: any action is answered, and each goal can be reached."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.worlds.catalogue import make_world, tasks
from workbook.worlds.house import HOUSE, PLACES, HouseTask, Thing, kind_of
from workbook.worlds.text_world import StepResult, ToolWorld
from workbook.worlds.wiki import WikiWorld, load_articles, split_sentences

EACH_WORLD = pytest.mark.parametrize("name", ["wiki", "claims", "house"])
VERBS = ("search[{}]", "lookup[{}]", "think: {}", "{}", "open {}", "go to {}", "look")
VERBS += ("take {} from {}", "put[{}] on [{}]", "heat {} with {}", "take[{}]")
NAMES = st.sampled_from(["", "desk 1", "drawer 1", "cup 1", "[[", "]"]) | st.text()
ACTION = st.builds(lambda *parts: parts[0].format(*parts[1:]), st.sampled_from(VERBS),
                   NAMES, NAMES)  # fmt: skip


def begun(name, task=None):
    world = make_world(name)
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
    world, other = begun(name), begun(name)
    for action in actions:
        result = world.step(action)
        assert result == other.step(action)
        assert result.text
        assert 0.0 <= result.reward <= 1.0


@EACH_WORLD
def test_what_an_agent_may_write(name):
    """an unknown verb is answered with the verbs, a thought with "OK." alone"""
    world = begun(name)
    assert do(world, "dance").startswith("Invalid action: 'dance'. You can use: ")
    before = {**vars(world)}
    assert world.step("Think[so far so good]") == StepResult("OK.")
    assert vars(world) == before
    for verb in ("{}", "search[{}]", "go to {}"):
        text = world.step(verb.format("\ud800" + "x" * 10_000)).text
        assert len(text.encode()) < 400, "a long name is quoted in part"


def test_a_tool_world_calls_functions():
    """an action calls its function; what it raises, and an unknown verb, is observed"""
    world = ToolWorld({"Divide": lambda text: 1 / int(text)})
    assert do(world, "divide[4]") == "0.25"
    assert do(world, "Divide[0]") == "Error: division by zero"
    unknown = "Invalid action. Valid actions are Divide[…], Finish[…]."
    assert (do(world, "Search[x]"), do(world, "Divide 1")) == (unknown, unknown)
    assert world.step("Finish[1]").done


# the encyclopedia


@pytest.mark.parametrize("task", tasks("wiki") + tasks("claims"), ids=lambda t: t.slug)
def test_the_expert_finds_every_answer(task):
    """the expert of a task earns 1.0, as each accepted answer does; others earn 0.0"""
    world = make_world("claims" if task in tasks("claims") else "wiki")
    assert task.text in world.reset(task)
    *seen, last = [world.step(action) for action in task.expert]
    assert "Could not find" not in seen[0].text
    assert "No more results." not in seen[-1].text or "NOT ENOUGH INFO" in task.answers
    assert [seen[-1].reward, last.reward, last.done] == [0.0, 1.0, True]
    for answer in (*task.answers, task.answers[0].lower() + "."):
        world.reset(task)
        assert world.step(f"Finish[{answer}]").reward == 1.0
    world.reset(task)
    wrong = StepResult("Your answer: Warsaw, Poland", 0.0, True)
    assert world.step("finish[Warsaw, Poland]") == wrong


def test_a_search_shows_the_beginning():
    """five sentences, or three paragraphs; case, width and blanks do not matter"""
    [tower] = [each for each in load_articles() if each.title == "Eiffel Tower"]
    for title in ("[eiffel tower]", "[ Eiffel  Tower ]", "[Ｅｉｆｆｅｌ Tower]"):
        shown = " ".join(split_sentences(tower.text)[:5])
        assert do(begun("wiki"), f" SEARCH{title}\n") == shown
    found = do(begun("wiki"), "search[长江]")  # without a gap between sentences
    assert found.startswith("长江是中国最长的河流。它")
    world = begun("claims")
    shown = do(world, "search[Lake Baikal]")
    assert (shown.count("\n"), "Angara" in shown) == (2, False)
    assert do(world, "lookup[Angara]").startswith("(Result 1 / 1) One river")
    assert {answer for task in tasks("claims") for answer in task.answers} == {
        *("SUPPORTS", "REFUTES", "NOT ENOUGH INFO"),
    }


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("the Eifel tower", "Eiffel Tower"), ("诗人李白", "李白")],
)
def test_a_title_that_is_not_there(wrong, meant):
    """an unknown title is answered with five similar titles, the best first"""
    text = do(begun("wiki"), f"search[{wrong}]")
    assert text.startswith(f"Could not find [{wrong}]. Similar titles: {meant}; ")
    assert text.count("; ") == 4


def test_a_lookup_walks_through_the_open_article():
    """each lookup gives the next match; another word or article begins anew"""
    world = begun("wiki")
    assert do(world, "lookup[river]").startswith("No article is open")
    assert do(world, "search[Danube]", "lookup[river]").startswith("(Result 1 / 2)")
    assert do(world, "lookup[river]").startswith("(Result 2 / 2)")
    assert do(world, "lookup[Vienna]").startswith("(Result 1 / 1)")
    assert do(world, "lookup[river]").startswith("(Result 1 / 2)")
    own = WikiWorld(lambda *given: (f"{len(given[0])}, {given[1:]}", 7))
    own.reset(tasks("wiki")[0])
    assert do(own, "search[Danube]", "lookup[river]").endswith(", ('river', 0)")
    assert do(own, "lookup[river]").endswith(", ('river', 7)")


# the house


@pytest.fixture
def house():
    """A house with an apple and two cups on the counter, and an egg in the fridge."""
    world = begun("house", HouseTask("test", "cup", "bed", "clean"))
    places = {"cup 1": "counter 1", "cup 2": "counter 1", "apple 1": "counter 1"}
    places |= {"egg 1": "fridge 1", "book 1": "shelf 1"}
    world.things = [Thing(name, place) for name, place in places.items()]
    return world


def solve(world, task):
    """Return the rewards of solving a task by what the texts say."""

    def at(kind):
        return next(place for place in PLACES if kind_of(place) == kind)

    verb = {"clean": "clean", "hot": "heat", "cold": "cool"}.get(task.state)
    for place in (place for place in PLACES if kind_of(place) != task.place):
        seen = do(world, f"go to {place}", f"open {place}", "look")
        for name in re.findall(rf"{task.kind} \d", seen):
            do(world, f"go to {place}", f"take {name} from {place}")
            if verb:
                tool = at(HOUSE["treatments"][verb]["place"])
                do(world, f"go to {tool}", f"{verb} {name} with {tool}")
            goal = at(task.place)
            do(world, f"go to {goal}", f"open {goal}")
            yield world.step(f"put {name} in/on {goal}").reward


@pytest.mark.parametrize("task", tasks("house"), ids=lambda task: task.slug)
def test_every_goal_of_the_house_can_be_reached(task):
    """every goal can be reached by what the texts say, and not before"""
    world = make_world("house")
    assert task.text in world.reset(task)
    rewards = [*solve(world, task)][: task.count]
    assert rewards == [0.0] * (task.count - 1) + [1.0]


def test_what_is_seen(house):
    """what lies at a place is seen there; a container shows it once it is open"""
    assert do(house, "look").startswith("You are not at any place")
    seen = "You are at counter 1. On it: cup 1, cup 2, apple 1."
    assert do(house, "go to counter 1") == seen
    assert do(house, "go to fridge 1") == "You are at fridge 1. It is closed."
    assert "open it first" in do(house, "take egg 1 from fridge 1")
    assert do(house, "open fridge 1").endswith("In it: egg 1.")
    assert do(house, "open fridge 1").endswith("fridge 1 is not closed.")
    assert do(house, "take egg 1 from fridge 1") == "You take egg 1 from fridge 1."


def test_nothing_happens_where_it_cannot(house):
    """what is not there, out of reach or in the other hand is named"""
    assert "no 'moon'" in do(house, "go to moon")
    assert "not at 'fridge 1'" in do(house, "take egg 1 from fridge 1")
    do(house, "go to counter 1")
    assert "no 'pen 9' at counter 1" in do(house, "take pen 9 from counter 1")
    assert "not holding 'cup 1'" in do(house, "put cup 1 on counter 1")
    assert do(house, "take cup 1", "inventory") == "You are holding cup 1."
    assert "full with cup 1" in do(house, "take cup 2 from counter 1")
    assert "open it first" in do(house, "go to drawer 1", "put cup 1 in drawer 1")


@pytest.mark.parametrize("place", ["in {}", "in/on {}", "onto {}", ""])
def test_names_may_be_written_loosely(house, place):
    """names are understood in any case, with "the", in brackets; here is the default"""
    taken = do(house, "GOTO[Counter 1]", "TAKE the  cup 1 FROM the counter 1.")
    assert taken == "You take cup 1 from counter 1."
    put = f"put[cup 1] {place.format('[table 1]')}"
    assert do(house, "go to table 1", put) == "You put cup 1 on table 1."


def test_the_goal_needs_the_state(house):
    """a sink cleans and a fridge cools, nothing else does; a dirty cup is no goal"""
    do(house, "go to counter 1", "take cup 1 from counter 1", "go to bed 1")
    assert house.step("put cup 1 on bed 1").reward == 0.0
    do(house, "take cup 1", "go to sink 1")
    assert "find a microwave" in do(house, "heat cup 1 with sink 1")
    do(house, "clean cup 1 with sink 1", "go to microwave 1")
    do(house, "heat cup 1 with microwave 1")
    assert do(house, "inventory") == "You are holding cup 1 (clean, hot)."
    do(house, "go to fridge 1", "cool cup 1 with fridge 1")
    assert do(house, "inventory") == "You are holding cup 1 (clean, cold)."
