"""The events of one LangChain run, in order: what encloses what, what still waits.

`RunEvents` keeps which run is around which, finds the tool around a model call, and
holds an agent's text back until its parser has read it. No class of LangChain's here.
"""

import itertools
import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from workbook.loop.turns import parse_turn, to_dict
from workbook.models.base import Emit
from workbook.traces.events import Kind

Fields = Mapping[str, Any]
TEXT: Fields = {"kind": "text"}  # the turn that no parser was to read


class RunningTool(NamedTuple):
    """A tool call that has no observation yet; `exists` is false for a made-up tool."""

    seq: int
    call_id: str
    tool: str
    exists: bool


class RunEvents:
    """Writes the events of one run; from any thread, for parallel tools have their own.

    What is noted of an event stands before it is written, for who hears of it may stop
    the run with a KeyboardInterrupt. Any other exception says that it was not written.
    """

    def __init__(self, emit: Emit, engine: str, tools: Sequence[str]) -> None:
        self._emit, self._engine, self._tools = emit, engine, list(tools)
        self._lock = threading.RLock()
        self._written: set[Kind] = set()  # the two ends of a run
        self._above: dict[UUID, UUID | None] = {}  # run id to the run around it
        self._running: dict[UUID, RunningTool] = {}  # tools, by run id
        self._requested: list[Fields] = []  # function calls not seen to run
        self._unread: Fields | None = None  # a turn that waits for its parser
        self._ids: set[str] = set()
        self._made_up = (f"call_{number}" for number in itertools.count(1))

    def begin(self, question: str) -> None:
        """Write `run_started`, once."""
        about = {"engine": self._engine, "question": question, "tools": self._tools}
        self._once(Kind.RUN_STARTED, **about)

    def finish(
        self, state: str, reason: str, answer: str | None = None, **extra: Any
    ) -> None:
        """Write `run_finished`, once."""
        with self._lock:
            self.parsed(None)
            end = {"state": state, "reason": reason, "answer": answer}
            self._once(Kind.RUN_FINISHED, **end, **extra)

    def _once(self, kind: Kind, **fields: Any) -> None:
        if kind not in self._written:
            self._written.add(kind)
            try:
                self._emit(kind, **fields)
            except Exception:
                self._written.remove(kind)
                raise

    def enter(self, run_id: UUID, around: UUID | None) -> None:
        """Note which run is around this one."""
        self._above[run_id] = around

    def request(self, run_id: UUID, prompt: str | list[Any], stop: list[str]) -> None:
        """Write what the model is asked; a turn that still waits had no parser."""
        with self._lock:
            self.parsed(TEXT)
            inside = self._inside(run_id)
            self._emit(Kind.MODEL_REQUEST, prompt=prompt, stop=stop, **inside)

    def turn(self, run_id: UUID, fields: Fields) -> None:
        """Write what the model answered; an agent's text waits until it is parsed."""
        with self._lock:
            inside = self._inside(run_id)
            self._requested += fields["turn"].get("calls", ())
            if fields["turn"] == TEXT and not inside:
                self._unread = fields
            else:
                self._emit(Kind.MODEL_TURN, **fields, **inside)

    def parsed(self, turn: Fields | None) -> None:
        """Write the turn that waits; None says that the framework could not read it."""
        with self._lock:
            if self._unread is not None:
                fields, self._unread = self._unread, None
                if turn is None:
                    text = fields["text"]
                    reason = to_dict(parse_turn(text)).get("reason", "refused")
                    turn = {"kind": "malformed", "reason": reason, "text": text}
                self._emit(Kind.MODEL_TURN, **{**fields, "turn": turn})

    def call(
        self, run_id: UUID, tool: str, args: Fields, call_id: str | None, exists: bool
    ) -> None:
        """Write that a tool is called, under an id that no other call has."""
        with self._lock:
            self.parsed(TEXT)
            for asked in self._requested:
                if (asked["call_id"], asked["tool"]) == (call_id, tool):
                    self._requested.remove(asked)
                    break
            own = self._own_id(call_id)
            inside = self._inside(self._above.get(run_id))
            self._running[run_id] = call = RunningTool(-1, own, tool, exists)
            about = {"call_id": own, "tool": tool, "arguments": args}
            try:
                seq = self._emit(Kind.TOOL_CALL, **about, **inside)
            except Exception:
                del self._running[run_id]
                raise
            self._running[run_id] = call._replace(seq=seq)

    def give_up(self, error: BaseException) -> None:
        """Write what was raised for each tool that has no observation."""
        for run_id in list(self._running):
            self.failed(run_id, error)

    def failed(self, run_id: UUID, error: BaseException) -> None:
        """Write what a tool raised for its observation."""
        name = type(error).__name__
        self.observe(run_id, False, str(error) or name, error=name)

    def observe(self, run_id: UUID, ok: bool, text: str, **extra: Any) -> None:
        """Write what came of a call; any other run is passed over."""
        with self._lock:
            call = self._running.pop(run_id, None)
            if call is None:
                return
            inside = self._inside(self._above.get(run_id))
            about = {"call_id": call.call_id, "tool": call.tool, "text": text}
            try:
                ok = ok and call.exists
                self._emit(Kind.OBSERVATION, **about, ok=ok, **inside, **extra)
            except Exception:
                self._running[run_id] = call
                raise

    def answered(self, call_id: str, ok: bool, text: str) -> None:
        """Write a function call that was answered although no tool has run."""
        with self._lock:
            for asked in self._requested:
                if asked["call_id"] == call_id:
                    run_id = uuid4()
                    self.call(run_id, asked["tool"], asked["arguments"], call_id, True)
                    self.observe(run_id, ok, text)
                    return

    def _own_id(self, call_id: str | None) -> str:
        """Return the id, numbered where another call, or a first try, has it."""
        again = (f"{call_id}#{number}" for number in itertools.count(2))
        ids = itertools.chain([call_id], again) if call_id else self._made_up
        own = next(each for each in ids if each not in self._ids)
        self._ids.add(own)
        return own

    def _inside(self, run_id: UUID | None) -> dict[str, int]:
        """Return `parent`, where a tool is running around this run."""
        while run_id is not None:
            if run_id in self._running:
                return {"parent": self._running[run_id].seq}
            run_id = self._above.get(run_id)
        return {}
