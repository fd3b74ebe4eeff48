"""Trying again: only what may pass, with pauses, and never a write without a key.

A call that changes the world is repeated only when it carries a key by which the other
side knows it.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from workbook.tools.calls import Effect, ErrorKind, ToolFailure
from workbook.tools.registry import call_tool
from workbook.tools.tool import ContractError, Tool

PAUSES_S = (0.5, 1.0)  # between the attempts, of which there is one more


def with_retries(tool: Tool, *, sleep: Callable[[float], None] = time.sleep) -> Tool:
    """Return a tool that makes up to three attempts at a failure that is `retryable`.

    `timeout_s` holds for each attempt; the new tool itself has none. Other failures
    leave at once. After the last attempt the observation says that it takes a person:
    its kind is `needs_person`.

    Raises:
        ContractError: the tool writes and has no required `idempotency_key`.
    """
    key_required = "idempotency_key" in tool.parameters.get("required", ())
    if tool.effect is Effect.WRITE and not key_required:
        raise ContractError(
            f"{tool.name} writes: a second attempt could do it twice. "
            "Make an idempotency_key a required argument, or do not retry."
        )

    def run(**arguments: Any) -> Any:
        for pause_s in (*PAUSES_S, None):
            try:
                return call_tool(tool, arguments)
            except ToolFailure as failure:
                last = failure.error
                # With its key, also a WRITE that timed out can be sent again.
                if not last.retryable and last.kind != ErrorKind.TIMEOUT:
                    raise
            if pause_s is not None:
                sleep(pause_s)
        said = f"{tool.name} failed {len(PAUSES_S) + 1} times, last: {last.message}"
        hint = "Do not call it again. Say what is missing and who can help."
        raise ToolFailure(ErrorKind.NEEDS_PERSON, said, hint=hint)

    return replace(tool, run=run, timeout_s=None)
