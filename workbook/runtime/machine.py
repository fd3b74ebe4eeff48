"""The machine: a table with its guards' rows, the work of its states, a driver."""

import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

from .budget import Limits, Spent, check_budget, limits_of
from .calls import Observation, ToolCall, recordable
from .guard import Guard, Handler
from .journal import Journal, in_words
from .ledger import Make, Once
from .messages import CHAT_PREAMBLE, TEXT_PREAMBLE, Part, shown
from .model import Response
from .run import HANDLERS, Run, think
from .table import CORE, Event, State, Table, Transition, drive
from .tools import Tool, ToolRegistry, to_openai
from .trace import ENVELOPE, Trace
from .trace import Event as TraceEvent

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
        make: Make | None = None,  # makes a call; None: once, by a ledger in memory
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
        self.at_once = getattr(model, "at_once", False)
        self.streams = getattr(model, "streams", False)
        self.schemas = [to_openai(tool) for tool in self.tools] if chat else []
        self.schemas_size = self._size(json.dumps(self.schemas)) if chat else 0
        self.prefill_size = self._size(getattr(model, "prefill", ""))
        self.settings = {"limits": limits.to_dict()} | {
            guard.name: dict(guard.settings) for guard in self.guards if guard.settings
        }
        check_budget(limits_of(self.settings["limits"]), model, self.guards)
        self.running: Run | None = None
        self.early = deque[TraceEvent]()  # signals before a run
        self.listener: Callable[[TraceEvent], object] | None = None
        self._lay_out(table, handlers or {})

    def _lay_out(self, table: Table | None, handlers: Mapping[str, Handler]) -> None:
        table = table or self.parts.get("agent_table", lambda: CORE)()
        work: dict[str, Handler] = {**HANDLERS}
        for guard in self.guards:
            table = table.with_rules(*guard.rows, ends=guard.ends)
            work |= guard.work
        own = {n: self.parts[n] for n in ("advance", "audit") if n in self.parts}
        self.table = table.using(**own)
        work |= {State.THINK: self.parts.get("think", think), **handlers}
        self.asks = {
            state: [guard.ask[state] for guard in self.guards if state in guard.ask]
            for state in work
        }
        self.handlers = {state: self._guarded(state, work[state]) for state in work}
        if breaches := [*self.table.audit(), *self._gaps()]:
            raise ValueError(f"this table cannot be run: {'; '.join(breaches)}")

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
        for ask in self.asks.get(state, ()):
            if (event := ask(run)) is not None:
                return event
        return None

    def _guarded(self, state: str, handler: Handler) -> Handler:
        def work(run: Run) -> str:
            if run.journal.signals:
                run.journal.take_signals()
            if run.cancelled:
                return Event.CANCEL
            if run.held is not None and state == State.EXECUTE_TOOL:
                held, run.held = run.held, None
                return held
            return self.ask_guards(state, run) or handler(run)

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
            if journal.is_replay:
                self._compare(journal, started)
            run = self.running = Run(self, journal, started)
            if not journal.is_replay:
                journal.signals.extend(self.early)
                self.early.clear()
            with run.in_flight.ctrl_c_is_cancel():
                self._run(run)
        finally:
            self.running = None
            journal.close()
        last = run.last
        answer = run.answer if last.target == State.DONE else None
        return RunResult(last.target, last.event, answer, run.message, run)

    def _run(self, run: Run) -> None:
        table, journal = self.table, run.journal
        while True:
            self._follow(table, run)
            state = run.last.target
            goes_on = journal.just_resumed and state in RESUMED
            if state != "SUSPENDED" and not goes_on:  # or it died before its end
                self._emit_end(run)
                goes_on = journal.just_resumed and state in RESUMED
            if not goes_on:
                return
            start = State.OBSERVE if run.unread else run.last.source
            table = replace(self.table, start=start)

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

    def _compare(self, journal: Journal, started: TraceEvent) -> None:
        if journal.may_differ:
            return
        before = started.get("before", ())  # the record may be another engine's
        now = started | recordable(self._start(started["question"], before))
        same = ("chat", "settings", "before")
        if any(now[name] != started.get(name) for name in same):
            journal.seq = 0
            journal.diverge(journal.record[0], journal.record[0] | now)

    def _follow(self, table: Table, run: Run) -> None:
        run.last = Transition("", "", table.start)

        def moved(row: Transition, raised: BaseException | None) -> None:
            run.last, run.message = row, row.why
            about = {"source": row.source, "event": row.event}
            about |= {"target": row.target, "why": row.why}
            if raised is not None and row.event == Event.FAILED:
                run.message = in_words(raised)
            if run.call is not None:
                about |= {"tool": run.call.name, "call_id": run.call.call_id}
            if not (run.waiting or run.unread):
                run.call = None
            run.journal.emit("transition", **about)

        try:
            self.parts.get("drive", drive)(table, self.handlers, run, moved)
            if run.last.target not in table.ends:
                raise LookupError(f"drive ended in {run.last.target}, which is no end")
        except BaseException as error:
            if not run.journal.diverged and run.last.target not in table.ends:
                stopped = isinstance(error, KeyboardInterrupt)
                event = Event.CANCEL if stopped else Event.FAILED
                moved(self.table.rows[run.last.target, event], error)

    def _emit_end(self, run: Run) -> None:
        last, spent = run.last, run.elapsed()
        used: dict[str, Any] = {"steps": spent.steps, "tool_calls": spent.tool_calls}
        used |= {"wall_s": round(spent.wall_s, 6), "usage": spent.usage.to_dict()}
        end: dict[str, Any] = {"state": last.target, "reason": last.event}
        end["answer"] = run.answer if last.target == State.DONE else None
        end |= {"message": run.message, "spent": used}
        end |= {"forced": True} if run.forced else {}
        with suppress(Exception):  # the journal keeps what it was
            run.journal.emit("run_finished", **end)
        if (broken := run.journal.broken) and not run.journal.has_end:
            run.last = Transition(last.source, Event.FAILED, State.ERROR)
            run.message = in_words(broken)

    def signal(self, what: str, **fields: Any) -> None:
        """Signal something to the run: it acts on it between two states."""
        run = self.running
        (run.journal.signals if run else self.early).append({"what": what, **fields})

    def cancel(self) -> None:
        """End the run: from any thread, before it began, or while a call hangs."""
        if (run := self.running) is None:
            self.signal("cancel")
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
        if count := getattr(self.model, "count", None):
            model.count = count
        again.model, again.make = model, _Observed(observe)
        again.listener, again.on_text, again.early = listener, None, deque()
        return again

    def _gaps(self) -> list[str]:
        ends, rows = self.table.ends, self.table.rows
        if self.table.start in ends:
            return [f"it starts in {self.table.start}, which is an end"]
        live = [state for state in self.table.states if state not in ends]
        gaps = [f"{s} has no handler" for s in live if s not in self.handlers]
        for key in ((s, event) for s in live for event in (Event.CANCEL, Event.FAILED)):
            if key not in rows or rows[key].target not in ends:
                gaps.append("{} needs a row for {} that leads to an end".format(*key))
        return gaps


class _Observed(Make):
    """Makes no call: a function supplies what comes of it."""

    def __init__(self, observe: Callable[[ToolCall], Observation]) -> None:
        self.observe = observe

    def __call__(self, run: Run, call: ToolCall, wait: Any) -> Observation:
        return self.observe(call)
