"""Trying again, and asking a person when that does not help.

Only a failure that may pass is tried again, with growing pauses. A call that changes
the world is repeated only when it carries a key by which the other side knows it.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from workbook.tools.calls import Effect, ErrorKind, ToolError, ToolFailure, to_json
from workbook.tools.registry import call_tool
from workbook.tools.tool import ContractError, Tool


def with_retries(
    tool: Tool,
    attempts: int = 3,
    *,
    sleep: Callable[[float], None] = time.sleep,
    ask_person: Callable[[ToolError], dict[str, Any] | None] | None = None,
) -> Tool:
    """Return a tool that tries again after failures that are `retryable`.

    The pauses are 0.5, 1, 2, 4, 8, 8 … seconds. `timeout_s` holds for each attempt;
    the new tool itself has none. Other failures leave at once.

    After the last attempt `ask_person` gets the error, which says what is to be done
    by hand, and returns the result. Without it, or when it returns None, the
    observation is that error, of kind `needs_person`.

    Raises:
        ContractError: the tool writes and has no required `idempotency_key`.
    """
    if attempts < 1:
        raise ContractError(f"attempts is {attempts}; at least one call is made")
    key_required = "idempotency_key" in tool.parameters.get("required", ())
    if tool.effect is Effect.WRITE and not key_required:
        raise ContractError(
            f"{tool.name} writes: a second attempt could do it twice. "
            "Make an idempotency_key a required argument, or do not retry."
        )

    def run(**arguments: Any) -> Any:
        for attempt in range(attempts):
            if attempt:
                sleep(min(2.0 ** (attempt - 2), 8.0))
            try:
                return call_tool(tool, arguments)
            except ToolFailure as failure:
                last = failure.error
                # With its key, also a WRITE that timed out can be sent again.
                if not last.retryable and last.kind != ErrorKind.TIMEOUT:
                    raise
        needed = _needs_person(tool, arguments, attempts, last)
        answer = ask_person(needed.error) if ask_person is not None else None
        if answer is None:
            raise needed
        return answer

    return replace(tool, run=run, timeout_s=None)


def _needs_person(
    tool: Tool, arguments: dict[str, Any], attempts: int, last: ToolError
) -> ToolFailure:
    """Return the failure that says what was tried, and what a person can do."""
    what = " ".join(tool.description.split()).split(". ")[0].rstrip(".")
    times = "once" if attempts == 1 else f"{attempts} times"
    story = f"{tool.name}({to_json(arguments)}) failed {times}, last with {last.kind}"
    by_hand = f"Do it without the tool ({what}), and say what came of it."
    message = f"{story}: {last.message.rstrip('. ')}. By hand: {by_hand}"
    hint = "Do not call it again. Say what is missing and who can help."
    return ToolFailure(ErrorKind.NEEDS_PERSON, message, hint=hint)
