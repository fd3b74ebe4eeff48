"""Plausible wrong answers to `classify_error`, each with the test that must catch it."""

from workbook.traces.errors import KINDS
from workbook.traces.errors import classify_error as right


def kind_of(event):
    error = event.get("error") or {}
    return error if isinstance(error, str) else error.get("kind", "")


def looks_at_the_words(event):
    words = {"missing": "arguments", "timed out": "transient", "denied": "refused"}
    found = [words[word] for word in words if word in event.get("text", "").lower()]
    return found[0] if found else right(event)


def reads_the_kind_from_the_text(event):
    kind = event.get("text", "").partition("(")[2].partition(")")[0]
    return right({"error": kind, **event})


def looks_at_the_table_first(event):
    return KINDS.get(kind_of(event)) or right(event)


def takes_an_unknown_kind_for_the_tools_fault(event):
    found = right(event)
    return "tool" if found == "other" else found


def expects_an_error_in_each(event):
    category = right(event)
    return category if event["error"] else "other"


def knows_our_machines_alone(event):
    found, error = right(event), event.get("error", {"kind": "", "retryable": False})
    return "transient" if error["retryable"] else found


def takes_a_time_out_for_transient(event):
    return "transient" if kind_of(event) == "timeout" else right(event)


def classes_what_went_well(event):
    return right({**event, "ok": False})


WRONG = {
    looks_at_the_words: "test_words_do_not_count",
    reads_the_kind_from_the_text: "test_without_an_error_nobody_knows",
    looks_at_the_table_first: "test_what_is_retryable_is_transient",
    takes_an_unknown_kind_for_the_tools_fault: "test_a_kind_of_the_tools_own_is_other",
    expects_an_error_in_each: "test_without_an_error_nobody_knows",
    knows_our_machines_alone: "test_an_error_that_is_a_text_is_a_kind",
    takes_a_time_out_for_transient: "test_the_table_says_it",
    classes_what_went_well: "test_what_has_not_failed_is_refused",
}
