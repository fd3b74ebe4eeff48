"""Plausible wrong answers to `classify_error`, each with the test that must catch it."""

from workbook.lessons.traces_and_replay import KINDS
from workbook.lessons.traces_and_replay import classify_error as right


def kind_of(event):
    error = event.get("error") or {}
    return error if isinstance(error, str) else error.get("kind", "")


def looks_at_the_words(event):
    words = {"missing": "arguments", "timed out": "transient", "denied": "refused"}
    error = event.get("error")
    message = error["message"].lower() if isinstance(error, dict) else ""
    found = [words[word] for word in words if word in message]
    return found[0] if found else right(event)


def reads_the_kind_from_the_text(event):
    kind = event.get("text", "").partition("(")[2].partition(")")[0]
    return right({"error": {"kind": kind}, **event})


def looks_at_the_table_first(event):
    return KINDS.get(kind_of(event)) or right(event)


def takes_an_unknown_kind_for_the_tools_fault(event):
    found = right(event)
    return "tool" if found == "own kind" else found


def expects_an_error_in_each(event):
    category = right(event)
    return category if event["error"] else "not recorded"


def calls_what_it_does_not_know_other(event):
    found = right(event)
    return "other" if found == "not recorded" else found


def takes_a_text_for_a_kind_of_the_tools_own(event):
    if isinstance(event.get("error"), str):
        return KINDS.get(event["error"], "own kind")
    return right(event)


def takes_a_time_out_for_transient(event):
    return "transient" if kind_of(event) == "timeout" else right(event)


def classes_what_went_well(event):
    return right({**event, "ok": False})


WRONG = {
    looks_at_the_words: "test_words_do_not_count",
    reads_the_kind_from_the_text: "test_without_an_error_nobody_knows",
    looks_at_the_table_first: "test_what_is_retryable_is_transient",
    takes_an_unknown_kind_for_the_tools_fault: "test_a_kind_of_the_tools_own",
    expects_an_error_in_each: "test_without_an_error_nobody_knows",
    calls_what_it_does_not_know_other: "test_without_an_error_nobody_knows",
    takes_a_text_for_a_kind_of_the_tools_own: "test_an_error_that_is_a_text_was_raised",
    takes_a_time_out_for_transient: "test_the_table_says_it",
    classes_what_went_well: "test_what_has_not_failed_is_refused",
}
