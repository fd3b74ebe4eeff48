"""Trying again."""

import threading

import pytest

from workbook.tools.calls import Effect, ToolCall, ToolFailure
from workbook.tools.registry import ToolRegistry
from workbook.tools.retry import with_retries
from workbook.tools.tool import ContractError, Tool

BUSY = ToolFailure("rate_limited", "429 from the server", True)
REFUSED = ToolFailure("auth", "401 from the server", False, "check the key")
KEY = {"idempotency_key": {"type": "string"}}
SCHEMA = {"properties": {"rows": {"type": "array"}, **KEY}}


def observe(*outcomes):
    """Call a tool that plays outcomes; return what came of it, arguments, pauses."""
    due, seen, pauses = list(outcomes), [], []

    def play(rows=(), **arguments):
        seen.append([*rows])
        rows.clear()  # an attempt may use its arguments up
        outcome = due.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    tool = Tool("Search", "Finds.", SCHEMA, play, timeout_s=None)
    registry = ToolRegistry([with_retries(tool, sleep=pauses.append)])
    return registry.run(ToolCall("Search", {"rows": [1, 2]}, "c")), seen, pauses


def test_a_failure_that_passes_is_tried_again():
    """the same arguments, after pauses that double"""
    came, seen, pauses = observe(BUSY, BUSY, {"result": "found"})
    assert came.result == {"result": "found"}
    assert (seen, pauses) == ([[1, 2]] * 3, [0.5, 1])


@pytest.mark.parametrize(
    ("raised", "kind"), [(REFUSED, "auth"), (RuntimeError("boom"), "tool_raised")]
)
def test_other_failures_leave_at_once(raised, kind):
    """a failure that is not retryable, or not foreseen, is not tried again"""
    came, seen, pauses = observe(raised)
    assert (came.error.kind, len(seen), pauses) == (kind, 1, [])


def test_after_the_last_attempt_a_person_is_needed():
    """the third failure is told with its reason, and the model is to stop"""
    came, _, pauses = observe(BUSY, BUSY, BUSY)
    assert (came.error.kind, came.error.retryable) == ("needs_person", False)
    assert "failed 3 times, last: 429 from the server" in came.error.message
    assert pauses == [0.5, 1]


@pytest.mark.parametrize("effect", list(Effect))
def test_each_attempt_has_its_own_time_limit(effect):
    """the time limit holds for each attempt; a timeout is tried again, with a key"""
    gate, attempts = threading.Event(), []

    def first_slow(idempotency_key):
        attempts.append(1)
        return {"result": len(attempts) if len(attempts) > 1 else gate.wait(10)}

    schema = {"properties": KEY, "required": [*KEY]}
    tool = Tool("Slow", "Waits.", schema, first_slow, effect, timeout_s=0.05)
    registry = ToolRegistry([with_retries(tool, sleep=lambda seconds: None)])
    seen = registry.run(ToolCall("Slow", {"idempotency_key": "k"}, "call_1"))
    gate.set()
    assert seen.result == {"result": 2}


def test_a_write_without_a_key_is_not_retried():
    """a WRITE without a required key is not retried"""
    tool = Tool("Pay", "Pays.", {}, dict, effect=Effect.WRITE)
    with pytest.raises(ContractError, match="could do it twice"):
        with_retries(tool)
