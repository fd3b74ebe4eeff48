"""What an approval is worth: this call, with these arguments, and no other."""

from functools import partial

import pytest

from tests.doubles import Like, named
from workbook.runtime.arguments import validate_arguments
from workbook.runtime.calls import ToolCall, ToolError
from workbook.runtime.permission import STALE, Approve, Edit, Reject, digest_of_call
from workbook.runtime.permission import approve as packaged_approve
from workbook.runtime.tools import Tool

TEXT = {"type": "string"}
AMOUNTS = {"payee": TEXT, "amount": {"type": "number"}, "currency": TEXT}
SCHEMA = {"properties": AMOUNTS, "required": ["payee", "amount"]}
PAY = Tool("Pay", "Pays an amount.", SCHEMA, dict, "write")
PROBLEMS = named("problems", partial(validate_arguments, PAY.parameters))
CALL = ToolCall("Pay", {"payee": "Ada", "amount": 25}, "call_7")
YES = Approve("call_7", digest_of_call(CALL), who="Eve")


def refused(kind, *words):
    """Return what is equal to a ToolError of this kind whose text has all the words."""

    def fits(other):
        is_one = isinstance(other, ToolError) and other.kind == kind
        return is_one and all(word in other.text() for word in words)

    said = f" that says {' and '.join(words)}" if words else ""
    return Like(f"a ToolError of kind {kind}{said}", fits)


TURNED = ToolCall("Pay", {"amount": 25, "payee": "Ada"}, "call_7")


@pytest.mark.parametrize("call", [CALL, TURNED], ids=["as it was", "in another order"])
def test_an_approved_call_is_made_as_it_is(approve, call):
    """Approve with this call_id and digest, from anybody, returns the call as it is"""
    assert approve(call, YES, PROBLEMS) == call


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Pay", {"payee": "Ada", "amount": 26}),
        ("Pay", {"payee": "Bob", "amount": 25}),
        ("Pay", {"payee": "Ada", "amount": 25, "currency": "USD"}),
        ("Pay", {"payee": "Ada"}),
        ("Refund", CALL.arguments),
    ],
)
def test_what_was_changed_has_no_approval(approve, tool, arguments):
    """a ToolError of kind `stale_approval` if the tool or its arguments have changed"""
    changed = ToolCall(tool, arguments, "call_7")
    assert approve(changed, YES, PROBLEMS) == refused(STALE)


def test_another_call_has_no_approval(approve):
    """an Approve with another call_id, or "", is stale too: it is another payment"""
    second = ToolCall("Pay", CALL.arguments, "call_8")
    assert approve(second, YES, PROBLEMS) == refused(STALE)
    assert approve(CALL, YES._replace(call_id=""), PROBLEMS) == refused(STALE)


def test_an_edited_call_has_the_new_arguments(approve):
    """Edit returns the call, under its call_id, with only the edit's arguments"""
    new = {"payee": "Ada", "amount": 20}
    call = ToolCall("Pay", {**CALL.arguments, "currency": "USD"}, "call_7")
    made = approve(call, Edit(new), PROBLEMS)
    assert made == ToolCall("Pay", new, "call_7", getattr(made, "notes", ()))


def test_an_edit_is_noted_for_the_model(approve):
    """the edited call keeps its notes; one more tells the model who changed it"""
    call = ToolCall("Pay", CALL.arguments, "call_7", ("to is called payee",))
    new = {"payee": "Ada", "amount": 20}
    notes = getattr(approve(call, Edit(new, who="Eve"), PROBLEMS), "notes", ())
    assert notes[:-1] == ("to is called payee",), f"its notes are {notes}"
    assert "Eve" in notes[-1], f"Eve changed it; its notes are {notes}"


@pytest.mark.parametrize(
    "arguments", [{"payee": "Ada", "amount": "20"}, {"payee": "Ada"}]
)
def test_edited_arguments_are_checked(approve, arguments):
    """if `problems` finds any, Edit is a ToolError `invalid_arguments` with them"""
    (problem,) = PROBLEMS(arguments)
    wrong = refused("invalid_arguments", problem)
    assert approve(CALL, Edit(arguments), PROBLEMS) == wrong


def test_an_edit_of_another_call_is_stale(approve):
    """an Edit with another call_id is stale; with "" it is for this call"""
    new = {"payee": "Ada", "amount": 20}
    assert approve(CALL, Edit(new, "call_6"), PROBLEMS) == refused(STALE)
    made = approve(CALL, Edit(new, "call_7"), PROBLEMS)
    assert made == ToolCall("Pay", new, "call_7", getattr(made, "notes", ()))


def test_a_rejected_call_is_denied(approve):
    """Reject is a ToolError of kind `denied` that says why"""
    answer = Reject("the invoice is not ours", who="Eve")
    denied = refused("denied", "the invoice is not ours")
    assert approve(CALL, answer, PROBLEMS) == denied


@pytest.mark.parametrize("other", [1.0, True, "1", [1]])
def test_an_approval_is_of_the_arguments_as_json(other):
    """1, 1.0, true and "1" are four different arguments, though Python says 1 == 1.0"""
    shown, asked = (ToolCall("Pay", {"n": n}, "c") for n in (1, other))
    answer = Approve("c", digest_of_call(shown))
    assert packaged_approve(asked, answer, PROBLEMS) == refused(STALE)
