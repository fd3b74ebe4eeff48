"""Trying again, and asking a person when that does not help.

Only failures that say that they may pass are tried again, with growing pauses. A call
that changes the world is repeated only when it carries a key by which the other side
knows it again.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from workbook.tools.calls import Effect, ErrorKind, ToolError, ToolFailure, to_json
from workbook.tools.registry import call_tool, timed_out
from workbook.tools.timeouts import TimedOut
from workbook.tools.tool import ContractError, Tool


@dataclass(frozen=True, slots=True)
class HandOver(ToolError):  # noqa: N818 - no exception
    """What a person needs who goes on by hand; the error when nobody helps."""

    tool: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    attempts: int = 1
    last: ToolError | None = None
    by_hand: str = ""


def with_retries(
    tool: Tool,
    attempts: int = 3,
    *,
    sleep: Callable[[float], None] = time.sleep,
    ask_person: Callable[[HandOver], dict[str, Any] | None] | None = None,
    by_hand: str = "",
) -> Tool:
    """Return a tool that tries again after failures that are `retryable`.

    The pauses are 0.5, 1, 2, 4, 8, 8 … seconds. `timeout_s` holds for each attempt;
    the new tool itself has none. Other failures leave at once.

    After the last attempt `ask_person` is asked once for the result. Without it, or
    when the answer is None, the observation is an error of kind `needs_person`.
    `by_hand` says what that person is to do; otherwise the description does.
    ContractError where the tool writes and has no required `idempotency_key`.
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
        retry=tenacity.retry_if_exception(
            lambda error: isinstance(error, ToolFailure) and error.error.retryable
        ),
        stop=tenacity.stop_after_attempt(attempts),
        wait=tenacity.wait_exponential(multiplier=0.5, max=8),
        sleep=sleep,
        reraise=True,  # the failure itself, not tenacity's RetryError around it
    )

    def run(**arguments: Any) -> Any:
        try:
            return retrying(_attempt, tool, arguments)
        except ToolFailure as failure:
            if not failure.error.retryable:
                raise
            handed = _hand_over(tool, arguments, attempts, failure.error, by_hand)
        answer = ask_person(handed) if ask_person is not None else None
        if answer is None:
            needs_person = ToolFailure(handed.kind, handed.message)
            needs_person.error = handed
            raise needs_person
        return answer

    return replace(tool, run=run, timeout_s=None)


def _attempt(tool: Tool, arguments: dict[str, Any]) -> Any:
    try:
        return call_tool(tool, arguments)
    except TimedOut:
        error = timed_out(tool)
        # A WRITE tool comes here only with a key: the same call again is safe.
        raise ToolFailure(error.kind, error.message, True, error.hint) from None


def _hand_over(
    tool: Tool, arguments: dict[str, Any], attempts: int, last: ToolError, by_hand: str
) -> HandOver:
    what = " ".join(tool.description.split()).split(". ")[0].rstrip(".")
    by_hand = by_hand or f"Do it without the tool ({what}), and say what came of it."
    times = "once" if attempts == 1 else f"{attempts} times"
    story = f"{tool.name}({to_json(arguments)}) failed {times}, last with {last.kind}"
    message = f"{story}: {str(last.message).rstrip('. ')}. By hand: {by_hand}"
    hint = "Do not call it again. Say what is missing and who can help."
    error = (ErrorKind.NEEDS_PERSON, message, False, hint)
    return HandOver(*error, tool.name, arguments, attempts, last, by_hand)
