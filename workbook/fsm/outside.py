"""All that a run does not decide itself, and how it hears that it is to stop.

Model, tools, person, clock, hook and cancel are behind one protocol, `Outside`. `Live`
asks the real ones; `workbook.traces.recording.Recorded` answers as a trace has it. So a
replay is the same run with another outside, and nothing else in it differs.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, Protocol, TypeVar

from workbook.fsm.table import Event
from workbook.models.base import Completion, Emit
from workbook.tools.calls import Observation, ToolCall
from workbook.tools.threads import call_with_timeout
from workbook.traces.events import TraceEvent

T = TypeVar("T")
Make = Callable[[ToolCall], Observation]


class Outside(Protocol):
    """What a run asks, and whom it tells; each answer is live, or from a record."""

    @property
    def trace_id(self) -> str: ...
    def complete(self, ask: Callable[[], Completion]) -> Completion: ...  # the model
    def make(self, call: ToolCall) -> Observation: ...  # the tools
    def consult(self, request: Any) -> Any: ...  # a person; None: nobody answers now
    def now(self) -> float: ...  # seconds, from any origin
    def stopped(self) -> bool: ...  # the user has said stop
    def done(self) -> object: ...  # the run is over: a stop was for this one
    def tell(self, kind: str, /, **fields: Any) -> object: ...  # the hook
    def coming(self) -> TraceEvent | None: ...  # a record's next event; None: live


@dataclass(slots=True)
class Live:
    """The real ones. `complete` and `consult` may be others, such as a test's."""

    make: Make
    tell: Emit
    now: Callable[[], float]
    stopped: Callable[[], bool]
    done: Callable[[], object]
    trace_id: str
    may_repeat: Callable[[ToolCall], bool] = lambda call: True  # if its answer is lost
    consult: Callable[[Any], Any] = lambda request: None
    complete: Callable[[Callable[[], Completion]], Completion] = lambda ask: ask()

    def coming(self) -> TraceEvent | None:
        return None


class Signals:
    """What a run hears while it works: stop, Ctrl-C, a hook that fails.

    A hook may fail: a full disk, a widget with a bug. Then the run ends in ERROR, and
    the hook is still told how it ended, so that a trace is complete wherever it can be.
    """

    def __init__(self, outside: Outside) -> None:
        self.outside = outside
        self.interrupted = False  # by Ctrl-C, or by the hook
        self.broken: BaseException | None = None  # what the hook raised first
        self.in_flight = False  # a model, a tool or a person is at work
        self.writes = False  # a piece of the turn has come: it stops at the next one

    def emit(self, kind: str, fields: dict[str, Any], may_raise: bool = True) -> None:
        """Tell the hook, and keep the first thing that it raises: `stop` raises it too.

        A hook that raises KeyboardInterrupt says stop: a call that was begun is not
        made, and the run ends at its next transition.
        """
        try:
            self.outside.tell(kind, **fields)
        except KeyboardInterrupt:
            self.interrupted = True
        except BaseException as error:
            self.broken = self.broken or error
            if may_raise:
                raise

    def stop(self) -> str | None:
        """Return CANCEL once the user has said so; raise what the hook raised."""
        if self.broken is not None:
            raise self.broken
        stopped = self.interrupted or self.outside.stopped()
        return Event.CANCEL if stopped else None

    def wait_for(self, call: Callable[[], T], limit_s: float | None = None) -> T:
        """Return what a model, a tool or a person answers.

        Raises:
            TimedOut: not in time; what it still does is not waited for.
            KeyboardInterrupt: the user does not want to wait.
        """
        self.in_flight = True
        try:
            answer: T = call_with_timeout(call, {}, limit_s)
            return answer
        finally:
            self.in_flight = self.writes = False

    def hearing(self, on_text: Callable[[str], object]) -> Callable[[str], bool]:
        """Return what a model tells the pieces of its turn; True is: write no more."""

        def hear(piece: str) -> bool:
            if self.in_flight:
                self.writes = True
                on_text(piece)
            stopped = self.interrupted or self.outside.stopped()
            return stopped or not self.in_flight

        return hear

    @contextmanager
    def ctrl_c_is_cancel(self) -> Iterator[None]:
        """Take the first Ctrl-C of a run for a cancel; the second is Python's own.

        Between two steps it waits for the next, so that no call loses its observation.
        A call in flight is given up, but a model that is writing stops at its next
        piece. Python tells the main thread alone of signals.
        """
        in_main = threading.current_thread() is threading.main_thread()
        before = signal.getsignal(signal.SIGINT) if in_main else None

        def stop(number: int, frame: FrameType | None) -> None:
            signal.signal(signal.SIGINT, before)
            self.interrupted = True  # no Event: its lock may be held just now
            if self.in_flight and not self.writes:
                raise KeyboardInterrupt

        if callable(before):
            signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            if callable(before):
                signal.signal(signal.SIGINT, before)
            self.outside.done()
