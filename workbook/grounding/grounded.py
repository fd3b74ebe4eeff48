"""The table of lessons 09 and 10: notes come to mind, an answer is held to evidence.

Nothing of the driver or of a machine changes: rows on top of GUARDED's, two handlers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from workbook.fsm.adapters import CHAT_PREAMBLE, TEXT_PREAMBLE, FunctionCalls
from workbook.fsm.handlers import Handler
from workbook.fsm.run import Run
from workbook.fsm.table import State, Transition, exits
from workbook.grounding.claims import find_citations, split_claims
from workbook.grounding.evidence import (
    Support,
    audit_answer,
    evidence_of,
    references,
)
from workbook.guardrails.machine import GuardedMachine, Parts, guarded
from workbook.guardrails.table import GUARDED, GuardEvent
from workbook.models.base import ChatModel, TextModel
from workbook.tools.calls import Observation, ToolError
from workbook.tools.tool import Tool

if TYPE_CHECKING:
    from workbook.grounding.memory import Memory

TRIES = 2  # how often the model is told what is not supported
RECALLED = 3  # notes, the most that a question brings back

HOW_TO_CITE = (
    "Behind each sentence that states a fact write the doc_id of the document that "
    "says so, like this: [doc_3]. Cite only documents that a search has given you, and "
    "state only what they say. Where they do not say it, say that you do not know."
)
"""What the model must be told: before its question, and where it did not do so."""


class Ground(State):
    """The states that `GROUNDED` adds."""

    RECALL = "RECALL"
    VERIFY = "VERIFY"
    REFUSED = "REFUSED"


class GroundEvent(GuardEvent):
    """The events that `GROUNDED` adds."""

    NOTHING = "nothing_recalled"
    RECALLED = "recalled"
    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    UNANSWERABLE = "unanswerable"


S, E = Ground, GroundEvent
WHY_REFUSED = "the documents that were found do not support an answer"
DONE = [row for row in GUARDED.rules if row.target == S.DONE]
GROUNDED = GUARDED.with_rules(
    Transition(S.RECALL, E.NOTHING, GUARDED.start, "no note fits the question"),
    Transition(S.RECALL, E.RECALLED, S.OBSERVE, "something is remembered"),
    *(row._replace(target=S.VERIFY, why="is it true?") for row in DONE),
    Transition(S.VERIFY, E.SUPPORTED, S.DONE, "the evidence says so"),
    Transition(S.VERIFY, E.UNSUPPORTED, S.OBSERVE, "tell the model what is not shown"),
    Transition(S.VERIFY, E.UNANSWERABLE, S.REFUSED, WHY_REFUSED),
    *exits(S.RECALL, S.VERIFY),
    start=S.RECALL,
    ends={S.REFUSED},
)
"""GUARDED's rows, RECALL before the first turn, VERIFY between the last and DONE."""


def grounded(
    model: TextModel | ChatModel,
    tools: Iterable[Tool],
    *,
    memory: Memory | None = None,
    parts: Parts | None = None,
    **options: Any,
) -> GuardedMachine:
    """Return a guarded machine that works on questions and gives supported answers.

    An answer whose claims are all supported gets its list of references and goes out;
    another one goes back with the reasons, twice, and then not at all.

    Args:
        memory: what fits the question is told as data, before the first turn.
        parts: functions in place of ours, by the exercise's name.
        options: what `guarded` takes.
    """
    parts = parts or {}
    audit = partial(
        parts.get("audit_answer", audit_answer),
        split=parts.get("split_claims", split_claims),
        cite=parts.get("find_citations", find_citations),
    )
    work: Mapping[str, Handler] = {
        Ground.RECALL: partial(_recall, memory=memory),
        Ground.VERIFY: partial(_verify, audit=audit),
    }
    options |= {"handlers": work, "parts": parts, "table": GROUNDED}
    machine = guarded(model, tools, **options)
    if machine.preamble is None:
        by_calls = options.get("adapter") is FunctionCalls
        in_text = hasattr(model, "complete") and not by_calls
        text = TEXT_PREAMBLE.format(tools=machine.tools.describe())
        before = text.rstrip() if in_text else CHAT_PREAMBLE
        machine.preamble = f"{before}\n{HOW_TO_CITE}\n\n"
    return machine


def _recall(run: Run, memory: Memory | None) -> str:
    """Tell the model the notes that fit the question: a record's, or those of now."""
    if coming := run.coming():
        notes = list(coming["notes"]) if coming.get("who") == "memory" else []
    else:
        found = memory.recall(run.question, RECALLED) if memory else []
        notes = [asdict(note) for note in found]
    if not notes:
        return E.NOTHING
    why = f"{len(notes)} of its notes fit the question"
    run.emit("decision", who="memory", what=E.RECALLED, why=why, notes=notes)
    told = [f"{note['kind']}: {note['text']}" for note in notes]
    run.notes["remembered"] = notes
    run.see(Observation("", True, {"remembered": told}, None))
    return E.RECALLED


def _verify(run: Run, audit: Callable[..., Any]) -> str:
    """Audit the answer: it goes out, or back to the model, or is given up."""
    answer, evidence = run.answer or "", evidence_of(run.observed)
    verdicts = list(audit(answer, evidence))
    failed = [each for each in verdicts if each.kind != Support.SUPPORTED]
    why = "; ".join(f"{each.claim} ({each.kind}: {each.why})" for each in failed)
    what = E.UNSUPPORTED if failed else E.SUPPORTED
    told = why or f"{len(verdicts)} claims, {len(evidence)} documents"
    shown = [{**each._asdict(), "doc_ids": list(each.doc_ids)} for each in verdicts]
    run.emit("decision", who="audit", what=what, why=told, verdicts=shown)
    if not failed:
        if listed := references(answer, evidence):
            run.answer = f"{answer}\n\nReferences:\n{listed}"
        return what
    sent_back = run.notes.setdefault("sent_back", 0)
    if sent_back >= TRIES or run.forced:  # a forced turn was the last one
        return E.UNANSWERABLE
    run.notes["sent_back"] = sent_back + 1
    run.see(Observation.failed("", ToolError("unsupported", why, hint=HOW_TO_CITE)))
    return what
