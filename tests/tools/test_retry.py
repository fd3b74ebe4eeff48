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


class Script:
    """A tool's function that plays outcomes, and keeps arguments and pauses."""

    def __init__(self, *outcomes):
        self.outcomes, self.seen, self.pauses = list(outcomes), [], []

    def __call__(self, rows=(), **arguments):
        self.seen.append(list(rows))
        rows.clear()  # an attempt may use its arguments up
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def observe(self):
        tool = Tool("Search", "Finds.", SCHEMA, self, timeout_s=None)
        retried = with_retries(tool, sleep=self.pauses.append)
        return ToolRegistry([retried]).run(ToolCall("Search", {"rows": [1, 2]}, "c"))


def test_a_failure_that_passes_is_tried_again():
    """the same arguments, after pauses that double"""
    script = Script(BUSY, BUSY, {"result": "found"})
    assert script.observe().result == {"result": "found"}
    assert script.seen == [[1, 2]] * 3
    assert script.pauses == [0.5, 1]


@pytest.mark.parametrize(
    ("raised", "kind"), [(REFUSED, "auth"), (RuntimeError("boom"), "tool_raised")]
)
def test_other_failures_leave_at_once(raised, kind):
    """a failure that is not retryable, or not foreseen, is not tried again"""
    script = Script(raised)
    assert script.observe().error.kind == kind
    assert (len(script.seen), script.pauses) == (1, [])


def test_after_the_last_attempt_a_person_is_needed():
    """the third failure is told with its reason, and the model is to stop"""
    script = Script(BUSY, BUSY, BUSY)
    error = script.observe().error
    assert (error.kind, error.retryable) == ("needs_person", False)
    assert "failed 3 times, last: 429 from the server" in error.message
    assert script.pauses == [0.5, 1]


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
