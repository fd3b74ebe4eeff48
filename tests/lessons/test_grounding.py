"""Grounding: claims, what a document says of them, and the state VERIFY.

That no unsupported answer goes out whatever a model writes, test_trust_promises tries.
"""

import time

import pytest

from workbook.lessons.grounding import (
    MOST_READ,
    TRIES,
    Document,
    audit_answer,
    evidence_of,
    grounding,
    references,
    split_claims,
    what_differs,
)
from workbook.runtime.budget import Budget
from workbook.runtime.calls import Observation, ToolError
from workbook.runtime.guards import all_guards
from workbook.runtime.machine import Machine
from workbook.runtime.model import ToolRequest
from workbook.runtime.script import Script
from workbook.worlds.search import wiki_search

NO_CLAIMS = [
    "高いですか。", "是吗？", "我觉得很美。", "I don’t know who built it.",
    "Sure!", "```\nx = rows[1]. y\n```", "## 2. Height of Fuji", "I find it charming.",
    "The following is known:", "Did you know who built it?", "いつ生まれましたか。",
    "I'm sorry, but I do not know.", "I do not know who built it and when it opened.",
    "I cannot answer, because the search did not find anything.", "抱歉，我不知道。",
]  # fmt: skip
HIDDEN = [
    "I think it is 9,999 m high.", "Yes.", "The height: 3,776 m:", "## 东京塔位于大阪",
    "## The tower is 500 m high", "# Eiffel built it in Lyon", "It is, isn't it?",
    "Did you know that it is 500 m high?", "東京タワーは大阪にありますよね？",
    "In my opinion, it is in Lyon.", "I think that Bob built it, a beautiful tower.",
    "我认为东京塔位于大阪。", "詳しくは分かりませんが、大阪にあります。",
]  # fmt: skip
TURNS = [", and", " and", ",", ";", ":", " –", " (", " because"]
HIDDEN += [f"I cannot say who drew it{turn} the tower is in Lyon" for turn in TURNS]


@pytest.mark.parametrize("answer", NO_CLAIMS + HIDDEN)
def test_a_fact_is_a_claim_whatever_words_are_around_it(answer):
    """a heading, a question, an opinion, a hedge is one only if it states a fact"""
    assert split_claims(answer) == ([answer] if answer in HIDDEN else [])


FUJI = (
    "Mount Fuji is the highest mountain in Japan. It is 3,776 m high. Its last eruption"
    " began in 1707. Hokusai drew it. A road of 1,280 m leads there. Its path is old."
)
PAGE = Document("d1", "Mount Fuji", 0.8, FUJI)


@pytest.mark.parametrize(
    ("claim", "named"),
    [
        ("Mount Fuji is about 12,390 feet tall and its last eruption was in 1707", ""),
        ("In Japan no mountain is higher than Mount Fuji", ""),
        ("Mount Fuji is 3,776 km high", "not 3776 km"),
        ("The last eruption of Mount Fuji began in 1770", "not 1770"),
        ("Hiroshige drew Mount Fuji in Edo", "no Hiroshige"),
        ("Every hiker drew Mount Fuji", "no Every"),
        ("Mount Fuji is the lowest mountain in Japan", "“highest”, not “lowest”"),
        ("Mount Fuji is not the highest mountain in Japan", "says “not”"),
        ("Mount Fuji is a beloved place for hikers", "key words"),
        ("Its path is 1,280 m old", "not 1280 m"),  # said in the sentence before
        (f"Mount Fuji is {'very ' * 400}high", "characters"),
        ("It is so", "looked up"),
    ],
)
def test_what_differs_is_named(claim, named):
    """other words for a fact are supported; of another fact is named what is changed

    How many claims it decides rightly, tests/measures/test_grounding.py says.
    """
    found = what_differs(claim, [PAGE])
    assert (found == "") == (named == "")
    assert named in found


