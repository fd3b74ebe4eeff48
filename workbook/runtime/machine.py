"""The machine: a table with its guards' rows, the work of its states, a driver."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

from .budget import Limits, Spent, check_budget, limits_of
from .calls import Observation, ToolCall, recordable
from .guard import Guard, Handler
from .journal import Journal, in_words
from .ledger import Once
from .messages import CHAT_PREAMBLE, TEXT_PREAMBLE, Part, shown
from .model import Response
from .run import HANDLERS, Run, think
from .table import CORE, Event, State, Table, Transition, drive
from .tools import Tool, ToolRegistry, to_openai
from .trace import ENVELOPE, Trace
from .trace import Event as TraceEvent
from .waiting import CANCEL

BYTES_PER_TOKEN = 3  # where a model cannot count: an estimate, and no ceiling
RESUMED = ("SUSPENDED", State.EXHAUSTED, State.CANCELLED, State.ERROR)
"""The states from which a run can go on."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended."""

    state: str  # one of the table's ends
    reason: str  # the event that led there
    answer: str | None  # the model's when the run is DONE, otherwise None
    message: str  # the reason in words; in ERROR, what was raised
    run: Run

    @property
    def spent(self) -> Spent:
        """What the run has used up."""
        return self.run.spent

    @property
    def trace(self) -> Trace:
        """The events of the run."""
        return self.run.journal.trace()


