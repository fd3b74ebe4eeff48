"""Calls that do not wait for each other, where none of them changes anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby

from workbook.tools.calls import ErrorKind, Observation, ToolCall, ToolError

AT_ONCE = 8  # calls, the most


def failed(call: ToolCall, error: Exception) -> Observation:
    """Return the observation of a call that raised."""
    said = f"{call.name} raised {type(error).__name__}: {error}"
    return Observation.failed(
        call.call_id, ToolError(ErrorKind.TOOL_RAISED, said), call.name
    )


def run_in_parallel(
    calls: Sequence[ToolCall],
    run: Callable[[ToolCall], Observation],
    is_read: Callable[[ToolCall], bool],
    at_once: int = AT_ONCE,
) -> list[Observation]:
    """Make calls, READs that stand side by side at once, and return what came of each.

    A WRITE waits for all before it, and all behind it wait for the WRITE. One that
    raises is one failed observation. What takes how long at most, `run` sees to.

    Args:
        calls: in the order in which they were asked for; so are the observations.
        run: makes one call, such as `ToolRegistry.run`.
        is_read: says whether a call changes nothing.
        at_once: the most calls that are made at one time.
    """

    def one(call: ToolCall) -> Observation:
        try:
            return run(call)
        except Exception as error:
            return failed(call, error)

    seen: list[Observation] = []
    for reads, group in groupby(calls, is_read):
        pool = ThreadPoolExecutor(at_once if reads else 1)
        try:
            seen += pool.map(one, group)
        finally:  # whoever is interrupted waits for none, and begins no other
            pool.shutdown(wait=False, cancel_futures=True)
    return seen
