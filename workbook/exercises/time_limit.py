"""A time limit that also ends a loop which catches everything.

On the main thread of a POSIX system an alarm raises `TimeUp` in the code itself, which
`guarded` calls; elsewhere a watchdog thread asks the interpreter to. What never comes
back to Python, such as `sum(range(10**12))`, nothing but its own end can end.
"""

import ctypes
import gc
import inspect
import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from types import FrameType
from typing import Any

AGAIN_S = 0.05
LOST_S = 1.0  # after which what was raised outside of a learner's code did not arrive
WALL_FACTOR = 3  # so much longer may one take that sleeps, or on a busy machine


class TimeUp(BaseException):
    """The time is over. Not an `Exception`, so that `except Exception` lets it pass."""


def guarded(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function whose frames, and those below, are a learner's."""
    return function(*args, **kwargs)


def computed_s(function: Callable[..., Any]) -> float:
    """Return the seconds computed so far: in this thread, or where a function is."""
    there = getattr(inspect.unwrap(function), "computed_s", time.thread_time)
    return float(there())


def time_limit(seconds: float) -> AbstractContextManager[None]:
    """Raise `TimeUp` in the block after `seconds` of computing time."""
    cpu, wall = time.process_time(), time.monotonic()

    def over() -> bool:
        waited = time.monotonic() - wall
        return time.process_time() - cpu >= seconds or waited >= seconds * WALL_FACTOR

    on_main = threading.current_thread() is threading.main_thread()
    alarm = on_main and hasattr(signal, "setitimer")
    return _alarm(seconds, over) if alarm else _watchdog(over)


@contextmanager
def _alarm(seconds: float, over: Callable[[], bool]) -> Iterator[None]:
    running, rung = True, -math.inf

    def again(frame: FrameType, event: str, argument: object) -> Any:
        if event == "line" and running:
            raise TimeUp(f"not finished after {seconds:g} seconds")
        return again

    def ring(number: int, frame: FrameType | None) -> None:
        nonlocal rung
        if not (running and over()) or _in_a_collection(frame):
            return
        frames = _learners_frames(frame)
        if frames:
            # `while True: try: … except: pass` swallows what is raised in its `try`.
            # The handler stands outside of it: there the first line raises again.
            # Python stops tracing then, so each alarm leaves one such handler.
            sys.settrace(lambda frame, event, argument: None)
            for found in frames:
                found.f_trace = again
        now = time.monotonic()
        if frames or now > rung + LOST_S:  # let it pass through the test's frames
            rung = now
            raise TimeUp(f"not finished after {seconds:g} seconds")

    traced = sys.gettrace()
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_S)
    try:
        yield
    finally:
        running = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        sys.settrace(traced)


def _in_a_collection(frame: FrameType | None) -> bool:
    """Return whether garbage is collected: what a callback raises there is lost."""
    callbacks = [getattr(each, "__code__", None) for each in gc.callbacks]
    while frame and frame.f_code not in callbacks:
        frame = frame.f_back
    return frame is not None


def _learners_frames(frame: FrameType | None) -> list[FrameType]:
    """Return the frames from `guarded` on; none when no learner's code is running."""
    frames: list[FrameType] = []
    while frame and frame.f_code is not guarded.__code__:
        frames.append(frame)
        frame = frame.f_back
    return frames if frame else []


@contextmanager
def _watchdog(over: Callable[[], bool]) -> Iterator[None]:
    ident, done = threading.get_ident(), threading.Event()

    def watch() -> None:
        while not done.wait(AGAIN_S):
            if over():
                raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
                raise_in(ctypes.c_ulong(ident), ctypes.py_object(TimeUp))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        # One that is still on its way arrives while we wait. Taking it back instead
        # (with None) leaves CPython 3.11 in an endless loop as soon as it traces.
        while watcher.is_alive():
            with suppress(TimeUp):
                watcher.join()
