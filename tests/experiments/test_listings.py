"""The rebuilt listings do what the published ones do, good and bad."""

from itertools import count

import pytest

from workbook.experiments.listings import Reply, ending, recover

LOOK, DONE = Reply(call=("look", {})), Reply(final_text="done")


def run(tool, *replies, **limits):
    """Play replies, the last one again and again; what the model saw comes last."""
    left, seen = list(replies), []

    def model(observed):
        seen[:] = observed
        return left.pop(0) if len(left) > 1 else left[0]

    return (*ending(model, {"look": tool}, **limits), seen)


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
    last, text, _ = run(lambda: calls.append("look"), LOOK, **limits)
    assert (last, text, len(calls)) == (state, f"[stopped] out of {what}", times)


@pytest.mark.parametrize(
    ("reply", "state"), [(Reply(final_text=""), "DONE"), (Reply(), "ERROR")]
)
def test_an_empty_text_is_an_answer_and_an_empty_turn_is_not(reply, state):
    """an empty final text ends in DONE, a turn with neither text nor call in ERROR"""
    assert run(lambda: "four", reply)[0] == state


@pytest.mark.parametrize(
    ("call", "ok"),
    [(LOOK.call, True), (("look", {"no": 1}), False), (("x", {}), False)],
)
def test_what_a_tool_does_is_an_observation(call, ok):
    """a text is a result; a tool that raises, or is unknown, is told to the model"""
    state, _, seen = run(lambda: "four", Reply(call=call), DONE)
    assert (state, '"ok": true, "result": "four"' in seen[0]) == ("DONE", ok)
    assert ('"ok": false' in seen[0]) is not ok


def test_what_escapes():
    """a result that is no JSON escapes, and so does a model that raises"""
    with pytest.raises(TypeError, match="not JSON serializable"):
        run(lambda: {4}, LOOK, DONE)
    with pytest.raises(IndexError):
        ending(lambda observed: [][0], {})


def double(n):
    return 2 * n


@pytest.mark.parametrize("arguments", [{"number": 4}, {"numbers": [4]}])
def test_a_repair_needs_one_more_attempt(arguments):
    """one repair succeeds at the second attempt; with one attempt it gives None"""
    assert recover(double, arguments, 2) == {"ok": True, "result": 8}
    assert recover(double, arguments, 1) is None


def test_what_cannot_be_repaired_is_handed_over():
    """the last failure is handed over, with its words"""
    assert "unexpected keyword" in recover(double, {"x": 4})["hand_over"]