class Machine:
    """A model, its tools and its guards, and the table that says what may follow what.

    ValueError: a table that cannot be run, or a budget that nothing keeps.
    """

    def __init__(
        self,
        model: Any,  # has `respond(request)`; see `model.Model`
        tools: Iterable[Tool],
        guards: Sequence[Guard] | None = None,  # asked in this order
        *,
        limits: Limits = Limits(),  # noqa: B008 - frozen; a budget guard has its own
        chat: bool = False,  # the model calls functions; otherwise it writes steps
        parts: Mapping[str, Callable[..., Any]] | None = None,  # yours, by our names
        table: Table | None = None,  # None: `agent_table()`
        handlers: Mapping[str, Handler] | None = None,  # the work of your states
        preamble: str | None = None,  # before the question; None: the usual one
        make: Callable[..., Observation] | None = None,  # None: `Once`, in memory
        on_text: Callable[[str], object] | None = None,  # gets the pieces of a turn
        parallel: bool = False,  # READs of one turn are made at once
    ) -> None:
        self.model, self.chat, self.parts = model, chat, parts or {}
        own: Any = {n: self.parts.get(f"{n}_arguments") for n in ("validate", "repair")}
        there = isinstance(tools, ToolRegistry)
        self.tools: Any = tools if there else ToolRegistry(tools, **own)
        self.guards, self.make = [*(guards or ())], make or Once()
        self.on_text, self.parallel = on_text, parallel
        self.preamble, self.about = preamble, dict[str, Any]()  # more of run_started
        self.schemas = [to_openai(tool) for tool in self.tools] if chat else []
        self.schemas_size = self._size(json.dumps(self.schemas)) if self.schemas else 0
        self.prefill_size = self._size(getattr(model, "prefill", ""))
        self.settings = {"limits": limits.to_dict()} | {
            guard.name: dict(guard.settings) for guard in self.guards if guard.settings
        }
        check_budget(limits_of(self.settings["limits"]), model, self.guards)
        self.running: Run | None = None
        self.is_cancelled = False  # before it began
        self.listener: Callable[[TraceEvent], object] | None = None
        self._lay_out(table, handlers or {})

    def _lay_out(self, table: Table | None, handlers: Mapping[str, Handler]) -> None:
        table = table or self.parts.get("agent_table", lambda: CORE)()
        work: dict[str, Handler] = {**HANDLERS}
        for guard in self.guards:
            table = table.with_rules(*guard.rows, ends=guard.ends)
            work |= guard.work
        own = {n: self.parts[n] for n in ("advance", "audit") if n in self.parts}
        self.table = table = table.using(**own)
        work |= {State.THINK: self.parts.get("think", think), **handlers}
        self.handlers = {state: self._guarded(state, work[state]) for state in work}
        wrong, exits = [*table.audit()], (Event.CANCEL, Event.FAILED)
        if table.start in table.ends:
            wrong.append(f"it starts in {table.start}, which is an end")
        live = [state for state in table.states if state not in table.ends]
        wrong += [f"{state} has no handler" for state in live if state not in work]
        for state, event in product(live, exits):
            row = table.rows.get((state, event))
            if row is None or row.target not in table.ends:
                wrong.append(f"{state} needs a row for {event} that leads to an end")
        if wrong:
            raise ValueError(f"this table cannot be run: {'; '.join(wrong)}")

    def __repr__(self) -> str:
        names = ", ".join(tool.name for tool in self.tools) or "no tools"
        return f"<machine with {names}, on {self.model!r}>"

    def _size(self, text: str) -> int:
        part = {"role": "system", "text": text}
        return self.count(part, chat=False) if text else 0

    def count(self, part: Part, chat: bool) -> int:
        """Return how many tokens a part has: the model's count, or an estimate."""
        text = shown(part, chat)
        if count := getattr(self.model, "count", None):
            return int(count(text))
        return -(-len(text.encode(errors="replace")) // BYTES_PER_TOKEN)

    def ask_guards(self, state: str, run: Run) -> str | None:
        """Return the first event of a guard before the work of a state, or None."""
        for guard in self.guards:
            ask = guard.ask.get(state)
            if ask and (event := ask(run)) is not None:
                return event
        return None

    def _guarded(self, state: str, handler: Handler) -> Handler:
        has_guards = any(state in guard.ask for guard in self.guards)

        def work(run: Run) -> str:
            if run.journal.signals:
                run.journal.take_signals()
            if run.cancelled:
                return Event.CANCEL
            if run.held is not None and state == State.EXECUTE_TOOL:
                held, run.held = run.held, None
                return held
            if run.later and not (run.waiting or run.unread):
                run.parts += run.later
                run.later = []
            return (has_guards and self.ask_guards(state, run)) or handler(run)

        return work

    def run(
        self,
        question: str = "",
        path: Path | str | None = None,
        history: Sequence[Part] = (),
        *,
        journal: Journal | None = None,
    ) -> RunResult:
        """Work on a question until an end is reached, or a person is waited for.

        `history` are parts of an earlier run. TraceError: the journal cannot be used.
        """
        journal = journal or Journal(path, listener=self.listener)
        started = recordable(self._start(question, history))
        try:
            started = journal.receive("run_started", lambda: started)
        except Exception:
            if journal.broken is None:  # a disk that is full ends the run in ERROR
                raise
        try:
            if journal.is_replay and not journal.may_differ:
                before = started.get("before", ())  # it may be another engine's
                now = started | recordable(self._start(started["question"], before))
                if any(
                    now[n] != started.get(n) for n in ("chat", "settings", "before")
                ):
                    journal.seq = 0
                    journal.diverge(journal.record[0], journal.record[0] | now)
            run = self.running = Run(self, journal, started)
            if self.is_cancelled and not journal.is_replay:
                self.is_cancelled = False
                journal.signals.append(CANCEL)
            with run.in_flight.ctrl_c_is_cancel():
                self._run(run)
        finally:
            self.running = None
            journal.close()
        last = run.last
        answer = run.answer if last.target == State.DONE else None
        return RunResult(last.target, last.event, answer, run.message, run)

    def _run(self, run: Run) -> None:
        table, journal, moved = self.table, run.journal, partial(self._moved, run)
        while True:
            run.last = Transition("", "", table.start)
            try:
                self.parts.get("drive", drive)(table, self.handlers, run, moved)
                if run.last.target not in table.ends:
                    words = f"drive ended in {run.last.target}, which is no end"
                    raise LookupError(words)
            except BaseException as error:
                if not journal.diverged and run.last.target not in table.ends:
                    stopped = isinstance(error, KeyboardInterrupt)
                    event = Event.CANCEL if stopped else Event.FAILED
                    moved(table.rows[run.last.target, event], error)
            state = run.last.target
            goes_on = journal.just_resumed and state in RESUMED
            if state != "SUSPENDED" and not goes_on:  # or it died before its end
                self._emit_end(run)
                goes_on = journal.just_resumed and run.last.target in RESUMED
            if not goes_on:
                return
            start = State.OBSERVE if run.unread else run.last.source
            table = replace(self.table, start=start)

    def _moved(self, run: Run, row: Transition, raised: BaseException | None) -> None:
        run.last, run.message = row, row.why
        about: dict[str, Any] = row._asdict()
        if raised is not None and row.event == Event.FAILED:
            run.message = in_words(raised)
        if run.call is not None:
            about |= {"tool": run.call.name, "call_id": run.call.call_id}
        if not (run.waiting or run.unread):
            run.call = None
        run.journal.emit("transition", **about)

    def _start(self, question: str, history: Sequence[Part]) -> dict[str, Any]:
        before = [part for part in history if part["role"] != "system"]
        preamble = self.preamble
        if preamble is None:
            in_text = TEXT_PREAMBLE.format(tools=self.tools.describe())
            preamble = CHAT_PREAMBLE if self.chat else in_text
        if preamble:
            before = [{"role": "system", "text": preamble}, *before]
        about = {"engine": "fsm", "question": question, "chat": self.chat}
        about |= {"tools": [tool.name for tool in self.tools]}
        about |= {"settings": self.settings, "before": before}
        return about | self.about

    def _emit_end(self, run: Run) -> None:
        last, spent = run.last, run.elapsed()
        end: dict[str, Any] = {"state": last.target, "reason": last.event}
        end["answer"] = run.answer if last.target == State.DONE else None
        used = asdict(spent) | {"wall_s": round(spent.wall_s, 6)}
        end |= {"message": run.message, "spent": used}
        end |= {"forced": True} if run.forced else {}
        with suppress(Exception):  # the journal keeps what it was
            run.journal.emit("run_finished", **end)
        if (broken := run.journal.broken) and not run.journal.has_end:
            run.last = Transition(last.source, Event.FAILED, State.ERROR)
            run.message = in_words(broken)

    def cancel(self) -> None:
        """End the run: from any thread, before it began, or while a call hangs."""
        if (run := self.running) is None:
            self.is_cancelled = True
        else:
            run.in_flight.cancel()

    def again(
        self,
        say: Callable[[], Response],
        observe: Callable[[ToolCall], Observation],
        tell: Callable[..., object],
    ) -> Self:
        """Return a copy with your functions as model and tools; `tell` gets events."""

        def listener(event: TraceEvent) -> None:
            fields = {n: v for n, v in event.items() if n not in ENVELOPE}
            tell(event["kind"], **fields)

        again, model = copy(self), SimpleNamespace(respond=lambda request: say())
        model.count = getattr(self.model, "count", None)
        model.at_once = getattr(self.model, "at_once", False)
        again.model = model
        again.make = lambda run, call, wait: observe(call)
        again.listener, again.on_text, again.is_cancelled = listener, None, False
        return again