@pytest.mark.parametrize("text", ["Abc of the ", "did not adopt ", "and it is 3 m "])
def test_a_megabyte_is_audited_in_seconds(text):
    """a sentence made to be slow is refused at once: nobody could check it"""
    started = time.thread_time()
    [verdict] = audit_answer(text * (1_000_000 // len(text)) + "[d1].", [PAGE])
    assert verdict.kind == "not what it says"
    assert time.thread_time() - started < 30


def seen(*results):
    return Observation("c", True, {"results": list(results)}, None)


def row(doc_id, score, text):
    return {"doc_id": doc_id, "title": "T", "score": score, "text": text}


def test_the_evidence_is_what_the_searches_gave():
    """of a document found twice both texts count, once each, and its best score

    What is no document with an id and a score is passed over; NaN is a score of 0.
    """
    failed = Observation("c", False, None, ToolError("timeout", "late"))
    first = seen(row("a", 0.2, "One."), row("b", float("nan"), "B."), 7, {}, None)
    again = seen(row("a", 0.6, "Two."), row("a", 0.1, "One."), row(3, 1, "x"))
    a, b = evidence_of([first, failed, again, seen(row("c", "high", "x"))])
    assert a == Document("a", "T", 0.6, "One.\n\nTwo.")
    assert b == Document("b", "T", 0.0, "B.")
    [long] = evidence_of([seen(row("d", 1.0, "It is 3 m. " * 9_000))])
    assert len(long.text) == MOST_READ


def test_references_are_what_is_cited_and_was_found():
    """each cited document once, by id and title; an invented one is not listed

    Nor is a title with an address: it is a stranger's text.
    """
    found = [PAGE, Document("d3", "![x](//evil.example)", 1.0, "")]
    assert references("A [d3, d9]. B [d1]. C [d3].", found) == "[d3]\n[d1] Mount Fuji"


FALSE = "Mount Fuji is 3,767 m high [w068]."
CALL = [ToolRequest("WikiSearch", {"query": "height of Mount Fuji"}, "a")]


def play(*answers, budget=6, chat=True, **options):
    """Return how a run with one search ends, and its machine."""
    search = CALL if chat else "Action: WikiSearch\nAction Input: height of Fuji"
    script = Script([search, *answers], repeat_last=True)
    guards = [*grounding(), *all_guards(Budget(budget))]
    machine = Machine(script, [wiki_search()], guards, chat=chat, **options)
    return machine.run("How high is it?"), machine


def test_an_unsupported_answer_is_sent_back_and_given_up():
    """after two chances, or if the tools were withdrawn, the run has no answer

    With calls, the answer stands before the reasons. The scenarios' `ends.grounded` say
    how runs end otherwise; every way to DONE leads through VERIFY.
    """
    end, machine = play(FALSE)
    *_, answered, reasons = end.trace.prompt(end.trace.of("model_request")[2]["seq"])
    assert FALSE in answered["content"]
    assert "3767 m" in reasons["content"]
    seen = [e for e in end.trace.of("observation") if not e["ok"]]
    assert [e["error"]["kind"] for e in seen] == ["unsupported"] * TRIES
    assert (end.state, end.answer) == ("REFUSED", None)
    withdrawn, _ = play(FALSE, budget=2)
    assert (withdrawn.state, withdrawn.run.forced) == ("REFUSED", True)
    assert machine.table.audit() == []
    rules = machine.table.rules
    assert {row.source for row in rules if row.target == "DONE"} == {"VERIFY"}


def test_your_functions_are_parts():
    """your audit decides, and gets your other parts"""
    asked = []

    def lenient(answer, evidence, split, cite):
        asked.append((split(answer), cite(answer)))
        return []

    parts = {"audit_answer": lenient, "split_claims": str.split, "find_citations": list}
    end, _ = play("Final Answer: A b", chat=False, parts=parts)
    assert (end.state, asked) == ("DONE", [(["A", "b"], ["A", " ", "b"])])
