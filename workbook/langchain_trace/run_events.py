"""The events of one LangChain run, in order: what encloses what, what still waits.

LangChain names each run and the run around it. `RunEvents` keeps those names, finds the
tool around a model call, and holds an agent's text back until its parser has read it.
It knows nothing of LangChain's classes.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from workbook.loop.naive import Emit
from workbook.loop.turns import Malformed, parse_turn
from workbook.record.events import Kind

Fields = Mapping[str, Any]
TEXT: Fields = {"kind": "text"}
"""The turn that no parser was to read."""


class Call(NamedTuple):
    """A tool call that has no observation yet; `exists` is false for a made-up tool."""

    seq: int
    call_id: str
    tool: str
    exists: bool


class RunEvents:
    """Writes the events of one run; from any thread, for parallel tools have their own.

    Args:
        emit: gets the events.
        engine: the name that `run_started` carries.
        tools: the tools' names.
    """

    def __init__(self, emit: Emit, engine: str, tools: Sequence[str]) -> None:
        self._emit, self._engine, self._tools = emit, engine, list(tools)
        self._lock = threading.RLock()
        self._begun = self._finished = False
        self._above: dict[UUID, UUID | None] = {}  # run id to the run around it
        self._running: dict[UUID, Call] = {}  # tools, by run id
        self._requested: dict[str, Fields] = {}  # function calls not seen to run
        self._unread: Fields | None = None  # a turn that waits for its parser
        self._numbers = itertools.count(1)

    def begin(self, question: str) -> None:
        """Write `run_started`, once."""
        if not self._begun:
            self._begun = True
            self._emit(
                Kind.RUN_STARTED,
                engine=self._engine,
                question=question,
                tools=self._tools,
            )

    def finish(
        self, state: str, reason: str, answer: str | None = None, **extra: Any
    ) -> None:
        """Write `run_finished`, once."""
        with self._lock:
            if self._finished:
                return
            self.parsed(None)
            self._finished = True
            self._emit(
                Kind.RUN_FINISHED, state=state, reason=reason, answer=answer, **extra
            )

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
            for call in fields["turn"].get("calls", ()):
                self._requested[call["call_id"]] = call
            if fields["turn"] == TEXT and not inside:
                self._unread = fields
            else:
                self._emit(Kind.MODEL_TURN, **fields, **inside)

    def parsed(self, turn: Fields | None) -> None:
        """Write the turn that waits; None says that the framework could not read it."""
        with self._lock:
            if self._unread is not None:
                fields, self._unread = self._unread, None
                turn = turn or unread_as_turn(fields["text"])
                self._emit(Kind.MODEL_TURN, **{**fields, "turn": turn})

    def call(
        self,
        run_id: UUID,
        tool: str,
        arguments: Fields,
        call_id: str | None = None,
        *,
        exists: bool = True,
    ) -> None:
        """Write that a tool is called."""
        with self._lock:
            self.parsed(TEXT)
            call_id = call_id or f"call_{next(self._numbers)}"
            self._requested.pop(call_id, None)
            seq = self._emit(
                Kind.TOOL_CALL,
                call_id=call_id,
                tool=tool,
                arguments=arguments,
                **self._inside(self._above[run_id]),
            )
            self._running[run_id] = Call(seq, call_id, tool, exists)

    def observe(self, run_id: UUID, ok: bool, text: str, **extra: Any) -> None:
        """Write what came of a call; a run that is none of them is passed over."""
        with self._lock:
            call = self._running.pop(run_id, None)
            if call is not None:
                self._emit(
                    Kind.OBSERVATION,
                    call_id=call.call_id,
                    tool=call.tool,
                    ok=ok and call.exists,
                    text=text,
                    **self._inside(self._above[run_id]),
                    **extra,
                )

    def answered(self, call_id: str, ok: bool, text: str) -> None:
        """Write a function call that was answered although no tool has run."""
        with self._lock:
            call = self._requested.pop(call_id, None)
            if call is not None:
                self._emit(Kind.TOOL_CALL, **call)
                about = {"call_id": call_id, "tool": call["tool"]}
                self._emit(Kind.OBSERVATION, **about, ok=ok, text=text)

    def still_running(self) -> list[UUID]:
        """Return the tools that have no observation."""
        return list(self._running)

    def _inside(self, run_id: UUID | None) -> dict[str, int]:
        """Return `parent`, where a tool is running around this run."""
        while run_id is not None:
            if run_id in self._running:
                return {"parent": self._running[run_id].seq}
            run_id = self._above.get(run_id)
        return {}


def unread_as_turn(text: str) -> dict[str, Any]:
    """Return the turn that a framework's parser refused, with our reason if any."""
    ours = parse_turn(text)
    reason = ours.reason.value if isinstance(ours, Malformed) else "refused"
    return {"kind": "malformed", "reason": reason, "text": text}
