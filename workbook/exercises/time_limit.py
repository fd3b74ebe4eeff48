"""A time limit that also ends a loop which catches everything.

On the main thread of a POSIX system an alarm raises `TimeUp` in the code itself; on
other threads and on Windows a watchdog thread asks the interpreter to. Learners' code
is called through `guarded`, so that the alarm knows where that code begins. What never
comes back to Python, such as `sum(range(10**12))`, nothing but its own end can end.
"""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

AGAIN_S = 0.05
WALL_FACTOR = 3
"""Waiting costs no computing time: a sleeping function gets this much longer, and so
does one on a machine that is busy with something else."""


class TimeUp(BaseException):
    """The time is over. Not an `Exception`, so that `except Exception` lets it pass."""


def guarded(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function whose frames, and those below, are a learner's."""
    return function(*args, **kwargs)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `TimeUp` in the block after `seconds` of computing time.

    The alarm repeats until the block is left.
    """
    clock = _Clock(seconds)
    on_main = threading.current_thread() is threading.main_thread()
    arm = _alarm if on_main and hasattr(signal, "setitimer") else _watchdog
    with arm(clock):
        yield


class _Clock:
    """Says when the time is over."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.running = True
        self._cpu, self._wall = time.process_time(), time.monotonic()

    @property
    def over(self) -> bool:
        waited = time.monotonic() - self._wall
        return self.running and (
            time.process_time() - self._cpu >= self.seconds
            or waited >= self.seconds * WALL_FACTOR
        )

    def time_up(self) -> TimeUp:
        return TimeUp(f"not finished after {self.seconds:g} seconds")


@contextmanager
def _alarm(clock: _Clock) -> Iterator[None]:
    rung = False

    def ring(number: int, frame: FrameType | None) -> None:
        nonlocal rung
        if not clock.over:
            return
        inside = _leave_handlers(frame, clock)
        if inside or not rung:  # once outside, let it pass through the test's frames
            rung = True
            raise clock.time_up()

    traced = sys.gettrace()
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, clock.seconds, AGAIN_S)
    try:
        yield
    finally:
        clock.running = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if sys.gettrace() is not traced:
            sys.settrace(traced)


def _leave_handlers(frame: FrameType | None, clock: _Clock) -> bool:
    """Make a handler that catches `TimeUp` raise it again on its first line.

    `while True: try: … except: pass` swallows any exception raised inside the `try`;
    its handler stands outside of it. Python stops tracing when a tracer raises, so each
    alarm leaves one such handler.

    Returns:
        Whether a learner's code is running.
    """
    frames: list[FrameType] = []
    while frame is not None and frame.f_code is not guarded.__code__:
        frames.append(frame)
        frame = frame.f_back
    if frame is None:
        return False

    def again(frame: FrameType, event: str, argument: object) -> Any:
        if event == "line" and clock.running:
            raise clock.time_up()
        return again

    sys.settrace(lambda frame, event, argument: None)
    for found in frames:
        found.f_trace = again
    return True


@contextmanager
def _watchdog(clock: _Clock) -> Iterator[None]:
    thread = threading.get_ident()
    raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
    done = threading.Event()

    def watch() -> None:
        while not done.wait(AGAIN_S):
            if clock.over:
                raise_in(ctypes.c_ulong(thread), ctypes.py_object(TimeUp))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        clock.running = False
        done.set()
        # One that is still on its way arrives while we wait. Taking it back instead
        # (with None) leaves CPython 3.11 in an endless loop as soon as it traces.
        while watcher.is_alive():
            with suppress(TimeUp):
                watcher.join()
