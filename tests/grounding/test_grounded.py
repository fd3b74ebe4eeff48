"""Grounding: no answer goes out that its run's evidence does not carry.

That this holds whatever a model says, tests/stage/test_trust_promises.py tries.
"""

import pytest

from workbook.environments.search import wiki_search
from workbook.grounding.grounded import TRIES, grounding
from workbook.runtime.budget import Budget
from workbook.runtime.guards import all_guards
from workbook.runtime.machine import Machine
from workbook.runtime.model import ToolRequest
from workbook.runtime.script import Script

SEARCH = "Action: WikiSearch\nAction Input: height of Mount Fuji"
TRUE = "Mount Fuji is 3,776 m high [w068]."
FALSE = "Mount Fuji is 3,767 m high [w068]."
CALL = [ToolRequest("WikiSearch", {"query": "height of Mount Fuji"}, "a")]


def text_turns(turns):
    return [turn if "Action:" in turn else f"Final Answer: {turn}" for turn in turns]


def machine_of(turns, budget=6, **options):
    guards = [*grounding(), *all_guards(Budget(budget))]
    return Machine(Script(turns, repeat_last=True), [wiki_search()], guards, **options)


def play(turns, **options):
    """Return how a run with one search ends under grounding."""
    return machine_of(turns, **options).run("How high is it?")


def test_every_way_to_done_leads_through_verify():
    """with grounding the table keeps its promises, and one more"""
    table = machine_of(["?"]).table
    assert table.audit() == []
    assert {row.source for row in table.rules if row.target == "DONE"} == {"VERIFY"}


by_text = pytest.param(text_turns([SEARCH]), False, text_turns, id="text")
by_calls = pytest.param([CALL], True, list, id="calls")
both = pytest.mark.parametrize(("searches", "chat", "said"), [by_text, by_calls])


@both
def test_a_supported_answer_goes_out_with_its_sources(searches, chat, said):
    """the answer is the model's, and the list of references the runtime's"""
    end = play([*searches, *said([TRUE])], chat=chat)
    assert (end.state, end.reason) == ("DONE", "supported")
    assert end.answer == f"{TRUE}\n\nReferences:\n[w068] Mount Fuji"


@both
def test_an_unsupported_answer_is_given_up(searches, chat, said):
    """twice the model is told why; then the run ends without an answer"""
    end = play([*searches, *said([FALSE])], chat=chat)
    assert (end.state, end.answer) == ("REFUSED", None)
    assert end.message
    told = [e for e in end.trace.of("observation") if e["call_id"] is None]
    assert [e["error"]["kind"] for e in told] == ["unsupported"] * TRIES
    assert all("3767 m" in e["text"] for e in told)


@both
def test_a_model_that_mends_its_answer_is_done(searches, chat, said):
    """an answer that was sent back may be mended: the second one counts"""
    end = play([*searches, *said([FALSE, TRUE])], chat=chat)
    assert end.state == "DONE"
    decisions = [e for e in end.trace.of("decision") if e["who"] == "audit"]
    assert [e["what"] for e in decisions] == ["unsupported", "supported"]
    assert decisions[0]["verdicts"][0]["doc_ids"] == ["w068"]


def test_a_model_of_function_calls_sees_what_it_had_answered():
    """the answer that is sent back stands before the reasons"""
    end = play([FALSE, "I do not know."], chat=True)
    assert end.state == "DONE"
    request = end.trace.of("model_request")[1]
    *_, answered, reasons = end.trace.prompt(request["seq"])
    assert FALSE in answered["content"]
    assert "unsupported" in reasons["content"]


def test_the_last_turn_is_not_sent_back():
    """where the tools were withdrawn an unsupported answer ends the run at once"""
    end = play(text_turns([SEARCH, FALSE]), budget=2)
    assert (end.state, end.run.forced) == ("REFUSED", True)


def test_your_audit_is_a_part():
    """another audit decides, and gets the other parts"""
    asked = []

    def lenient(answer, evidence, split, cite):
        asked.append((split(answer), cite(answer)))
        return []

    parts = {"audit_answer": lenient, "split_claims": str.split, "find_citations": list}
    end = play(text_turns(["A b"]), parts=parts)
    assert (end.state, asked) == ("DONE", [(["A", "b"], ["A", " ", "b"])])
