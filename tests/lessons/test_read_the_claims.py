"""The claims of others: lesson 13 finds each verdict from its source, or from a run."""

from itertools import count

import pytest

from tests.notebooks.conftest import NOTEBOOKS, read
from workbook.lessons import read_the_claims as room
from workbook.lessons.read_the_claims import Executor, Reply, claims, ending

LESSON = read(NOTEBOOKS / "13_read_the_claims.ipynb")
CODE = [cell for cell in LESSON.cells if cell.cell_type == "code"]
GIVEN = [c.source for c in CODE if "exercise" not in c.metadata.get("tags", ())]
FOUND = {
    "hotpotqa_act": "elsewhere",
    "readme": "not comparable",
    "gain": "right",
    "rate": "wrong",
    "votes": "right",
    "ends": "wrong",
    "recovery": "wrong",
}
OTHERWISE = {  # places in the sources, and other figures there; the verdict then
    "hotpotqa_act": (("review", "figures", "Act", "HotpotQA"), "25.7", "right"),
    "readme": (("paper", "questions"), "500 random development questions", "right"),
    "gain": (("paper", "figures", "imitation", "ALFWorld best"), "40", "wrong"),
    "rate": (("report", "figures", "Qwen-Turbo, K = 3", "rate"), "96.55", "right"),
    "votes": (("report", "figures", "Qwen-Turbo, K = 1", "time"), "07:58", "wrong"),
}


def verdicts():
    """Run the lesson's given cells with the package's answers; return its verdicts."""
    answers = ("compare_claim", "implied_denominator", "my_verdicts")
    names = {slug: getattr(room, slug) for slug in answers}
    names["display"] = lambda *shown: None
    for source in GIVEN:
        exec(source, names)
    return {slug: str(verdict) for slug, verdict in names["found"].items()}


def test_the_lesson_finds_these_verdicts():
    """seven claims are judged in the lesson, and the three open ones are not"""
    assert verdicts() == FOUND
    slugs = {claim["slug"] for claim in claims()["claim"]}
    assert slugs == {*FOUND, *room.my_verdicts()}


@pytest.mark.parametrize("slug", OTHERWISE)
def test_another_figure_is_another_verdict(slug, monkeypatch):
    """no verdict is a literal: it changes with the source's figures"""
    (*path, last), figure, then = OTHERWISE[slug]
    changed = claims()
    place = changed["source"]
    for name in path:
        place = place[name]
    place[last] = figure
    monkeypatch.setattr(room, "claims", lambda: changed)
    assert verdicts()[slug] == then != FOUND[slug]


# The controlled machine does what the published one does, good and bad

LOOK, SLOW = Reply(call=("look", {})), count(step=50).__next__


@pytest.mark.parametrize(
    ("reply", "limits", "last", "text", "times"),
    [
        (LOOK, {"calls": 99}, "THINK", "[stopped] out of steps", 20),
        (LOOK, {}, "THINK", "[stopped] out of tool calls", 10),
        (LOOK, {"clock": SLOW}, "EXECUTE_TOOL", "[stopped] out of time", 0),
        (Reply(""), {}, "DONE", "", 0),
        (Reply(), {}, "ERROR", "[error] neither text nor call", 0),
    ],
)
def test_how_a_run_ends(reply, limits, last, text, times):
    """a limit is no transition but a text; an empty text is an answer, no text none"""
    calls = []
    tools = {"look": lambda: calls.append("look")}
    assert ending(lambda observed: reply, tools, **limits) == (last, text)
    assert len(calls) == times


@pytest.mark.parametrize(
    ("call", "seen"),
    [(LOOK.call, "four"), (("look", {"no": 1}), "TypeError"), (("x", {}), "KeyError")],
)
def test_what_a_tool_does_is_an_observation(call, seen):
    """a text is a result; that a tool raises, or is unknown, is an observation"""

    def model(observed):
        return Reply(observed[0]) if observed else Reply(call=call)

    state, text = ending(model, {"look": lambda: "four"})
    assert (state, seen in text) == ("DONE", True)


# The executor, too

CALLED = []


def factors(number):
    CALLED.append(number)
    return [number]


TOOLS = {"prime_factorization": factors, "factorial": lambda n: -n}
PRIMES = "prime_factorization"


@pytest.mark.parametrize(
    ("tool", "arguments", "result"),
    [
        *[(PRIMES, {name: 12}, [12]) for name in ("n", "num", "value")],
        *[("factorial", {name: 4}, -4) for name in ("number", "num", "value")],
        (PRIMES, {"numbers": [12]}, [12]),
    ],
)
def test_a_repair_needs_one_more_attempt(tool, arguments, result):
    """what it knows succeeds at the second attempt; with one attempt it gives None"""
    assert Executor(TOOLS, 2).call(tool, arguments) == result
    assert Executor(TOOLS, 1).call(tool, arguments) is None


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        (PRIMES, {"numbers": [12, 15]}, "missing: number"),
        (PRIMES, {"number": 12, "list": []}, "forbidden: list"),
        (PRIMES, {"number": 1}, "number is out of range"),
        ("factorial", {"n": "4"}, "n is no integer"),
        ("factorial", {"numbers": [4]}, "missing: n"),
    ],
)
def test_what_cannot_be_repaired_is_handed_over_at_one_attempt_alone(
    tool, arguments, why
):
    """an invalid call is never made; with three attempts a missing method is asked"""
    CALLED.clear()
    handed = Executor(TOOLS, 1).call(tool, arguments)
    assert (handed["why"], handed["tried"]) == (why, arguments)
    with pytest.raises(AttributeError, match="adjust_arguments_for_retry"):
        Executor(TOOLS).call(tool, arguments)
    assert CALLED == []


def test_a_tool_without_rules_is_called():
    """it validates the two tools that it knows, and no other"""
    assert Executor({"other": lambda x: x}).call("other", {"x": 4}) == 4
