"""Effects that were had twice: from kinds of events alone."""

import pytest

from workbook.evaluation.diagnosis import effects_doubled
from workbook.runtime.ledger import DONE_BEFORE
from workbook.stage.engines import play


def paid(amount=40, reference="R-17", tool="Pay", call_id="c1", **seen):
    """Return a payment, and what came of it; `seen=None` leaves the end open."""
    arguments = {"payee": "Ada", "amount": amount, "reference": reference}
    about = {"trace_id": "t", "call_id": call_id, "tool": tool}
    call = {"kind": "tool_call", "arguments": arguments, **about}
    return [call, {"kind": "observation", "ok": True, "text": "", **about, **seen}]


def failed(kind):
    return {"ok": False, "error": {"kind": kind, "message": "", "retryable": False}}


@pytest.mark.parametrize(
    ("events", "doubled"),
    [
        ([], 0),
        (paid() + paid(), 1),
        (paid() + paid(40.0) + paid(call_id="c2"), 2),
        (paid() + paid(reference="R-18"), 0),
        (paid() + paid(notes=[DONE_BEFORE]), 0),
        (paid() + paid(**failed("denied")), 0),
        (paid() + paid(**failed("needs_person")), 0),
        (paid() + paid(**failed("timeout")), 1),
        (paid() + paid()[:1], 1),
        (paid()[:1] + paid(), 1),
        (paid(tool="WikiSearch") * 3, 0),
        (paid(tool="Nobody knows") * 3, 0),
    ],
)
def test_an_effect_is_doubled_where_it_may_have_been_had_again(events, doubled):
    """The same operation twice counts; a refused call and the ledger's do not."""
    assert effects_doubled(events) == doubled


def test_effects_are_counted_over_several_runs():
    """Two runs that pay the same invoice have doubled it."""
    other = [event | {"trace_id": "u"} for event in paid()]
    assert effects_doubled([*paid(), *other]) == 1


@pytest.mark.parametrize(
    ("engine", "doubled"), [("naive", 2), ("langchain", 2), ("fsm", 2), ("guarded", 0)]
)
def test_traces_of_all_engines_are_read(engine, doubled):
    """A payment worded differently is the same one, whoever wrote the trace."""
    trace = play("payment_other_call_id", engine)
    assert effects_doubled(trace) == doubled
