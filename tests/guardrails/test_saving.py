"""Two guards that save: no READ twice, and a strong model only where it is needed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.fsm.adapters import FunctionCalls, TextTurns
from workbook.guardrails.cache import FROM_CACHE, Cached
from workbook.guardrails.escalation import Escalate
from workbook.guardrails.machine import guarded
from workbook.models.base import Completion, ToolRequest, Usage
from workbook.models.script import Script
from workbook.tools.calculator import calculator
from workbook.tools.calls import Effect, ToolCall, ToolFailure
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import Tool
from workbook.traces.writer import TraceWriter

# the same READ is made once in a run

NUMBER = {"properties": {"n": {"type": ["integer", "boolean", "number"]}}}


class Shelf:
    """A registry whose tools write down the calls that reach them."""

    def __init__(self):
        self.reached = []

        def tool(name, **about):
            def run(n=0):
                self.reached.append((name, n))
                if n == 13:
                    raise ToolFailure("unlucky", "13 is not there.", retryable=True)
                if n == -1:
                    raise KeyboardInterrupt
                return {"result": f"{name} {n}"}

            return Tool(name, "Does it.", NUMBER, run, timeout_s=None, **about)

        self.tools = ToolRegistry([
            tool("Read", repeatable=True),
            tool("Clock"),
            tool("Write", effect=Effect.WRITE, repeatable=True),
        ])  # fmt: skip
        self.cached = Cached(self.tools.run, self.tools)

    def call(self, name, n=0, call_id="c"):
        return self.cached(ToolCall(name, {"n": n}, call_id))


def test_a_write_that_never_comes_back_ends_it_too():
    """a WRITE that is given up in flight may have its effect: nothing is remembered"""
    shelf = Shelf()
    shelf.call("Read")
    with pytest.raises(KeyboardInterrupt):
        shelf.call("Write", -1)
    assert shelf.call("Read").notes == ()


CALLS = st.tuples(st.sampled_from(["Read", "Clock", "Write"]), st.sampled_from([0, 13]))


@given(st.lists(CALLS, max_size=8))
@settings(max_examples=100, deadline=None)
def test_a_cached_result_is_what_the_tool_would_have_said(calls):
    """what comes back is a true answer to this very call; nothing is kept of a WRITE"""
    shelf, wrote = Shelf(), False
    for number, (name, n) in enumerate(calls):
        seen = shelf.call(name, n, f"c{number}")
        wrote = wrote or name == "Write"
        result = None if n == 13 else {"result": f"{name} {n}"}
        assert (seen.call_id, seen.result) == (f"c{number}", result)
        asked_before = (name, n) == ("Read", 0) and (name, n) in calls[:number]
        assert (FROM_CACHE in seen.notes) is (asked_before and not wrote)


def test_a_machine_has_one_for_each_run():
    """given as `cache`, it answers within a run, and forgets before the next one"""
    shelf, read = Shelf(), "Action: Read\nAction Input: 1"
    model = Script([read, read, "Final Answer: done"], loop=True)
    machine = guarded(model, shelf.tools, cache=Cached)
    for runs in (1, 2):
        assert machine.run("?").state == "DONE"
        assert len(shelf.reached) == runs


# a strong model only where it is needed

ACT = "Thought: I calculate.\nAction: Calculator\nAction Input: 2*3"
FINAL = "Thought: I know.\nFinal Answer: 6"
BABBLE = "Well, let me see."
CALLS = ToolRequest("Calculator", {"expression": "2*3"})


def script(name, *turns):
    model = Script(turns)
    model.name = name
    return model


def played(small, strong, adapter=None, **options):
    """Return such a model, how a run with it ended, and the trace."""
    told, model = TraceWriter(), Escalate([small, strong], **options)
    machine = guarded(model, [calculator()], adapter=adapter, hook=told)
    return model, machine.run("What is 2*3?"), told.trace()


@pytest.mark.parametrize("adapter", [TextTurns, FunctionCalls])
@pytest.mark.parametrize("turn", ["", Completion(ACT, finish_reason="length"), FINAL])
def test_it_takes_for_unreadable_what_the_machine_does(adapter, turn):
    """it hands over exactly where the run has an unreadable turn; a cut one is one"""
    small, strong = script("small", turn, FINAL), script("strong", FINAL)
    model, end, trace = played(small, strong, adapter, after=1)
    [first, *_] = trace.of("model_turn")
    assert (model.name == "strong") is (first["turn"]["kind"] == "malformed")
    assert end.state == "DONE"


def test_the_trace_says_who_goes_on_and_the_tokens_who_cost_what():
    """a hand-over is a decision of the model's; tokens are counted by model"""
    babble = [Completion(BABBLE, Usage(100, n, 5)) for n in (10, 20)]
    small = script("small", *babble)
    strong = script("strong", Completion(FINAL, Usage(150, 30, 0)))
    model, end, trace = played(small, strong)
    assert (end.answer, small.asked, model.name) == ("6", 2, "strong")
    [decision] = trace.of("decision")
    assert (decision["who"], decision["what"]) == ("model", "handed over")
    assert all(word in decision["why"] for word in ("small", "strong", "2 in a row"))
    assert model.spent == {"small": Usage(200, 30, 10), "strong": Usage(150, 30, 0)}
    assert end.spent.usage == Usage(350, 60, 10)


@pytest.mark.parametrize(
    ("adapter", "turns"),
    [
        (TextTurns, [BABBLE, ACT, BABBLE, FINAL]),
        (FunctionCalls, [ACT, CALLS, "", FINAL]),
    ],
)
def test_a_readable_turn_starts_the_count_anew(adapter, turns):
    """unreadable turns with a readable one between them are not in a row"""
    strong = script("strong", FINAL)
    _, end, _ = played(script("small", *turns), strong, adapter)
    assert (end.state, strong.asked) == ("DONE", 0)


def test_a_chat_model_is_asked_as_one():
    """of models that only chat it is a chat model, and the machine sees that"""

    class Chat:
        def __init__(self, name, *turns):
            self.name, self.chat = name, Script(turns).chat

    model, end, _ = played(Chat("a", ACT), Chat("b", CALLS, "6"), after=1)
    assert not hasattr(model, "complete")
    assert (end.state, end.answer, model.name) == ("DONE", "6", "b")


@pytest.mark.parametrize(("models", "after"), [([], 2), ([Script(["x"])], 0)])
def test_it_needs_a_model_and_a_number(models, after):
    """no model, or no turn to wait for, is refused with what was given"""
    with pytest.raises(ValueError, match=f"{len(models)} models, after={after}"):
        Escalate(models, after)
