"""The rebuilt listings do what the published ones do, good and bad."""

from itertools import count

import pytest

from workbook.experiments.listings import Reply, ending, recover

LOOK, DONE = Reply(call=("look", {})), Reply(final_text="done")


def run(tool, *replies, **limits):
    """Play replies, the last one again and again."""
    left = list(replies)

    def model(observed):
        return left.pop(0) if len(left) > 1 else left[0]

    return ending(model, {"look": tool}, **limits)


@pytest.mark.parametrize(
    ("limits", "state", "what", "times"),
    [
        ({"calls": 99}, "THINK", "steps", 20),
        ({}, "THINK", "tool calls", 10),
        ({"clock": count(step=50).__next__}, "EXECUTE_TOOL", "time", 0),
    ],
)
def test_a_limit_is_no_transition(limits, state, what, times):
    """what runs out is a text: the hook hears of no final state"""
    calls = []
    last, text = run(lambda: calls.append("look"), LOOK, **limits)
    assert (last, text, len(calls)) == (state, f"[stopped] out of {what}", times)


def test_an_empty_text_is_an_answer_and_an_empty_turn_is_not():
    """an empty final text ends in DONE, a turn with neither text nor call in ERROR"""
    assert run(lambda: "four", Reply(final_text=""))[0] == "DONE"
    assert run(lambda: "four", Reply())[0] == "ERROR"


@pytest.mark.parametrize(
    ("call", "seen"),
    [
        (LOOK.call, '"ok": true, "result": "four"'),
        (("look", {"no": 1}), '"ok": false'),
        (("x", {}), '"ok": false'),
    ],
)
def test_what_a_tool_does_is_an_observation(call, seen):
    """a text is a result; a tool that raises, or is unknown, is told to the model"""

    def model(observed):
        return Reply(observed[0]) if observed else Reply(call=call)

    state, text = ending(model, {"look": lambda: "four"})
    assert (state, seen in text) == ("DONE", True)


def double(n):
    return 2 * n


@pytest.mark.parametrize("arguments", [{"number": 4}, {"numbers": [4]}])
def test_a_repair_needs_one_more_attempt(arguments):
    """one repair succeeds at the second attempt; with one attempt it gives None"""
    assert recover(double, arguments, 2) == {"ok": True, "result": 8}
    assert recover(double, arguments, 1) is None
    assert "unexpected keyword" in recover(double, {"x": 4})["hand_over"]
