"""Trying again, and asking a person."""

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

    def observe(self, attempts=3, ask_person=None):
        tool = Tool("Search", "Finds. Slowly.", SCHEMA, self, timeout_s=None)
        retried = with_retries(
            tool, attempts, sleep=self.pauses.append, ask_person=ask_person
        )
        return ToolRegistry([retried]).run(ToolCall("Search", {"rows": [1, 2]}, "c"))


def test_a_failure_that_passes_is_tried_again():
    """the same arguments, after pauses that double up to eight seconds"""
    script = Script(*[BUSY] * 6, {"result": "found"})
    assert script.observe(attempts=7).result == {"result": "found"}
    assert script.seen == [[1, 2]] * 7
    assert script.pauses == [0.5, 1, 2, 4, 8, 8]


@pytest.mark.parametrize(
    ("raised", "kind"), [(REFUSED, "auth"), (RuntimeError("boom"), "tool_raised")]
)
def test_other_failures_leave_at_once(raised, kind):
    """a failure that is not retryable, or not foreseen, is not tried again"""
    script = Script(raised)
    assert script.observe().error.kind == kind
    assert (len(script.seen), script.pauses) == (1, [])


def test_after_the_last_attempt_a_person_is_needed():
    """a person is asked once, with the call, the last error and what to do"""
    asked = []
    seen = Script(BUSY, BUSY).observe(attempts=2, ask_person=asked.append)
    assert asked == [seen.error]
    assert (seen.error.kind, seen.error.retryable) == ("needs_person", False)
    for part in ('Search({"rows": [1, 2]})', "2 times", "429 from the server", "Finds"):
        assert part in seen.error.message
    seen = Script(BUSY).observe(1, ask_person=lambda error: {"result": "by hand"})
    assert seen.result == {"result": "by hand"}


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


@pytest.mark.parametrize(
    ("attempts", "words"), [(3, "could do it twice"), (0, "attempts is 0")]
)
def test_what_cannot_be_retried_is_refused(attempts, words):
    """a WRITE without a required key is not retried; at least one call is made"""
    tool = Tool("Pay", "Pays.", {}, dict, effect=Effect.WRITE)
    with pytest.raises(ContractError, match=words):
        with_retries(tool, attempts)
