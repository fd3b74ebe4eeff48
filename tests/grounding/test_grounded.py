"""The grounded table: no answer goes out that its run's evidence does not carry.

That this holds whatever a model says, tests/playground/test_trust_promises.py tries.
"""

import pytest

from workbook.environments.search import wiki_search
from workbook.fsm import CORE, FunctionCalls, Limits, Machine
from workbook.grounding.grounded import GROUNDED, TRIES, grounded_table, grounding
from workbook.guardrails.budget import Budget
from workbook.guardrails.machine import guarded
from workbook.guardrails.table import GUARDED
from workbook.models.base import ToolRequest
from workbook.models.script import Script
from workbook.playground import play as play_scenario
from workbook.tools.registry import ToolRegistry
from workbook.traces.writer import TraceWriter

SEARCH = "Action: WikiSearch\nAction Input: height of Mount Fuji"
TRUE = "Mount Fuji is 3,776 m high [w068]."
FALSE = "Mount Fuji is 3,767 m high [w068]."
CALL = [ToolRequest("WikiSearch", {"query": "height of Mount Fuji"}, "a")]


def text_turns(turns):
    return [turn if "Action:" in turn else f"Final Answer: {turn}" for turn in turns]


def play(turns, adapter=None, kind="core", budget=6, **options):
    """Return how a run with one search ends on a grounded table, and its trace."""
    script, told = Script(turns, repeat_last=True), TraceWriter()
    more = {"adapter": adapter, "handlers": grounding(**options), "hook": told}
    if kind == "core":
        tools, limits = ToolRegistry([wiki_search()]), Limits(steps=budget)
        machine = Machine(script, tools, GROUNDED, limits=limits, **more)
    else:
        more |= {"table": grounded_table(GUARDED), "budget": Budget(budget)}
        machine = guarded(script, [wiki_search()], **more)
    return machine.run("How high is it?"), told.trace()


@pytest.mark.parametrize("core", [CORE, GUARDED])
def test_every_way_to_done_leads_through_verify(core):
    """with any core the grounded table keeps the four promises, and a fifth"""
    table = grounded_table(core)
    assert table.audit() == []
    assert {row.source for row in table.rules if row.target == "DONE"} == {"VERIFY"}


def test_a_table_without_the_handler_is_refused():
    """who forgets the handler is told before the run"""
    with pytest.raises(ValueError, match="VERIFY"):
        Machine(Script([]), ToolRegistry([]), GROUNDED)


by_text = pytest.param(text_turns([SEARCH]), None, text_turns, id="text")
by_calls = pytest.param([CALL], FunctionCalls, list, id="calls")
both = pytest.mark.parametrize(("searches", "adapter", "said"), [by_text, by_calls])
kinds = pytest.mark.parametrize("kind", ["core", "guarded"])


@both
@kinds
def test_a_supported_answer_goes_out_with_its_sources(searches, adapter, said, kind):
    """the answer is the model's, and the list of references the runtime's"""
    end, _ = play([*searches, *said([TRUE])], adapter=adapter, kind=kind)
    assert (end.state, end.reason) == ("DONE", "supported")
    assert end.answer == f"{TRUE}\n\nReferences:\n[w068] Mount Fuji"


@both
@kinds
def test_an_unsupported_answer_is_given_up(searches, adapter, said, kind):
    """twice the model is told why; then the run ends without an answer"""
    end, trace = play([*searches, *said([FALSE])], adapter=adapter, kind=kind)
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

    tools = ToolRegistry([wiki_search()])
    asked = Machine(
        Watched([FALSE, "I do not know."]), tools, GROUNDED, handlers=grounding(),
        adapter=FunctionCalls,
    )  # fmt: skip
    assert asked.run("?").state == "DONE"
    assert FALSE in seen[1][-2]
    assert "unsupported" in seen[1][-1]


def test_the_last_turn_is_not_sent_back():
    """where the tools were withdrawn an unsupported answer ends the run at once"""
    end, _ = play(text_turns([SEARCH, FALSE]), kind="guarded", budget=2)
    assert (end.state, end.forced) == ("REFUSED", True)


def test_your_audit_is_a_part():
    """another audit decides, and gets the threshold and the other parts"""
    asked = []

    def lenient(answer, evidence, threshold, split, cite):
        asked.append((threshold, split(answer), cite(answer)))
        return []

    parts = {"audit_answer": lenient, "split_claims": str.split, "find_citations": list}
    end, _ = play(text_turns(["A b"]), parts=parts, threshold=0.9)
    assert (end.state, asked) == ("DONE", [(0.9, ["A", "b"], ["A", " ", "b"])])


@pytest.mark.parametrize(("threshold", "kind"), [(0.1, "supported"), (0.9, "weak")])
def test_the_threshold_that_is_given_is_the_one_that_runs(threshold, kind):
    """a scenario's run audits with the reader's threshold"""
    trace = play_scenario("good_sources", "grounded", threshold=threshold)
    audits = [e for e in trace.of("decision") if e["who"] == "audit"]
    assert {each["kind"] for each in audits[0]["verdicts"]} == {kind}
    assert (trace.end["state"] == "DONE") == (kind == "supported")
