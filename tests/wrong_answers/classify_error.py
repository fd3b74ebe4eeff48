"""Plausible wrong answers to `classify_error`, each with the test that must catch it."""

from workbook.record.errors import KINDS


def kind_of(event):
    error = event.get("error") or {}
    return error if isinstance(error, str) else error.get("kind", "")


def must_have_failed(event):
    if event.get("ok") is not False:
        raise ValueError("it has not failed")


def looks_at_the_words(event):
    must_have_failed(event)
    text = event["text"].lower()
    for word, category in {
        "missing": "arguments",
        "timed out": "transient",
        "denied": "refused",
    }.items():
        if word in text:
            return category
    return KINDS.get(kind_of(event), "other")


def reads_the_kind_from_the_text(event):
    must_have_failed(event)
    kind = event["text"].partition("(")[2].partition(")")[0]
    error = event.get("error")
    if isinstance(error, str):
        return KINDS.get(error, "other")
    if error and error["retryable"]:
        return "transient"
    return KINDS.get(kind, "other")


def looks_at_the_table_first(event):
    must_have_failed(event)
    kind, error = kind_of(event), event.get("error")
    if kind in KINDS:
        return KINDS[kind]
    retryable = isinstance(error, dict) and error["retryable"]
    return "transient" if retryable else "other"


def takes_an_unknown_kind_for_the_tools_fault(event):
    must_have_failed(event)
    error = event.get("error")
    if isinstance(error, dict) and error["retryable"]:
        return "transient"
    return KINDS.get(kind_of(event), "tool")


def expects_an_error_in_each(event):
    must_have_failed(event)
    error = event["error"]
    if isinstance(error, str):
        return KINDS.get(error, "other")
    return "transient" if error["retryable"] else KINDS.get(error["kind"], "other")


def knows_our_machines_alone(event):
    must_have_failed(event)
    error = event.get("error", {"kind": "", "retryable": False})
    return "transient" if error["retryable"] else KINDS.get(error["kind"], "other")


def takes_a_time_out_for_transient(event):
    must_have_failed(event)
    error = event.get("error")
    retryable = isinstance(error, dict) and error["retryable"]
    if retryable or kind_of(event) == "timeout":
        return "transient"
    return KINDS.get(kind_of(event), "other")


def classes_what_went_well(event):
    error = event.get("error")
    if isinstance(error, dict) and error["retryable"]:
        return "transient"
    return KINDS.get(kind_of(event), "other")


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
