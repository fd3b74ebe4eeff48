"""Calls that return on time, also when the function does not.

Python cannot stop a thread from outside. What it can do is stop waiting: the answer
"no answer yet" is given on time, and the thread is left to itself as a daemon, which
keeps no process alive. This module knows nothing about tools.
"""

from __future__ import annotations

import contextvars
import os
import threading
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from typing import Any


class TimedOut(Exception):  # noqa: N818 - an outcome, not a fault of the caller
    """The function had not returned when its time was over."""


# Why not `with ThreadPoolExecutor() as pool: pool.submit(f).result(timeout=0.5)`?
# `result` does give up after 0.5 s, but leaving the `with` calls
# `shutdown(wait=True)`, which joins the thread: the caller waits for the stuck
# function after all. Without the `with` it still hurts at exit, because
# concurrent.futures joins every worker when the interpreter ends. Daemon threads of
# our own are joined by nobody.


class _Worker(threading.Thread):
    """A thread that runs one job after the other until it is handed None.

    Starting a thread for each call would cost more than most tools do.
    """

    def __init__(self) -> None:
        super().__init__(name="tool-worker", daemon=True)
        self.jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    def run(self) -> None:
        while (job := self.jobs.get()) is not None:
            job()
            del job  # an idle worker must not keep the last arguments alive


_idle: list[_Worker] = []
# A child process inherits the list but none of its threads.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)


def call_with_timeout(
    function: Callable[..., Any], arguments: Mapping[str, Any], timeout_s: float | None
) -> Any:
    """Return `function(**arguments)`, or stop waiting for it.

    The function sees the caller's context variables. Without a limit it is called
    here, in this thread.

    Raises:
        TimedOut: nothing came back in `timeout_s` seconds. The function goes on by
            itself, and what it returns later is dropped.
        BaseException: whatever the function raises.
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

    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
        worker.start()
    worker.jobs.put(job)
    try:
        result, error = outcome.get(timeout=timeout_s)
    except BaseException as given_up:  # late, or the person does not want to wait
        worker.jobs.put(None)  # should it ever come back, it ends
        if not isinstance(given_up, Empty):
            raise
        raise TimedOut(f"no answer within {timeout_s:g} s") from None
    _idle.append(worker)
    if error is not None:
        raise error
    return result
