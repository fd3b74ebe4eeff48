"""The table of lessons 09 and 10: notes come to mind, an answer is held to evidence.

Nothing of the driver or of a machine changes: rows for any table, and two handlers.

    grounded(model, tools)            # on GUARDED, with all guards
    Machine(model, tools, GROUNDED, handlers=grounding())
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from workbook.fsm.adapters import CHAT_PREAMBLE, TEXT_PREAMBLE, FunctionCalls
from workbook.fsm.handlers import Handler
from workbook.fsm.run import Run
from workbook.fsm.table import CORE, State, Table, Transition, exits
from workbook.grounding.claims import find_citations, split_claims
from workbook.grounding.evidence import (
    THRESHOLD,
    Support,
    audit_answer,
    evidence_of,
    references,
    too_long,
)
from workbook.guardrails.machine import GuardedMachine, Parts, guarded
from workbook.guardrails.table import GUARDED, ONE_CALL, GuardEvent
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


def grounded_table(core: Table = CORE) -> Table:
    """Return such rows, with RECALL before them, and VERIFY on each way to DONE."""
    S, E = Ground, GroundEvent  # noqa: N806
    ways = [row for row in core.rules if row.target == S.DONE]
    safe = "the documents that were found do not support an answer"
    return core.with_rules(
        Transition(S.RECALL, E.NOTHING, core.start, "no note fits the question"),
        Transition(S.RECALL, E.RECALLED, S.OBSERVE, "something is remembered"),
        *(row._replace(target=S.VERIFY, why="is it true?") for row in ways),
        Transition(S.VERIFY, E.SUPPORTED, S.DONE, "the evidence says so"),
        Transition(
            S.VERIFY, E.UNSUPPORTED, S.OBSERVE, "tell the model what is not shown"
        ),
        Transition(S.VERIFY, E.UNANSWERABLE, S.REFUSED, safe),
        *exits(S.RECALL, S.VERIFY),
        start=S.RECALL,
        ends={S.REFUSED},
    )


GROUNDED = grounded_table()
"""The core's rows, RECALL before the first turn, VERIFY between the last and DONE."""


def grounded(
    model: TextModel | ChatModel,
    tools: Iterable[Tool],
    *,
    table: Table | None = None,
    one_call: bool = False,
    threshold: float = THRESHOLD,
    tries: int = TRIES,
    memory: Memory | None = None,
    parts: Parts | None = None,
    **options: Any,
) -> GuardedMachine:
    """Return a guarded machine that works on questions and gives supported answers.

    Args:
        table: other rows than GUARDED's.
        one_call: a turn may make one call; the others are refused in words.
        threshold: the least score of a document that counts.
        tries: how often the model is told what is not supported.
        memory: what fits the question is told as data, before the first turn.
        parts: functions in place of ours, by the exercise's name.
        options: what `guarded` takes.
    """
    parts = parts or {}
    work = grounding(threshold, tries, memory=memory, parts=parts)
    core = table or (ONE_CALL if one_call else GUARDED)
    options |= {"handlers": work, "parts": parts, "table": grounded_table(core)}
    machine = guarded(model, tools, **options)
    if machine.preamble is None:
        by_calls = options.get("adapter") is FunctionCalls
        in_text = hasattr(model, "complete") and not by_calls
        text = TEXT_PREAMBLE.format(tools=machine.tools.describe())
        before = text.rstrip() if in_text else CHAT_PREAMBLE
        machine.preamble = f"{before}\n{HOW_TO_CITE}\n\n"
    return machine


def grounding(
    threshold: float = THRESHOLD,
    tries: int = TRIES,
    *,
    memory: Memory | None = None,
    parts: Parts | None = None,
) -> Mapping[str, Handler]:
    """Return the handlers of the states that a grounded table adds.

    An answer whose claims are all supported gets its list of references and goes out;
    another one goes back with the reasons, `tries` times, and then not at all.
    """
    given = parts or {}
    audit = partial(
        given.get("audit_answer", audit_answer),
        split=given.get("split_claims", split_claims),
        cite=given.get("find_citations", find_citations),
    )

    def remember(run: Run) -> str:
        if not (notes := _recalled(run, memory)):
            return GroundEvent.NOTHING
        why = f"{len(notes)} of its notes fit the question"
        run.emit(
            "decision", who="memory", what=GroundEvent.RECALLED, why=why, notes=notes
        )
        told = [f"{note['kind']}: {note['text']}" for note in notes]
        run.notes["remembered"] = notes
        run.see(Observation("", True, {"remembered": told}, None))
        return GroundEvent.RECALLED

    def verify(run: Run) -> str:
        answer, evidence = run.answer or "", evidence_of(run.observed)
        verdicts = too_long(answer) or list(audit(answer, evidence, threshold))
        failed = [each for each in verdicts if each.kind != Support.SUPPORTED]
        why = "; ".join(f"{each.claim} ({each.kind}: {each.why})" for each in failed)
        what = GroundEvent.UNSUPPORTED if failed else GroundEvent.SUPPORTED
        told = why or f"{len(verdicts)} claims, {len(evidence)} documents"
        shown = [{**each._asdict(), "doc_ids": list(each.doc_ids)} for each in verdicts]
        run.emit("decision", who="audit", what=what, why=told, verdicts=shown)
        if not failed:
            if listed := references(answer, evidence):
                run.answer = f"{answer}\n\nReferences:\n{listed}"
            return what
        sent_back = run.notes.setdefault("sent_back", 0)
        if sent_back >= tries or run.forced:  # a forced turn was the last one
            return GroundEvent.UNANSWERABLE
        run.notes["sent_back"] = sent_back + 1
        run.see(Observation.failed("", ToolError("unsupported", why, hint=HOW_TO_CITE)))
        return what

    return {Ground.RECALL: remember, Ground.VERIFY: verify}


def _recalled(run: Run, memory: Memory | None) -> list[dict[str, Any]]:
    """Return the notes that fit the question: the record's, or the memory's of now."""
    if coming := run.coming():
        return list(coming["notes"]) if coming.get("who") == "memory" else []
    notes = memory.recall(run.question, RECALLED) if memory else []
    return [asdict(note) for note in notes]
