"""The grounded table: no answer goes out that its run's evidence does not carry.

That this holds whatever a model says, tests/playground/test_trust_promises.py tries.
"""

import pytest

from workbook.environments.search import wiki_search
from workbook.fsm import FunctionCalls
from workbook.grounding.grounded import GROUNDED, TRIES, grounded
from workbook.guardrails.budget import Budget
from workbook.models.base import ToolRequest
from workbook.models.script import Script
from workbook.traces.writer import TraceWriter

SEARCH = "Action: WikiSearch\nAction Input: height of Mount Fuji"
TRUE = "Mount Fuji is 3,776 m high [w068]."
FALSE = "Mount Fuji is 3,767 m high [w068]."
CALL = [ToolRequest("WikiSearch", {"query": "height of Mount Fuji"}, "a")]


def text_turns(turns):
    return [turn if "Action:" in turn else f"Final Answer: {turn}" for turn in turns]


def play(turns, adapter=None, budget=6, **options):
    """Return how a run with one search ends on the grounded table, and its trace."""
    script, told = Script(turns, repeat_last=True), TraceWriter()
    more = {"adapter": adapter, "hook": told, "budget": Budget(budget)}
    machine = grounded(script, [wiki_search()], **more, **options)
    return machine.run("How high is it?"), told.trace()


def test_every_way_to_done_leads_through_verify():
    """the grounded table keeps the four promises, and a fifth"""
    assert GROUNDED.audit() == []
    assert {row.source for row in GROUNDED.rules if row.target == "DONE"} == {"VERIFY"}


by_text = pytest.param(text_turns([SEARCH]), None, text_turns, id="text")
by_calls = pytest.param([CALL], FunctionCalls, list, id="calls")
both = pytest.mark.parametrize(("searches", "adapter", "said"), [by_text, by_calls])


@both
def test_a_supported_answer_goes_out_with_its_sources(searches, adapter, said):
    """the answer is the model's, and the list of references the runtime's"""
    end, _ = play([*searches, *said([TRUE])], adapter=adapter)
    assert (end.state, end.reason) == ("DONE", "supported")
    assert end.answer == f"{TRUE}\n\nReferences:\n[w068] Mount Fuji"


@both
def test_an_unsupported_answer_is_given_up(searches, adapter, said):
    """twice the model is told why; then the run ends without an answer"""
    end, trace = play([*searches, *said([FALSE])], adapter=adapter)
    assert (end.state, end.answer) == ("REFUSED", None)
    assert end.message
    told = [e for e in trace.of("observation") if e["call_id"] is None]
    assert [e["error"]["kind"] for e in told] == ["unsupported"] * TRIES
    assert all("3767 m" in e["text"] for e in told)


@both
def test_a_model_that_mends_its_answer_is_done(searches, adapter, said):
    """an answer that was sent back may be mended: the second one counts"""
    end, trace = play([*searches, *said([FALSE, TRUE])], adapter=adapter)
    assert end.state == "DONE"
    decisions = [e for e in trace.of("decision") if e["who"] == "audit"]
    assert [e["what"] for e in decisions] == ["unsupported", "supported"]
    assert decisions[0]["verdicts"][0]["doc_ids"] == ["w068"]


def test_a_model_of_function_calls_sees_what_it_had_answered():
    """the answer that is sent back stands before the reasons"""
    seen = []

    class Watched(Script):
        def chat(self, messages, **options):
            seen.append([message["content"] for message in messages])
            return super().chat(messages, **options)

    turns = Watched([FALSE, "I do not know."])
    asked = grounded(turns, [wiki_search()], adapter=FunctionCalls)
    assert asked.run("?").state == "DONE"
    assert FALSE in seen[1][-2]
    assert "unsupported" in seen[1][-1]


def test_the_last_turn_is_not_sent_back():
    """where the tools were withdrawn an unsupported answer ends the run at once"""
    end, _ = play(text_turns([SEARCH, FALSE]), budget=2)
    assert (end.state, end.forced) == ("REFUSED", True)


def test_your_audit_is_a_part():
    """another audit decides, and gets the other parts"""
    asked = []

    def lenient(answer, evidence, split, cite):
        asked.append((split(answer), cite(answer)))
        return []

    parts = {"audit_answer": lenient, "split_claims": str.split, "find_citations": list}
    end, _ = play(text_turns(["A b"]), parts=parts)
    assert (end.state, asked) == ("DONE", [(["A", "b"], ["A", " ", "b"])])
