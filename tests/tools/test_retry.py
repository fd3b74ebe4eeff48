"""Trying again, and asking a person."""

import threading

import pytest

from workbook.tools.calls import Effect, ToolCall, ToolError, ToolFailure
from workbook.tools.registry import ToolRegistry
from workbook.tools.retry import HandOver, with_retries
from workbook.tools.tool import ContractError, Tool

BUSY = ToolFailure("rate_limited", "429 from the server", True)
REFUSED = ToolFailure("auth", "401 from the server", False, "check the key")


class Script:
    """A tool's function that plays outcomes, and counts."""

    def __init__(self, *outcomes):
        self.outcomes = list(outcomes)
        self.calls = 0
        self.pauses = []

    def __call__(self, **arguments):
        self.calls += 1
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def observe(self, *, timeout_s=None, **options):
        tool = Tool("Search", "Finds.", {}, self, timeout_s=timeout_s)
        retried = with_retries(tool, sleep=self.pauses.append, **options)
        return ToolRegistry([retried]).run(ToolCall("Search", {}, "call_1"))


def test_a_failure_that_passes_is_tried_again():
    """a retryable failure is tried again until it works"""
    script = Script(BUSY, BUSY, {"result": "found"})
    assert script.observe().result == {"result": "found"}
    assert script.calls == 3


def test_each_attempt_gets_the_same_arguments():
    """an attempt that used its arguments up leaves them whole for the next one"""
    seen = []

    def take(rows):
        seen.append(list(rows))
        rows.clear()
        if len(seen) < 3:
            raise BUSY
        return {"result": 1}

    schema = {"properties": {"rows": {"type": "array"}}}
    tool = with_retries(
        Tool("Take", "Takes.", schema, take, timeout_s=None), sleep=lambda pause: None
    )
    ToolRegistry([tool]).run(ToolCall("Take", {"rows": [1, 2]}, "c"))
    assert seen == [[1, 2]] * 3


def test_the_pauses_grow():
    """the pauses double, up to eight seconds"""
    script = Script(*[BUSY] * 7)
    script.observe(attempts=7)
    assert script.pauses == [0.5, 1, 2, 4, 8, 8]


def test_a_failure_that_no_retry_can_mend_leaves_at_once():
    """a failure that is not retryable is not tried again"""
    script = Script(REFUSED)
    seen = script.observe()
    assert (seen.error, script.calls, script.pauses) == (REFUSED.error, 1, [])


def test_an_exception_is_not_tried_again():
    """an exception that the tool did not foresee is not tried again"""
    script = Script(RuntimeError("boom"))
    assert script.observe().error.kind == "tool_raised"
    assert script.calls == 1


def test_after_the_last_attempt_a_person_is_needed():
    """after the last attempt the observation says that a person is needed, and why"""
    script = Script(BUSY, BUSY)
    error = script.observe(attempts=2).error
    assert (error.kind, error.retryable) == ("needs_person", False)
    assert "failed 2 times" in error.message
    assert "429 from the server" in error.message


def test_a_person_can_give_the_result():
    """a person is asked once, after the last attempt, and the answer is the result"""
    asked = []

    def person(story):
        asked.append(story)
        return {"result": "found by hand"}

    script = Script(BUSY, BUSY, BUSY)
    assert script.observe(ask_person=person).result == {"result": "found by hand"}
    assert len(asked) == 1
    assert "rate_limited" in asked[0].message


PHONE = {"properties": {"room": {"type": "integer"}}}


def engaged(room):
    raise ToolFailure("busy", "the line is busy.", True, "use the other line")


@pytest.mark.parametrize("by_hand", ["", "Walk to the room."])
def test_the_hand_over_says_what_a_person_needs(by_hand):
    """a person gets tool, arguments, attempts, last error and what to do, as data"""
    asked = []
    phone = Tool("Phone", "Calls a room. From 1 to 40.", PHONE, engaged)
    retried = with_retries(
        phone, 2, sleep=lambda s: None, ask_person=asked.append, by_hand=by_hand
    )
    seen = ToolRegistry([retried]).run(ToolCall("Phone", {"room": 12}, "c"))
    handed = asked[0]
    assert (handed.tool, handed.arguments, handed.attempts) == (
        "Phone",
        {"room": 12},
        2,
    )
    assert handed.last == ToolError(
        "busy", "the line is busy.", True, "use the other line"
    )
    assert handed.by_hand == by_hand or (
        "Calls a room" in handed.by_hand and not by_hand
    )
    for part in ('Phone({"room": 12})', "2 times", "line is busy", handed.by_hand):
        assert part in handed.message
    assert seen.error == handed
    assert isinstance(seen.error, HandOver)


def test_the_hand_over_of_one_call_leaves_others_alone():
    """a failure that a tool raises again and again is not changed by a hand-over"""
    first = Script(BUSY).observe(attempts=1)
    second = Script(BUSY, BUSY).observe(attempts=2)
    assert (first.error.attempts, second.error.attempts) == (1, 2)
    assert BUSY.error.kind == "rate_limited"


def test_a_person_may_not_know_either():
    """a person who has no answer leaves it at needs_person"""
    seen = Script(BUSY).observe(attempts=1, ask_person=lambda story: None)
    assert seen.error.kind == "needs_person"
    assert "failed once" in seen.error.message


def test_each_attempt_has_its_own_time_limit():
    """the time limit holds for each attempt, and a timeout is tried again"""
    gate = threading.Event()
    attempts = []

    def first_slow():
        attempts.append(1)
        return {"result": len(attempts) if len(attempts) > 1 else gate.wait(10)}

    tool = Tool("Slow", "Waits.", {}, first_slow, timeout_s=0.05)
    retried = with_retries(tool, sleep=lambda seconds: None)
    seen = ToolRegistry([retried]).run(ToolCall("Slow", {}, "call_1"))
    gate.set()
    assert seen.result == {"result": 2}


def test_the_original_tool_stays_as_it_was():
    """the tool that was given is not changed"""
    script = Script(BUSY)
    tool = Tool("Search", "Finds.", {}, script, timeout_s=3)
    retried = with_retries(tool)
    assert (tool.run, tool.timeout_s) == (script, 3)
    assert (retried.name, retried.timeout_s) == ("Search", None)


def test_a_write_without_a_key_is_not_retried():
    """a tool that writes is not retried unless every call carries a key"""
    tool = Tool("Pay", "Pays.", {}, dict, effect=Effect.WRITE)
    with pytest.raises(ContractError, match="could do it twice"):
        with_retries(tool)


def test_a_write_with_a_key_is_retried():
    """a WRITE tool whose idempotency key is required may be retried"""
    schema = {
        "properties": {"idempotency_key": {"type": "string"}},
        "required": ["idempotency_key"],
    }
    script = Script(BUSY, {"result": "paid"})
    tool = Tool("Pay", "Pays.", schema, script, effect=Effect.WRITE, timeout_s=None)
    registry = ToolRegistry([with_retries(tool, sleep=lambda seconds: None)])
    seen = registry.run(ToolCall("Pay", {"idempotency_key": "k"}, "call_1"))
    assert seen.result == {"result": "paid"}


def test_no_attempt_at_all_is_refused():
    """at least one call is made"""
    with pytest.raises(ContractError, match="attempts is 0"):
        with_retries(Tool("Search", "Finds.", {}, dict), attempts=0)
