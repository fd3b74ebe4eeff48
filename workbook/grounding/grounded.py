"""Lesson 09 as guards: notes are recalled before a run, and its answer is audited.

Two guards; nothing of the driver or of the machine changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from workbook.grounding.claims import find_citations, split_claims
from workbook.grounding.evidence import (
    Support,
    audit_answer,
    evidence_of,
    references,
)
from workbook.runtime.calls import Observation, ToolError
from workbook.runtime.guard import Guard
from workbook.runtime.messages import CHAT_PREAMBLE, TEXT_PREAMBLE
from workbook.runtime.run import Run
from workbook.runtime.table import State, Transition, exits
from workbook.runtime.tools import Tool, ToolRegistry

if TYPE_CHECKING:
    from workbook.grounding.memory import Memory

VERIFY, REFUSED = "VERIFY", "REFUSED"
RECALLED, UNSUPPORTED = "recalled", "unsupported"
TRIES = 2  # how often an answer goes back to the model
NOTES = 3  # the most that a question brings back

HOW_TO_CITE = (
    "Behind each sentence that states a fact write the doc_id of the document that "
    "says so, like this: [doc_3]. Cite only documents that a search has given you, and "
    "state only what they say. Where they do not say it, say that you do not know."
)
"""What the model must know: before its question, and where it did not do so."""


def citing_preamble(tools: Iterable[Tool], chat: bool = False) -> str:
    """Return the usual text before the question, and how to cite."""
    if chat:
        return f"{CHAT_PREAMBLE}\n{HOW_TO_CITE}\n\n"
    registry = tools if isinstance(tools, ToolRegistry) else ToolRegistry(tools)
    usual = TEXT_PREAMBLE.format(tools=registry.describe()).rstrip()
    return f"{usual}\n{HOW_TO_CITE}\n\n"


def grounding(memory: Memory | None = None) -> list[Guard]:
    """Return two guards: notes that fit the question are recalled, answers audited.

    An answer whose claims are all supported goes out with its list of references;
    another one goes back with the reasons, twice, and then the run ends in REFUSED.
    In a machine's list they come before `taint` and `budget`.
    """
    recalled = Transition(
        State.THINK, RECALLED, State.OBSERVE, "it remembers something"
    )
    why_refused = "the documents that were found do not support an answer"
    rows = [
        Transition(State.THINK, "final_answer", VERIFY, "is it true?"),
        Transition(VERIFY, "supported", State.DONE, "the evidence says so"),
        Transition(VERIFY, UNSUPPORTED, State.OBSERVE, "tell it what is not shown"),
        Transition(VERIFY, "unanswerable", REFUSED, why_refused),
        *exits(VERIFY),
    ]
    return [
        Guard("memory", {State.THINK: partial(_recall, memory=memory)}, [recalled]),
        Guard("grounding", {}, rows, {VERIFY: _verify}, {"tries": TRIES}, [REFUSED]),
    ]


def _recall(run: Run, memory: Memory | None) -> str | None:
    """Let the model read, before its first turn, the notes that fit the question."""
    if memory is None or "remembered" in run.notes:
        return None

    def live() -> dict[str, Any]:
        notes = [asdict(note) for note in memory.recall(run.question, NOTES)]
        why = f"{len(notes)} of its notes fit the question"
        return {"who": "memory", "what": RECALLED, "why": why, "notes": notes}

    notes = run.journal.receive("decision", live)["notes"]
    run.notes["remembered"] = notes
    if not notes:
        return None
    texts = [f"{note['kind']}: {note['text']}" for note in notes]
    run.see(Observation("", True, {"remembered": texts}, None))
    return RECALLED


def _verify(run: Run) -> str:
    """Audit the answer: it goes out, or back to the model, or is given up."""
    answer, evidence = run.answer or "", evidence_of(run.observed)
    functions = {"split": run.part(split_claims), "cite": run.part(find_citations)}
    verdicts = list(run.part(audit_answer)(answer, evidence, **functions))
    failed = [each for each in verdicts if each.kind != Support.SUPPORTED]
    reasons = "; ".join(f"{each.claim} ({each.kind}: {each.why})" for each in failed)
    what = UNSUPPORTED if failed else "supported"
    why = reasons or f"{len(verdicts)} claims, {len(evidence)} documents"
    shown = [{**each._asdict(), "doc_ids": list(each.doc_ids)} for each in verdicts]
    run.journal.emit("decision", who="audit", what=what, why=why, verdicts=shown)
    if not failed:
        if listed := references(answer, evidence):
            run.answer = f"{answer}\n\nReferences:\n{listed}"
        return what
    sent_back = run.notes.setdefault("sent_back", 0)
    if sent_back >= run.settings["grounding"]["tries"] or run.forced:
        return "unanswerable"
    run.notes["sent_back"] = sent_back + 1
    run.see(Observation.failed("", ToolError(UNSUPPORTED, reasons, hint=HOW_TO_CITE)))
    return what
