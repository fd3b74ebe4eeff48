"""Whatever its model does and its tools return: no run does more than it may."""

import json
from dataclasses import replace

from hypothesis import example, given, settings
from hypothesis import strategies as st

from workbook.fsm.adapters import FunctionCalls, TextTurns
from workbook.guardrails.budget import Budget, Prices
from workbook.guardrails.machine import guarded
from workbook.guardrails.permission import LATER, Edit, no, yes
from workbook.guardrails.table import GUARDED
from workbook.models.base import ToolRequest, Usage
from workbook.models.prompts import count_tokens
from workbook.models.script import Script
from workbook.tools.calls import ToolFailure
from workbook.tools.tool import Tool
from workbook.traces.writer import TraceWriter

SCHEMA = {"properties": {"n": {}}}


def look(n=None):
    if n == 1:
        raise ToolFailure("no", "not one")
    return {"result": "It is so. " * 12}


def tools(sent):
    """Return two tools; what one of them is sent goes into a list."""

    def send(n=None):
        sent.append(n)
        return {"result": "sent"}

    send = Tool("Send", "Sends.", SCHEMA, send, "write", timeout_s=None)
    return [Tool("Look", "Looks.", SCHEMA, look, timeout_s=None), send]


class Metered(Script):
    """A script that counts the schemas of its tools too, as an endpoint does."""

    def chat(self, messages, *, tools=(), **options):
        reply = super().chat(messages, tools=tools, **options)
        more = count_tokens(json.dumps(tools)) if tools else 0
        return replace(reply, usage=reply.usage + Usage(more))


WORDS = st.sampled_from(["x", 0, 1, "long text " * 8])
CALL = st.builds(
    lambda name, n, call_id: ToolRequest(name, {"n": n}, call_id),
    st.sampled_from(["Look", "Send", "Nope"]),
    WORDS,
    st.sampled_from(["", "", "a", "b"]),
)
SAID = st.sampled_from(["Let me see.", "Final Answer: " + "done " * 15, "well " * 20])
STEP = "Thought: t\nAction: {}\nAction Input: {}".format
ACT = st.builds(STEP, st.sampled_from(["Look", "Send", "No"]), WORDS)
TURNS = {
    TextTurns: st.lists(SAID | ACT, min_size=1, max_size=6),
    FunctionCalls: st.lists(
        SAID | CALL | st.lists(CALL, min_size=1, max_size=3), min_size=1, max_size=6
    ),
}
TALK = st.sampled_from([TextTurns, FunctionCalls]).flatmap(
    lambda adapter: st.tuples(st.just(adapter), TURNS[adapter])
)
BUDGET = st.fixed_dictionaries(
    {"steps": st.integers(1, 6), "tool_calls": st.integers(0, 4)},
    optional={
        "input_tokens": st.integers(1, 600),
        "output_tokens": st.integers(1, 600),
        "tokens": st.integers(1, 600),
        "money": st.sampled_from([0.0003, 0.001, 0.002]),
    },
)
PRICES = Prices("EUR", "2026-01-01", input=2, output=8, cached=2)
OPTIONS = st.fixed_dictionaries(
    {
        "mode": st.sampled_from(["plan", "build"]),
        "converge": st.booleans(),
        "context_tokens": st.none() | st.integers(40, 300),
        "parallel": st.booleans(),
    }
)
ANSWERS = st.lists(
    st.sampled_from(
        [yes, no, lambda r: LATER, lambda r: Edit({"n": 1}), lambda r: Edit({"m": 1})]
    ),
    max_size=6,
)
PLAN = {"mode": "plan"}
LOOK = ToolRequest("Look", {"n": "x"})
SEND = ToolRequest("Send", {"n": 0})


@settings(max_examples=300, deadline=None)
@example(
    (FunctionCalls, [LOOK, [SEND, LOOK, LOOK], LOOK]),
    {"steps": 3, "tool_calls": 2, "tokens": 400},
    PLAN,
    [],
)
@example(
    (FunctionCalls, ["well " * 20]),
    {"steps": 1, "tool_calls": 1, "tokens": 60},
    PLAN,
    [],
)
@given(TALK, BUDGET, OPTIONS, ANSWERS)
def test_no_run_is_above_any_of_its_limits(talk, limits, options, answers):
    """what is sent was counted, each call has one observation, a plan never writes"""
    (adapter, turns), budget = talk, Budget(**limits, prices=PRICES)
    script, sent, said = Metered(turns, repeat_last=True), [], iter(answers)
    told, about = TraceWriter(), {"adapter": adapter, **options}
    ask = {"ask": lambda request: next(said, yes)(request)}
    machine = guarded(script, tools(sent), budget=budget, hook=told, **ask, **about)
    end, trace = machine.run("What is it?"), told.trace()
    spent = end.spent
    assert spent.steps <= budget.steps
    assert spent.tool_calls <= budget.tool_calls
    assert spent.usage.input <= budget.input_tokens
    assert spent.usage.output <= budget.output_tokens
    assert spent.usage.input + spent.usage.output <= budget.tokens
    assert PRICES.cost(spent.usage) <= budget.money
    most = options.get("context_tokens") or float("inf")
    assert all(script.count(request.prompt) <= most for request in script.requests)
    too_small = end.state == "ERROR" and "raise the limit" in end.message
    assert end.state in GUARDED.ends - {"ERROR", "CANCELLED"} or too_small
    called = [event["call_id"] for event in trace.of("tool_call")]
    seen = [e["call_id"] for e in trace.of("observation") if e["call_id"]]
    assert sorted(called) == sorted(seen) == sorted(set(called))
    allowed = [e for e in trace.of("transition") if e["target"] == "EXECUTE_TOOL"]
    writes = {e["call_id"] for e in trace.of("tool_call") if e["tool"] == "Send"}
    assert len(sent) <= sum(e["call_id"] in writes for e in allowed)
    assert options["mode"] == "build" or not sent
