"""The loop that everybody writes first: what it does, and what it does wrong."""

import pytest

from workbook.loop.naive import Fuse, FuseBlown, ignore, naive_loop
from workbook.models.base import Completion, Usage
from workbook.models.script import Script
from workbook.record.events import REQUIRED
from workbook.record.trace import Trace
from workbook.record.writer import TraceWriter

CALL = "Thought: I add.\nAction: Sum\nAction Input: 1+1"
TOOLS = {"Sum": lambda text: 2}


def run(model, **options):
    trace = TraceWriter(secrets=())
    answer = naive_loop(model, TOOLS, "1+1?", emit=trace, **options)
    return answer, trace.trace()


def test_it_answers_with_what_follows_final_answer():
    """The loop hands back the words behind "Final Answer:"."""
    answer, _ = run(Script(["Thought: easy.\nFinal Answer: 2 "]))
    assert answer == "2"


def test_the_tools_result_is_in_the_next_prompt():
    """The runtime writes the Observation, and the model reads it the next time."""
    model = Script([CALL, "Final Answer: 2"])
    run(model, preamble="Add.\n")
    assert [request.prompt for request in model.requests] == [
        "Add.\nQuestion: 1+1?\n",
        f"Add.\nQuestion: 1+1?\n{CALL}\nObservation: 2\n",
    ]


def test_it_sends_no_stop_sequence():
    """Nothing keeps the model from going on after its action."""
    model = Script([CALL, "Final Answer: 2"])
    run(model)
    assert [request.stop for request in model.requests] == [(), ()]


def test_the_trace_tells_the_run_in_order():
    """Every call, tool and answer is told, in order, with the fields of the schema."""
    _, trace = run(Script([CALL, "Final Answer: 2"]))
    assert [event["kind"] for event in trace] == [
        "run_started",
        *("model_request", "model_turn", "tool_call", "observation"),
        *("model_request", "model_turn"),
        "run_finished",
    ]
    for event in trace:
        assert set(REQUIRED[event["kind"]]) <= set(event)
    assert trace.end["answer"] == "2"


def test_a_made_up_observation_is_believed():
    """A whole run that the model made up is taken for an answer; no tool is asked."""
    answer, trace = run(Script([f"{CALL}\nObservation: 3\nFinal Answer: 3"]))
    assert answer == "3"
    assert trace.of("tool_call") == []


@pytest.mark.parametrize(
    ("text", "error"),
    [("I think.", AttributeError), ("Action: None\nAction Input: -", KeyError)],
    ids=["unreadable turn", "unknown tool"],
)
def test_an_unexpected_turn_ends_the_run(text, error):
    """A turn without an action, and a tool that is not there, raise to the caller."""
    with pytest.raises(error):
        run(Script([text]))


def test_a_tool_that_raises_ends_the_run():
    """What a tool throws goes through the loop, and the history is gone."""
    tools = {"Sum": lambda text: 1 / 0}
    with pytest.raises(ZeroDivisionError):
        naive_loop(Script([CALL]), tools, "1+1?")


class Refusal(str):
    """What a tool wrapper hands a loop of texts for a call that failed."""

    ok = False


def test_a_tool_that_says_no_has_failed():
    """A failure that comes back as text is no result in the trace; the loop goes on."""
    tools = {"Sum": lambda text: Refusal("no sums today")}
    trace = TraceWriter(secrets=())
    naive_loop(Script([CALL, "Final Answer: ?"]), tools, "1+1?", emit=trace)
    (observation,) = trace.trace().of("observation")
    assert (observation["ok"], observation["text"]) == (False, "no sums today")


@pytest.mark.parametrize("calls", [1, 3, 12])
def test_the_fuse_blows_after_its_calls(calls):
    """A fuse of n lets n calls through and raises at the next one."""
    model = Script([CALL] * (calls + 1))
    with pytest.raises(FuseBlown, match=f"asked {calls} times"):
        run(Fuse(model, calls))
    assert model.asked == calls


def test_the_fuse_passes_everything_on():
    """Behind a fuse, the model gets the same prompt and stop sequences."""
    model = Script([Completion("hello", Usage(10, 5, 2))])
    fuse = Fuse(model)
    assert fuse.complete("p", stop=["s"]) == Completion("hello", Usage(10, 5, 2))
    assert fuse.name == model.name
    assert (model.requests[0].prompt, model.requests[0].stop) == ("p", ("s",))


@pytest.mark.parametrize("calls", [0, -1])
def test_a_fuse_allows_one_call_or_more(calls):
    """A fuse that allows no call is refused when it is made."""
    with pytest.raises(ValueError, match=f"not {calls}"):
        Fuse(Script([]), calls)


def test_a_model_turn_says_what_was_parsed():
    """The trace holds each turn as text and as what our parser makes of it."""
    _, trace = run(Script([Completion(CALL, Usage(10, 5, 2)), "Final Answer: 2"]))
    fields = trace.of("model_turn")[0]
    turn = {"kind": "action", "thought": "I add.", "tool": "Sum", "input": "1+1"}
    assert (fields["text"], fields["turn"]) == (CALL, turn)
    assert fields["usage"] == {"input": 10, "output": 5, "cached": 2}


def test_ignore_keeps_nothing():
    """Without a trace, an event is told to nobody."""
    assert ignore("tool_call", tool="Sum") is None
    assert Trace(()).end is None
