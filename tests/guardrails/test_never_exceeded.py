"""No run spends more than it may, whatever its model does and its tools return."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from workbook.fsm.conversations import FunctionCalls, TextTurns
from workbook.guardrails.budget import Budget
from workbook.guardrails.machine import guarded
from workbook.models.base import ToolRequest
from workbook.models.script import Script
from workbook.tools.tool import Tool

SCHEMA = {"properties": {"n": {}}}
TOOLS = [
    Tool("Look", "Looks.", SCHEMA, lambda n=None: {"result": "It is so. " * 12}),
    Tool("Send", "Sends.", SCHEMA, lambda n=None: {"result": "sent"}, effect="write"),
]
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
        name: st.integers(1, 600)
        for name in ("input_tokens", "output_tokens", "tokens")
    },
)
OPTIONS = st.fixed_dictionaries(
    {
        "mode": st.sampled_from(["plan", "build"]),
        "one_call": st.booleans(),
        "converge": st.booleans(),
        "context_tokens": st.none() | st.integers(40, 300),
    }
)
PLAN = {"mode": "plan", "one_call": True, "converge": True, "context_tokens": None}
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
    """steps, tool calls, tokens: what is sent is what was counted before it"""
    (adapter, turns), budget = talk, Budget(**limits)
    script = Script(turns, repeat_last=True)
    machine = guarded(script, TOOLS, budget=budget, adapter=adapter, **options)
    spent = machine.run("What is it?").spent
    assert spent.steps <= budget.steps
    assert spent.tool_calls <= budget.tool_calls
    assert spent.usage.input <= budget.input_tokens
    assert spent.usage.output <= budget.output_tokens
    assert spent.usage.input + spent.usage.output <= budget.tokens
