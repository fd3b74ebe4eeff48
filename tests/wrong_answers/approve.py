"""Plausible wrong answers to `approve`, each with the test that must catch it."""

from dataclasses import replace

from workbook.runtime.permission import Approve, Edit, Reject, digest_of_call
from workbook.runtime.calls import ToolCall, ToolError

STALE = ToolError("stale_approval", "that is not what was approved")


def is_this(call, answer):
    return (answer.call_id, answer.digest) == (call.call_id, digest_of_call(call))


def edited(call, answer):
    note = f"{answer.who} changed the arguments"
    return replace(call, arguments=answer.arguments, notes=(*call.notes, note))


def right(call, answer, problems, *, approved=is_this, edited=edited):
    if isinstance(answer, Reject):
        return ToolError("denied", answer.why)
    if isinstance(answer, Approve):
        return call if approved(call, answer) else STALE
    if answer.call_id not in ("", call.call_id):
        return STALE
    found = problems(answer.arguments)
    return ToolError("invalid_arguments", "; ".join(found)) if found else edited(call, answer)


def compares_the_call_id_alone(call, answer, problems):
    return right(call, answer, problems, approved=lambda c, a: c.call_id == a.call_id)


def compares_the_digest_alone(call, answer, problems):
    return right(call, answer, problems, approved=lambda c, a: digest_of_call(c) == a.digest)


def compares_who_said_it_too(call, answer, problems):
    def approved(call, answer):
        return answer == Approve(call.call_id, digest_of_call(call))

    return right(call, answer, problems, approved=approved)


def trusts_a_persons_edit(call, answer, problems):
    return right(call, answer, lambda arguments: [])


def keeps_the_reason_to_itself(call, answer, problems):
    if isinstance(answer, Reject):
        return ToolError("denied", f"{call.name} was not approved")
    return right(call, answer, problems)


def edits_any_call(call, answer, problems):
    if isinstance(answer, Edit):
        answer = answer._replace(call_id="")
    return right(call, answer, problems)


def adds_the_edit_to_the_arguments(call, answer, problems):
    def added(call, answer):
        both = call.arguments | answer.arguments
        return replace(edited(call, answer), arguments=both)

    return right(call, answer, problems, edited=added)


def makes_a_new_call_of_an_edit(call, answer, problems):
    def edited(call, answer):
        return ToolCall(call.name, answer.arguments, call.call_id)

    return right(call, answer, problems, edited=edited)


WRONG = {
    compares_the_call_id_alone: "test_what_was_changed_has_no_approval",
    compares_the_digest_alone: "test_another_call_has_no_approval",
    compares_who_said_it_too: "test_an_approved_call_is_made_as_it_is",
    trusts_a_persons_edit: "test_edited_arguments_are_checked",
    keeps_the_reason_to_itself: "test_a_rejected_call_is_denied",
    edits_any_call: "test_an_edit_of_another_call_is_stale",
    adds_the_edit_to_the_arguments: "test_an_edited_call_has_the_new_arguments",
    makes_a_new_call_of_an_edit: "test_an_edit_is_noted_for_the_model",
}
