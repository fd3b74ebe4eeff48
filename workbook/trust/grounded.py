"""The table of lessons 09 and 10: an answer is held against the evidence of its run.

Nothing of the driver or of a machine changes: rows for any table, and one handler.

    guarded(model, tools, table=grounded_table(GUARDED), handlers=grounding())
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from workbook.fsm.handlers import Handler
from workbook.fsm.run import Run
from workbook.fsm.table import CORE, Rule, State, Table, exits
from workbook.guardrails.table import Said
from workbook.tools.calls import Observation, ToolError
from workbook.trust.evidence import (
    THRESHOLD,
    Document,
    Support,
    Verdict,
    audit_answer,
    evidence_of,
    references,
)

TRIES = 2  # how often the model is told what is not supported

HOW_TO_CITE = (
    "Behind each sentence that states a fact write the doc_id of the document that "
    "says so, like this: [doc_3]. Cite only documents that a search has given you, and "
    "state only what they say. Where they do not say it, say that you do not know."
)
"""What the model must be told: before its question, and where it did not do so."""


class Ground(State):
    """The states that `GROUNDED` adds."""

    VERIFY = "VERIFY"
    UNANSWERABLE = "UNANSWERABLE"


class Checked(Said):
    """The events that `GROUNDED` adds."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    GIVEN_UP = "given_up"


def grounded_table(core: Table = CORE) -> Table:
    """Return a table's rows, with VERIFY on every way to DONE."""
    S, E = Ground, Checked  # noqa: N806
    ways = [row for row in core.rules if row.target == S.DONE]
    safe = "The documents that were found do not support an answer."
    return core.with_rules(
        *(row._replace(target=S.VERIFY, why="is it true?") for row in ways),
        Rule(S.VERIFY, E.SUPPORTED, S.DONE, "the evidence says so"),
        Rule(S.VERIFY, E.UNSUPPORTED, S.OBSERVE, "tell the model what is not shown"),
        Rule(S.VERIFY, E.GIVEN_UP, S.UNANSWERABLE, safe),
        *exits(S.VERIFY),
        ends={S.UNANSWERABLE},
    )


GROUNDED = grounded_table()
"""The core's rows, and VERIFY between the last turn and DONE."""

Audit = Callable[[str, Iterable[Document], float], Iterable[Verdict]]


def grounding(
    audit: Audit = audit_answer, threshold: float = THRESHOLD, tries: int = TRIES
) -> Mapping[str, Handler]:
    """Return the handlers of the states that a grounded table adds.

    An answer whose claims are all supported gets its list of references and goes out;
    another one goes back with the reasons, `tries` times, and then not at all.
    """

    def verify(run: Run) -> str:
        answer, evidence = run.answer or "", evidence_of(run.observed)
        verdicts = list(audit(answer, evidence, threshold))
        failed = [each for each in verdicts if each.kind != Support.SUPPORTED]
        why = "; ".join(f"{each.claim} ({each.kind}: {each.why})" for each in failed)
        what = Checked.UNSUPPORTED if failed else Checked.SUPPORTED
        told = why or f"{len(verdicts)} claims, {len(evidence)} documents"
        shown = [{**each._asdict(), "doc_ids": list(each.doc_ids)} for each in verdicts]
        run.emit("decision", who="audit", what=what, why=told, verdicts=shown)
        if not failed:
            if listed := references(answer, evidence):
                run.answer = f"{answer}\n\nReferences:\n{listed}"
            return what
        sent_back = run.notes.setdefault("sent_back", 0)
        if sent_back >= tries or run.forced:  # a forced turn was the last one
            return Checked.GIVEN_UP
        run.notes["sent_back"] = sent_back + 1
        run.see(Observation.failed("", ToolError("unsupported", why, hint=HOW_TO_CITE)))
        return what

    return {Ground.VERIFY: verify}
