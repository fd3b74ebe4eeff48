"""How a run waits for a model, a tool or a person: on time, and until the user stops.

Python cannot stop a thread from outside. It can stop waiting for one: the thread goes
on as a daemon, which keeps no process alive.
"""

import atexit
import contextvars
import math
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
LOOP = contextvars.ContextVar[Any]("LOOP", default=None)
"""The event loop of whoever waits for a run, in which its async tools run."""
CANCEL = {"what": "cancel"}
GRACE_S = 1.0  # for a call to end by itself: a model stops at its next piece
CALL = "a call that may be given up"  # the name of its thread


class TimedOut(Exception):  # noqa: N818 - an outcome, not a fault of the caller
    """There was no response in time."""


def call_with_timeout(
    call: Callable[[], T],
    timeout_s: float | None,
    outcome: "SimpleQueue[Any] | None" = None,
) -> T:
    """Return what a call returns, or raise TimedOut; None: here, without a limit."""
    if timeout_s is None or timeout_s == math.inf:
        return call()
    got = outcome or SimpleQueue[Any]()

    def report() -> None:
        try:
            got.put((call(), None))
        except BaseException as error:
            got.put((None, error))

    work = partial(contextvars.copy_context().run, report)
    threading.Thread(target=work, name=CALL, daemon=True).start()
    try:
        result, error = got.get(timeout=min(timeout_s, threading.TIMEOUT_MAX))
    except Empty:
        raise TimedOut(f"no answer within {timeout_s:g} s") from None
    if error is not None:
        raise error
    return result  # type: ignore[no-any-return]


def awaited(work: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine returns, from a thread without an event loop."""
    import asyncio

    if (loop := LOOP.get()) is None:
        return asyncio.run(work)
    return asyncio.run_coroutine_threadsafe(work, loop).result()


@atexit.register
def _end_calls(most_s: float = 0.5) -> None:
    # Before 3.14 Python cuts off a daemon that wakes up as it exits: with frames of
    # Rust or C++ in it, such as pydantic's, the whole process aborts.
    from ctypes import c_ulong, py_object, pythonapi

    left = [each for each in threading.enumerate() if each.name == CALL]
    for thread in left:
        ident = c_ulong(thread.ident or 0)
        pythonapi.PyThreadState_SetAsyncExc(ident, py_object(SystemExit))
    until = time.monotonic() + most_s
    for thread in left:  # one that sleeps for long does not wake up, and does no harm
        thread.join(max(until - time.monotonic(), 0))


class InFlight:
    """The call of a run that has no response yet, and what interrupts it."""

    def __init__(self, signals: "deque[dict[str, Any]]") -> None:
        self.signals, self.outcome = signals, SimpleQueue[Any]()
        self.is_waited_for = False
        self.is_writing = False  # a model that streams stops at its next piece

    def wait(self, call: Callable[[], T], limit_s: float | None) -> T:
        """Return what a call returns; may raise TimedOut, KeyboardInterrupt."""
        self.outcome = SimpleQueue()
        self.is_waited_for = True
        try:
            if CANCEL in self.signals:  # it came a moment ago
                self._give_up_later()
            return call_with_timeout(call, limit_s, self.outcome)
        finally:
            self.is_waited_for = self.is_writing = False

    def cancel(self) -> None:
        """Stop the run, from any thread; a call in another thread is given up."""
        self.signals.append(CANCEL)
        if self.is_writing:
            self._give_up_later()
        elif self.is_waited_for:
            self.outcome.put((None, KeyboardInterrupt()))

    def _give_up_later(self) -> None:
        stop = (None, KeyboardInterrupt())
        timer = threading.Timer(GRACE_S, self.outcome.put, [stop])
        timer.daemon = True
        timer.start()

    def take_text(self, on_text: Callable[[str], object], piece: str) -> bool:
        """Pass a piece of a turn on; True: the model is to write no more."""
        if self.is_waited_for:
            self.is_writing = True
            on_text(piece)
        return not self.is_waited_for or CANCEL in self.signals

    @contextmanager
    def ctrl_c_is_cancel(self) -> Iterator[None]:
        """Take the first Ctrl-C for a cancel; the second is Python's own."""
        # Between two states it waits for the next one: no call loses its result.
        in_main = threading.current_thread() is threading.main_thread()
        before = signal.getsignal(signal.SIGINT) if in_main else None

        def stop(number: int, frame: Any) -> None:
            signal.signal(signal.SIGINT, before)
            if self.is_waited_for and not self.is_writing:
                raise KeyboardInterrupt
            self.cancel()

        if callable(before):
            signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            if callable(before):
                signal.signal(signal.SIGINT, before)
