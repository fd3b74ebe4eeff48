"""No run spends more than it may, whatever its model does and its tools return."""

import json
from dataclasses import replace

from hypothesis import example, given, settings
from hypothesis import strategies as st

from workbook.fsm.conversations import FunctionCalls, TextTurns
from workbook.guardrails.budget import Budget, Prices
from workbook.guardrails.machine import guarded
from workbook.guardrails.permission import Edit, no, yes
from workbook.models.base import ToolRequest, Usage
from workbook.models.prompts import count_tokens
from workbook.models.script import Script
from workbook.tools.parallel import run_in_parallel
from workbook.tools.tool import Tool

SCHEMA = {"properties": {"n": {}}}
TOOLS = [
    Tool("Look", "Looks.", SCHEMA, lambda n=None: {"result": "It is so. " * 12}),
    Tool("Send", "Sends.", SCHEMA, lambda n=None: {"result": "sent"}, effect="write"),
]


class Metered(Script):
    """A script that counts the schemas of its tools too, as an endpoint does."""

    def chat(self, messages, *, tools=(), **options):
        reply = super().chat(messages, tools=tools, **options)
        more = count_tokens(json.dumps(tools)) if tools else 0
        return replace(reply, usage=reply.usage + Usage(more))


WORDS = st.sampled_from(["x", 0, "long text " * 8])
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
        "ask": st.sampled_from([None, yes, no, lambda request: Edit({"n": 1})]),
        "one_call": st.booleans(),
        "converge": st.booleans(),
        "context_tokens": st.none() | st.integers(40, 300),
        "parallel": st.sampled_from([None, run_in_parallel]),
    }
)
PLAN = {"mode": "plan", "one_call": True}
LOOK = ToolRequest("Look", {"n": "x"})
SEND = ToolRequest("Send", {"n": 0})


@settings(max_examples=300, deadline=None)
@example(
    (FunctionCalls, [LOOK, [SEND, LOOK, LOOK], LOOK]),
    {"steps": 3, "tool_calls": 2, "tokens": 400},
    PLAN,
)
@example(
    (FunctionCalls, ["well " * 20]), {"steps": 1, "tool_calls": 1, "tokens": 60}, PLAN
)
@given(TALK, BUDGET, OPTIONS)
def test_no_run_is_above_any_of_its_limits(talk, limits, options):
    """steps, tool calls, tokens, money, prompts: what is sent is what was counted"""
    (adapter, turns), budget = talk, Budget(**limits, prices=PRICES)
    script = Metered(turns, repeat_last=True)
    machine = guarded(script, TOOLS, budget=budget, adapter=adapter, **options)
    spent = machine.run("What is it?").spent
    assert spent.steps <= budget.steps
    assert spent.tool_calls <= budget.tool_calls
    assert spent.usage.input <= budget.input_tokens
    assert spent.usage.output <= budget.output_tokens
    assert spent.usage.input + spent.usage.output <= budget.tokens
    assert PRICES.cost(spent.usage) <= budget.money
    most = options.get("context_tokens") or float("inf")
    assert all(script.count(request.prompt) <= most for request in script.requests)
