"""Trying again, and asking a person when that does not help.

Only failures that say that they may pass are tried again, with growing pauses. What is
left after the last attempt goes to a person, if there is one. A call that changes the
world is repeated only when it carries a key by which the other side knows it again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from workbook.tools.calls import Effect, ErrorKind, ToolError, ToolFailure
from workbook.tools.registry import call_tool, timed_out
from workbook.tools.timeouts import TimedOut
from workbook.tools.tool import ContractError, Tool

AskPerson = Callable[[str], dict[str, Any] | None]
"""Takes what went wrong, in a sentence; returns the result, or None for "no help"."""

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 8.0


def with_retries(
    tool: Tool,
    attempts: int = 3,
    *,
    sleep: Callable[[float], None] = time.sleep,
    ask_person: AskPerson | None = None,
) -> Tool:
    """Return a tool that tries again after failures that are `retryable`.

    The pauses are 0.5, 1, 2, 4, 8, 8 … seconds. `timeout_s` holds for each attempt;
    the new tool itself has none. Other failures leave at once.

    Args:
        tool: a READ tool, or a WRITE tool whose `idempotency_key` is required.
        attempts: calls at the most, the first one included.
        sleep: waits so many seconds.
        ask_person: asked once, after the last attempt. Without it, or when the answer
            is None, the observation is an error of kind `needs_person`.

    Raises:
        ContractError: the tool writes and has no required `idempotency_key`, so a
            second attempt could do the same thing twice.
    """
    if attempts < 1:
        raise ContractError(f"attempts is {attempts}; at least one call is made")
    key_required = "idempotency_key" in tool.parameters.get("required", ())
    if tool.effect is Effect.WRITE and not key_required:
        raise ContractError(
            f"{tool.name} writes: a second attempt could do it twice. "
            "Make an idempotency_key a required argument, or do not retry."
        )
    import tenacity

    retrying = tenacity.Retrying(
        retry=tenacity.retry_if_exception(_may_pass),
        stop=tenacity.stop_after_attempt(attempts),
        wait=tenacity.wait_exponential(multiplier=FIRST_PAUSE_S, max=LONGEST_PAUSE_S),
        sleep=sleep,
        reraise=True,  # the failure itself, not tenacity's RetryError around it
    )

    def run(**arguments: Any) -> dict[str, Any]:
        try:
            result: dict[str, Any] = retrying(_attempt, tool, arguments)
        except ToolFailure as failure:
            if not failure.error.retryable:
                raise
            return _hand_over(tool, failure.error, attempts, ask_person)
        return result

    return replace(tool, run=run, timeout_s=None)


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, ToolFailure) and error.error.retryable


def _attempt(tool: Tool, arguments: dict[str, Any]) -> Any:
    try:
        return call_tool(tool, arguments)
    except TimedOut:
        error = timed_out(tool)
        # A WRITE tool comes here only with a key: the same call again is safe.
        raise ToolFailure(error.kind, error.message, True, error.hint) from None


def _hand_over(
    tool: Tool, error: ToolError, attempts: int, ask_person: AskPerson | None
) -> dict[str, Any]:
    times = "once" if attempts == 1 else f"{attempts} times"
    story = f"{tool.name} failed {times}, last with {error.kind}: {error.message}"
    answer = ask_person(story) if ask_person is not None else None
    if answer is None:
        raise ToolFailure(
            ErrorKind.NEEDS_PERSON,
            story,
            hint="Do not call it again. Say what is missing and who can help.",
        )
    return answer
