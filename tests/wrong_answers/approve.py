"""Plausible wrong answers to `approve`, each with the test that must catch it."""

from dataclasses import replace

from workbook.guardrails.approval import Approve, Edit, Reject, digest_of_call
from workbook.tools.calls import ToolCall, ToolError

STALE = ToolError("stale_approval", "that is not what was approved")


def edited(call, answer):
    note = f"{answer.who} changed the arguments"
    return replace(call, arguments=answer.arguments, notes=(*call.notes, note))


def takes_any_yes_for_this_call(call, answer, problems):
    match answer:
        case Approve():
            return call
        case Reject():
            return ToolError("denied", answer.why)
    found = problems(answer.arguments)
    return ToolError("invalid_arguments", "; ".join(found)) if found else edited(call, answer)


def compares_the_call_id_alone(call, answer, problems):
    if isinstance(answer, Reject):
        return ToolError("denied", answer.why)
    if answer.call_id not in ("", call.call_id):
        return STALE
    if isinstance(answer, Approve):
        return call
    found = problems(answer.arguments)
    return ToolError("invalid_arguments", "; ".join(found)) if found else edited(call, answer)


def compares_the_digest_alone(call, answer, problems):
    if isinstance(answer, Reject):
        return ToolError("denied", answer.why)
    if isinstance(answer, Approve):
        return call if answer.digest == digest_of_call(call) else STALE
    if answer.call_id not in ("", call.call_id):
        return STALE
    found = problems(answer.arguments)
    return ToolError("invalid_arguments", "; ".join(found)) if found else edited(call, answer)


def trusts_a_persons_edit(call, answer, problems):
    if isinstance(answer, Reject):
        return ToolError("denied", answer.why)
    if answer.call_id not in ("", call.call_id):
        return STALE
    if isinstance(answer, Approve):
        return call if answer.digest == digest_of_call(call) else STALE
    return edited(call, answer)


def checks_the_old_arguments(call, answer, problems):
    if isinstance(answer, Reject):
        return ToolError("denied", answer.why)
    if answer.call_id not in ("", call.call_id):
        return STALE
    if isinstance(answer, Approve):
        return call if answer.digest == digest_of_call(call) else STALE
    found = problems(call.arguments)
    return ToolError("invalid_arguments", "; ".join(found)) if found else edited(call, answer)


def keeps_the_reason_to_itself(call, answer, problems):
    if isinstance(answer, Reject):
        return ToolError("denied", f"{call.name} was not approved")
    if answer.call_id not in ("", call.call_id):
        return STALE
    if isinstance(answer, Approve):
        return call if answer.digest == digest_of_call(call) else STALE
    found = problems(answer.arguments)
    return ToolError("invalid_arguments", "; ".join(found)) if found else edited(call, answer)


def edits_any_call(call, answer, problems):
    if isinstance(answer, Reject):
        return ToolError("denied", answer.why)
    if isinstance(answer, Edit):
        found = problems(answer.arguments)
        if found:
            return ToolError("invalid_arguments", "; ".join(found))
        return edited(call, answer)
    same = (answer.call_id, answer.digest) == (call.call_id, digest_of_call(call))
    return call if same else STALE


def makes_a_new_call_of_an_edit(call, answer, problems):
    if isinstance(answer, Reject):
        return ToolError("denied", answer.why)
    if answer.call_id not in ("", call.call_id):
        return STALE
    if isinstance(answer, Approve):
        return call if answer.digest == digest_of_call(call) else STALE
    found = problems(answer.arguments)
    if found:
        return ToolError("invalid_arguments", "; ".join(found))
    return ToolCall(call.name, answer.arguments, call.call_id)


WRONG = {
    takes_any_yes_for_this_call: "test_other_arguments_have_no_approval",
    compares_the_call_id_alone: "test_another_tool_has_no_approval",
    compares_the_digest_alone: "test_another_call_has_no_approval",
    trusts_a_persons_edit: "test_edited_arguments_are_checked",
    checks_the_old_arguments: "test_edited_arguments_are_checked",
    keeps_the_reason_to_itself: "test_a_rejected_call_is_denied",
    edits_any_call: "test_an_edit_of_another_call_is_stale",
    makes_a_new_call_of_an_edit: "test_an_edit_is_noted_for_the_model",
}
