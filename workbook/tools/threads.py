"""Calls in threads of their own: on time, or several at once.

Python cannot stop a thread from outside. What it can do is stop waiting: the caller
hears on time that there is no answer yet, and the thread goes on as a daemon, which
keeps no process alive.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from queue import Empty, SimpleQueue
from typing import Any

from workbook.tools.calls import ErrorKind, Observation, ToolCall, ToolError, clipped

AT_ONCE = 8  # calls, the most


class TimedOut(Exception):  # noqa: N818 - an outcome, not a fault of the caller
    """The function had not returned when its time was over."""


def call_with_timeout(
    function: Callable[..., Any], arguments: Mapping[str, Any], timeout_s: float | None
) -> Any:
    """Return `function(**arguments)`, or stop waiting for it; raises what it raises.

    The function sees the caller's context variables. Without a limit it is called
    here, in this thread.

    Raises:
        TimedOut: nothing came back in `timeout_s` seconds. The function goes on by
            itself, and what it returns later is dropped.
    """
    if timeout_s is None:
        return function(**arguments)
    outcome: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
    context = contextvars.copy_context()

    def job() -> None:
        try:
            outcome.put((context.run(function, **arguments), None))
        except BaseException as error:
            outcome.put((None, error))

    # Not a ThreadPoolExecutor: leaving its `with` waits for the stuck function after
    # all, and without the `with` the end of the interpreter does.
    threading.Thread(target=job, name="tool", daemon=True).start()
    try:
        result, error = outcome.get(timeout=timeout_s)
    except Empty:
        raise TimedOut(f"no answer within {timeout_s:g} s") from None
    if error is not None:
        raise error
    return result


def failed(call: ToolCall, error: BaseException) -> Observation:
    """Return the observation of a call that raised."""
    try:
        words = clipped(str(error), 300)
    except Exception:  # an error can be broken itself
        words = "it cannot say why"
    said = f"{call.name} raised {type(error).__name__}: {words}."
    hint = "Try other arguments, or go on without this tool."
    raised = ToolError(ErrorKind.TOOL_RAISED, said, hint=hint)
    return Observation.failed(call.call_id, raised, call.name)


def run_in_parallel(
    calls: Sequence[ToolCall],
    run: Callable[[ToolCall], Observation],
    is_read: Callable[[ToolCall], bool],
    at_once: int = AT_ONCE,
) -> list[Observation]:
    """Make calls, READs side by side at once, and return the observation of each.

    A WRITE waits for all calls before it, and all calls after it wait for the WRITE.
    A call that raises is one failed observation. Time limits are the business of `run`.

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
        finally:  # whoever interrupts waits for no call, and no other one begins
            pool.shutdown(wait=False, cancel_futures=True)
    return seen
