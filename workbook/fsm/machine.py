"""The driver, and the machine around it.

A handler does the work of one state and returns an event; the table says where that
leads. More states are rows in the table and handlers in a dict: nothing here changes.
The machine tells a hook what happens and knows no file format.
"""

from __future__ import annotations

import threading
import time
import traceback
import uuid
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeVar

from workbook.fsm.adapters import FunctionCalls, TextTurns
from workbook.fsm.handlers import HANDLERS, Handler, refuse_the_rest, stoppable
from workbook.fsm.limits import Limits, Spent
from workbook.fsm.outside import Live, Make, Outside, Signals
from workbook.fsm.reading import Conversation
from workbook.fsm.run import Parallel, Run, RunOptions
from workbook.fsm.table import CORE, Event, State, Table, Transition
from workbook.models.base import ChatModel, Completion, Emit, TextModel, ignore, streams
from workbook.tools.calls import Effect
from workbook.tools.registry import ToolRegistry
from workbook.traces.replay import resume

C = TypeVar("C")


def drive(
    table: Table,
    handlers: Mapping[str, Callable[[C], str]],
    context: C,
    emit: Callable[[Transition, BaseException | None], object],
) -> str:
    """Ask the state's handler what happened, advance, tell; until an end is reached.

    A handler that raises, or returns what has no row, has FAILED; KeyboardInterrupt is
    CANCEL. So a run ends in an end, whatever the handlers do, if only one of them leads
    there.

    Args:
        table: has a row for FAILED and for CANCEL in every live state. Any words do.
        handlers: by live state; each gets `context` and returns an event.
        context: what the handlers share.
        emit: told the row that was taken, and what was raised.
    """
    state = table.start
    while state not in table.ends:
        raised: BaseException | None = None
        try:
            event = handlers[state](context)
            target = table.advance(state, event)
        except BaseException as error:
            stopped = isinstance(error, KeyboardInterrupt)
            event, raised = Event.CANCEL if stopped else Event.FAILED, error
            target = table.advance(state, event)
        rule, state = table.rows[state, event]._replace(target=target), target
        emit(rule, raised)
    return state


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended."""

    state: str  # one of the table's ends
    reason: str  # the event that led there
    answer: str | None  # the model's when the run is DONE, otherwise None
    spent: Spent
    trace_id: str  # the hook's, or one of its own
    message: str = ""  # the reason in words; in ERROR, what was raised
    forced: bool = False  # the tools were withdrawn, and an answer was asked for


class Machine:
    """A model, its tools, and the table that says what may follow what.

    Args:
        model: a text model or a chat model.
        tools: what it may call.
        table: the rows; its audit must be clean.
        limits: the most that a run may spend.
        handlers: more handlers, or other ones, by live state.
        adapter: how to talk with the model: `TextTurns`, `FunctionCalls`, or a
            callable like them. None takes text turns where the model can do both.
        hook: told what happens, as trace events; a `TraceWriter`, for instance.
        clock: seconds, from any origin; it never goes back.
        preamble: what stands before the question; None is the adapter's own.
        drive: what follows the table.
        on_text: told each piece of a turn as it is written, by a model that says them.
            Such a model stops in the middle of its turn when the run is cancelled.
        parallel: makes the READ calls of one turn at once: `run_in_parallel`.
        about: what else the trace is told as a run begins, such as a seed.

    A table needs, besides a clean audit: a start that is no end; for each live state a
    handler, and rows for CANCEL and FAILED that lead to an end. The answer is the run's
    where it ends in DONE.

    Raises:
        ValueError: a table that lacks any of that; says what.
    """

    def __init__(
        self,
        model: TextModel | ChatModel,
        tools: ToolRegistry,
        table: Table = CORE,
        *,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        handlers: Mapping[str, Handler] | None = None,
        adapter: Callable[..., Conversation] | None = None,
        hook: Emit = ignore,
        clock: Callable[[], float] = time.perf_counter,
        preamble: str | None = None,
        drive: Callable[..., str] = drive,
        on_text: Callable[[str], object] | None = None,
        parallel: Parallel | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        self.model, self.tools, self.table, self.limits = model, tools, table, limits
        self.handlers = {**HANDLERS, **(handlers or {})}
        either = TextTurns if hasattr(model, "complete") else FunctionCalls
        self.adapter: Callable[..., Conversation] = adapter or either
        self.hook, self.clock, self.preamble = hook, clock, preamble
        self.drive, self._cancelled = drive, threading.Event()
        self.on_text, self.parallel = on_text, parallel
        self.about = dict(about or {})
        self._outside: Outside | None = None  # in place of `live`
        if breaches := [*table.audit(), *self._gaps()]:
            raise ValueError(f"this table cannot be run: {'; '.join(breaches)}")

    def __repr__(self) -> str:
        names = ", ".join(tool.name for tool in self.tools)
        return f"<machine with {names or 'no tools'}, on {self.model!r}>"

    def run(self, question: str, outside: Outside | None = None) -> RunResult:
        """Work on the question until an end is reached; raises nothing on the way.

        Args:
            outside: what a run does not decide itself; None is `live`.
        """
        outside = outside or self._outside or self.live()
        talk = self.adapter(self.model, self.tools, question, self.preamble)
        run = Run(question, talk, self._options(), Signals(outside))
        with run.signals.ctrl_c_is_cancel():
            run.tell("run_started", **self._about(run))
            return self._finish(run, *self._drive(run))

    def live(self, trace_id: str | None = None) -> Live:
        """Return this machine's own tools, hook, clock and cancel.

        Args:
            trace_id: the run's; None is the hook's, or a new one.
        """
        of_hook: str = getattr(self.hook, "trace_id", uuid.uuid4().hex[:12])
        return Live(
            make=self.tools.run,
            tell=self.hook,
            now=self.clock,
            stopped=self._cancelled.is_set,
            done=self._cancelled.clear,
            trace_id=trace_id or of_hook,
            may_repeat=lambda call: self.tools[call.name].effect is Effect.READ,
        )

    def again(self, say: Callable[[], Completion], observe: Make, tell: Emit) -> Self:
        """Return a copy with its ends in your hands: no model and no tool is called.

        Args:
            say: what the model says next.
            observe: what comes of a call.
            tell: the hook.
        """
        again, live = copy(self), self.live()
        live.complete, live.make, live.tell = lambda ask: say(), observe, tell
        again._outside = live
        return again

    def resume(self, path: Path | str) -> RunResult:
        """Go on with a run that died, from its trace; see `workbook.traces.replay`."""
        return resume(path, self)  # type: ignore[no-any-return]

    def with_limits(self, **changes: Any) -> Self:
        """Return a copy with other limits; TypeError where there is none of a name."""
        again = copy(self)
        again.limits = replace(self.limits, **changes)
        return again

    def cancel(self) -> None:
        """End the run at its next transition; from any thread, also before it began.

        It is for one run at a time: of several at once, any may be the one that ends.
        Ctrl-C does the same in the main thread; no other thread is told of it.
        """
        self._cancelled.set()

    def _options(self) -> RunOptions:
        """Return how a run asks its model and makes its calls."""
        return RunOptions(
            self.tools,
            self.limits,
            parallel=self.parallel,
            at_once=getattr(self.model, "at_once", False),
            on_text=self.on_text if streams(self.model) else None,
        )

    def _about(self, run: Run) -> dict[str, Any]:
        """Return what a trace is told as a run begins."""
        return self.about | {
            "engine": "fsm",
            "question": run.question,
            "tools": [tool.name for tool in self.tools],
            "adapter": type(run.conversation).__name__,
            "limits": self.limits.to_dict(),
        }

    def _drive(self, run: Run) -> tuple[Transition, BaseException | None]:
        """Return the row that led to an end, and what was raised there.

        A driver of somebody else's that leads nowhere has FAILED.
        """
        here, entered_at = self.table.start, run.started_at
        last: tuple[Transition, BaseException | None]

        def told(rule: Transition, raised: BaseException | None) -> None:
            nonlocal here, entered_at, last
            if rule.target not in self.table.states:
                raise LookupError(f"the table has no state {rule.target!r}")
            now = run.now()
            run.moved(rule, raised, now - entered_at)
            here, entered_at, last = rule.target, now, (rule, raised)

        handlers = {state: stoppable(work) for state, work in self.handlers.items()}
        try:
            said = self.drive(self.table, handlers, run, told)
            if here not in self.table.ends:
                raise LookupError(f"drive returned {said!r}, and the run is in {here}")
        except BaseException as error:
            if here not in self.table.ends:
                stopped = isinstance(error, KeyboardInterrupt)
                event = Event.CANCEL if stopped else Event.FAILED
                told(self.table.rows[here, event], error)
        return last

    def _finish(
        self, run: Run, rule: Transition, raised: BaseException | None
    ) -> RunResult:
        """Close the calls that wait, and tell of the end."""
        refuse_the_rest(run, rule.target)
        end = self._exit(run, rule, raised)
        spent = asdict(run.elapsed())
        told: dict[str, Any] = {"state": end.state, "reason": end.reason}
        told |= {"answer": end.answer, "message": end.message, "spent": spent}
        run.tell("run_finished", **told, **({"forced": True} if run.forced else {}))
        return self._exit(run, rule, raised)  # the hook may have failed just now

    def _exit(
        self, run: Run, rule: Transition, raised: BaseException | None
    ) -> RunResult:
        answer = run.answer if rule.target == State.DONE else None
        error = raised if rule.event == Event.FAILED else run.signals.broken
        message = rule.why
        if error is not None:
            message = "".join(traceback.format_exception_only(error)).strip()
        return RunResult(
            state=rule.target,
            reason=rule.event,
            answer=answer,
            spent=run.spent,
            trace_id=run.signals.outside.trace_id,
            message=message,
            forced=run.forced,
        )

    def _gaps(self) -> list[str]:
        """Return what the table lacks to be run, honest as it may be."""
        ends = self.table.ends
        if self.table.start in ends:
            return [f"it starts in {self.table.start}, which is an end"]
        gaps = []
        for state in self.table.states:
            if state in ends:
                continue
            if state not in self.handlers:
                gaps.append(f"{state} has no handler")
            for event in (Event.CANCEL, Event.FAILED):
                row = self.table.rows.get((state, event))
                if row is None or row.target not in ends:
                    gaps.append(f"{state} needs a row for {event} that leads to an end")
        return gaps
