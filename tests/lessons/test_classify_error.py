"""The category of an error: from its kind, and never from its words."""

import pytest

from workbook.lessons.traces_and_replay import KINDS


def failed(kind="timeout", message="no result.", retryable=False):
    """Return a failed observation, as the machines write it."""
    error = {"kind": kind, "message": message, "retryable": retryable, "hint": ""}
    about = {"kind": "observation", "call_id": "call_1", "tool": "Search", "ok": False}
    return {**about, "text": f"Error ({kind}): {message}", "error": error}


def without_error(**fields):
    event = failed()
    del event["error"]
    return event | fields


@pytest.mark.parametrize(("kind", "category"), KINDS.items())
def test_the_table_says_it(classify_error, kind, category):
    """the category of an error is what `KINDS` has for `event["error"]["kind"]`"""
    assert classify_error(failed(kind)) == category


@pytest.mark.parametrize("kind", ["timeout", "tool_raised", "denied", "rate_limited"])
def test_what_is_retryable_is_transient(classify_error, kind):
    """an error that is `retryable` is "transient", whatever its kind"""
    assert classify_error(failed(kind, retryable=True)) == "transient"


@pytest.mark.parametrize("kind", ["rate_limited", "overload", "42"])
def test_a_kind_of_the_tools_own(classify_error, kind):
    """a dict whose kind `KINDS` does not have is "own kind": the tool's own word"""
    assert classify_error(failed(kind)) == "own kind"


@pytest.mark.parametrize(
    "message", ["missing argument: n.", "the line timed out, try again", "denied"]
)
def test_words_do_not_count(classify_error, message):
    """the words of the message and of the text do not count"""
    assert classify_error(failed("tool_raised", message)) == "tool"
    assert classify_error(failed("unknown_tool", message)) == "turn"


def test_an_error_that_is_a_text_was_raised(classify_error):
    """a text in `error` names an exception: it is "tool" if `KINDS` does not have it"""
    assert classify_error(without_error(error="KeyboardInterrupt")) == "stopped"
    assert classify_error(without_error(error="TimeoutError")) == "tool"


@pytest.mark.parametrize("fields", [{}, {"error": None}], ids=["no field", "None"])
def test_without_an_error_nobody_knows(classify_error, fields):
    """an observation without `error`, or with None there, is "not recorded"

    perhaps, of unsettled: you read the kind from the text, "Error (timeout) …"
    """
    assert classify_error(without_error(**fields)) == "not recorded"


@pytest.mark.parametrize(
    "event",
    [without_error(ok=True, text="42"), {"kind": "tool_call", "tool": "Search"}],
    ids=["ok", "no observation"],
)
def test_what_has_not_failed_is_refused(classify_error, event):
    """raise ValueError if the event has no `ok`, or one that is not False"""
    with pytest.raises(ValueError):  # noqa: PT011 - in any words
        classify_error(event)
