"""Ctrl-C, while a run lasts."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from workbook.fsm.run import Run


@contextmanager
def ctrl_c_is_cancel(run: Run) -> Iterator[None]:
    """Take the first Ctrl-C of a run for a cancel; the second one is Python's own.

    Between two steps it waits for the next, so that no call loses its observation. A
    call in flight is given up, but a model that is writing stops at its next piece.
    Python tells the main thread alone of signals.
    """
    in_main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT) if in_main else None

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        run.interrupted = True  # no Event: its lock may be held just now
        if run.in_flight and not run.writes:
            raise KeyboardInterrupt

    if callable(before):
        signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        if callable(before):
            signal.signal(signal.SIGINT, before)
        run.cancelled.clear()
