"""Calls that return on time, also when the function does not.

Python cannot stop a thread from outside. What it can do is stop waiting: the answer
"no answer yet" is given on time, and the thread is left to itself as a daemon, which
keeps no process alive. This module knows nothing about tools.
"""

import contextvars
import threading
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from typing import Any


class TimedOut(Exception):  # noqa: N818 - an outcome, not a fault of the caller
    """The function had not returned when its time was over."""


# Why not `with ThreadPoolExecutor() as pool: pool.submit(f).result(timeout=0.5)`?
# `result` does give up after 0.5 s, but leaving the `with` joins the thread: the caller
# waits for the stuck function after all, and without the `with` at the interpreter's
# end. A daemon thread of our own is joined by nobody.


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

    threading.Thread(target=job, name="tool", daemon=True).start()
    try:
        result, error = outcome.get(timeout=timeout_s)
    except Empty:
        raise TimedOut(f"no answer within {timeout_s:g} s") from None
    if error is not None:
        raise error
    return result
