"""The state of one run, and the work of its three states: think, execute, observe."""

import math
from collections import deque
from collections.abc import Callable, Mapping
from contextvars import copy_context
from functools import partial
from typing import Any

from .budget import Limits, Spent, limits_of
from .calls import Effect, ErrorKind, Observation, ToolCall, ToolError, ToolFailure
from .journal import Journal
from .messages import STOP, Asked, Part, Reply, as_chat, as_text, read_turn
from .model import Request, Response, Usage
from .secret import HIDDEN
from .table import Event, State, Transition
from .trace import Event as TraceEvent
from .turns import parse_turn
from .waiting import InFlight, TimedOut, call_with_timeout
from .wrappers import run_in_parallel


class Run:
    """One run, from the question to its end: what handlers and guards work with."""

    def __init__(self, machine: Any, journal: Journal, started: TraceEvent) -> None:
        self.machine, self.journal, self.tools = machine, journal, machine.tools
        self.id, self.question = journal.trace_id, started["question"]
        self.chat, self.settings = started["chat"], started["settings"]
        self.in_flight = InFlight(journal.signals)
        self.notes: dict[str, Any] = {}  # what guards keep of this run
        self.limits: Limits = limits_of(self.settings["limits"])
        self.spent, self.waited_s = Spent(), 0.0  # and seconds of a person
        self.max_tokens: int | None = None  # of the next turn
        self.forced = False  # the tools were withdrawn, and an answer asked for
        question: Part = {"role": "question", "text": self.question}
        self.parts: list[Part] = [*started["before"], question]
        self.later: list[Part] = []  # notes, until the model is asked again
        self.sent = self.counted = self.size_before = 0
        self.text = ""  # of the last turn
        self.answer: str | None = None
        self.used = {c["id"] for p in self.parts for c in p.get("calls", ())}
        self.waiting: deque[Asked] = deque()
        self.call: ToolCall | None = None  # the one that is dealt with
        self.calls: dict[str, ToolCall] = {}  # all that were begun, by call_id
        self.unread: list[Observation] = []  # what the model reads next
        self.observed: list[Observation] = []  # all there have been
        self.held: str | None = None  # a guard's event, for a call made with others
        self.last, self.message = Transition("", "", ""), ""
        self.cancelled = False
        journal.on_signal = self.act_on
        for signal in journal.early:
            self.act_on(signal)

    def part(self, ours: Callable[..., Any]) -> Callable[..., Any]:
        """Return your function of that name, or ours."""
        return self.machine.parts.get(ours.__name__, ours)  # type: ignore[no-any-return]

    def act_on(self, signal: Mapping[str, Any]) -> None:
        """Act on a signal: cancel, resumed, other settings, more tools."""
        if signal["what"] in ("cancel", "resumed"):
            self.cancelled = signal["what"] == "cancel"
        changed = signal.get("settings", {})
        self.settings = self.settings | changed
        self.limits = limits_of(self.settings["limits"])
        note = signal.get("note", "")
        if self.forced and "limits" in changed:  # there is more to spend
            self.forced = False
            note = "\n".join(filter(None, ["Tools can be called again.", note]))
        if note:
            self.later.append({"role": "note", "text": note})

    def elapsed(self) -> Spent:
        """Return what is spent, after a look at the journal's clock."""
        self.spent.wall_s = self.journal.at_s - self.waited_s
        return self.spent

    def _left_s(self) -> float:
        return max(self.limits.wall_s - self.elapsed().wall_s, 0.0)

    def tokens(self) -> int:
        """Return how many tokens the conversation has."""
        new, self.counted = self.parts[self.counted :], len(self.parts)
        if new:  # as the record has them, so that a replay counts the same
            new, count = self.journal.hidden(new), self.machine.count
            self.size_before += sum(count(part, self.chat) for part in new)
        return self.size_before

    def size(self) -> int:
        """Return how many tokens the next request has, its schemas included."""
        schemas = 0 if self.forced else self.machine.schemas_size
        return int(self.tokens() + schemas + self.machine.prefill_size)

    def replace_parts(self, parts: list[Part]) -> None:
        """Let the conversation be another one; the next request is written whole."""
        self.parts, self.sent, self.counted, self.size_before = parts, 0, 0, 0

    def withdraw_tools(self, words: str) -> None:
        """Offer no tool any more, and write so into the conversation."""
        self.forced = True
        self.parts.append({"role": "note", "text": words})

    def ask(self) -> TraceEvent:
        """Ask the model, and return its response; may raise TimedOut."""
        self.spent.steps += 1
        new, kept = self.parts[self.sent :], self.sent
        prompt = as_chat(new) if self.chat else as_text(new)
        cap = {} if self.max_tokens is None else {"max_tokens": self.max_tokens}
        respond = partial(self._respond, [] if self.forced else self.machine.schemas)
        self.journal.emit("model_request", prompt=prompt, kept=kept, **cap)
        self.sent = len(self.parts)
        response = self.journal.receive("model_turn", respond)
        used = response["usage"]
        self.spent.usage += Usage(used["input"], used["output"], used["cached"])
        if response.get("finish") == "cancelled":
            raise KeyboardInterrupt
        return response

    def _respond(self, schemas: list[Any]) -> dict[str, Any]:
        machine, model, on_text, limit_s = self.machine, self.machine.model, None, None
        if machine.on_text and getattr(model, "streams", False):
            on_text = partial(self.in_flight.take_text, machine.on_text)
        if not getattr(model, "at_once", False):
            most_s = getattr(self.limits, "model_s", math.inf)
            limit_s = min(self._left_s(), most_s)
        stop = () if self.chat else STOP
        about = (stop, self.spent.steps, self.max_tokens, on_text, self.chat)
        respond = partial(model.respond, Request(self.parts, schemas, *about))
        response: Response = self.in_flight.wait(respond, limit_s)
        fields = response.fields()
        if fields["usage"] is None:  # the model does not report it
            wrote = {"role": "model", "text": fields["text"]}
            output = machine.count(wrote, self.chat)
            used = {"input": self.size(), "output": output, "cached": 0}
            fields["usage"] = used | {"estimated": True}
        return fields

    def read(self, response: Mapping[str, Any]) -> Reply:
        """Read the model's turn, and keep what follows from it."""
        self.text, parse = response["text"], self.part(parse_turn)
        reply = read_turn(response, self.tools, self.chat, self.used, parse)
        if reply.part:
            self.parts.append(reply.part)
        self.waiting.extend(reply.asked)
        self.call = reply.asked[0].call if reply.asked else None
        if reply.problem is not None:
            self.see(Observation.failed("", reply.problem))
        self.answer = reply.answer
        return reply

    def call_tool(self) -> None:
        """Make the first call that waits, with the READs that may be made with it."""
        asked, before = self._take(), len(self.observed)
        begun, is_made, made = 0, False, dict[str, Observation]()
        try:
            for each in asked:
                begun += 1
                self._write_down(each.call)
                if self.journal.signals:
                    self.journal.take_signals()
                if self.cancelled:
                    raise KeyboardInterrupt
            is_made = True
            for number, each in enumerate(asked):
                self._finish(each, partial(self._make, asked[number:], made))
        except BaseException:
            if not (self.journal.broken or self.journal.diverged):
                hint = "It may have had its effect." if is_made else "It was not made."
                for each in asked[len(self.observed) - before : begun]:
                    why = f"the run was stopped before {each.call.name} had a result."
                    self._fail(each.call, ToolError("cancelled", why, hint=hint))
                self.waiting.extendleft(reversed(asked[begun:]))
                self.spent.tool_calls -= len(asked) - begun
            raise

    def refuse(self, kind: str, message: str, hint: str = "") -> None:
        """Close the first call that waits without making it."""
        call = self.waiting.popleft().call
        self._write_down(call)
        self._fail(call, ToolError(kind, message, hint=hint))

    def _write_down(self, call: ToolCall) -> None:
        self.call, self.calls[call.call_id] = call, call
        about = {"tool": call.name, "arguments": call.arguments}
        self.journal.emit("tool_call", call_id=call.call_id, **about)

    def _fail(self, call: ToolCall, error: ToolError) -> None:
        self.see(Observation.failed(call.call_id, error, call.name))

    def _take(self) -> list[Asked]:
        taken = [self.waiting.popleft()]
        self.spent.tool_calls += 1
        while self.machine.parallel and self.waiting:
            first = self.waiting[0]
            if not (self._is_read(taken[-1]) and self._is_read(first)):
                break
            event = self.machine.ask_guards(State.EXECUTE_TOOL, self)
            event = event or self.limits.before_tool_call(self.elapsed())
            if event is not None:  # it has its turn later, if no guard has refused it
                is_there = bool(self.waiting) and self.waiting[0] is first
                self.held = event if is_there else None
                break
            taken.append(self.waiting.popleft())
            self.spent.tool_calls += 1
        return taken

    def _is_read(self, asked: Asked) -> bool:
        may = asked.refusal is None
        return may and self.tools[asked.call.name].effect is Effect.READ

    def _finish(self, asked: Asked, make: Callable[[], Observation]) -> None:
        call, journal, why = asked.call, self.journal, ""
        if asked.refusal is not None:
            return self._fail(call, asked.refusal)
        is_lost = journal.just_resumed  # the process died in this call
        is_settled = getattr(self.machine.make, "is_settled", False)
        if is_lost and not (is_settled or self._is_read(asked)):
            why = f"{call.name} was begun, and nobody knows whether it was done."
        elif journal.was_resumed and HIDDEN in str(call.arguments):
            why = f"{call.name} was not called: the record hides its arguments."
        if why:
            hint = "Do not call it again: tell the user."
            error = ToolError(ErrorKind.NEEDS_PERSON, why, hint=hint)
            make = partial(Observation.failed, call.call_id, error, call.name)
        event = journal.receive("observation", lambda: make().fields())
        seen = Observation.of_event(event)
        self.observed.append(seen)
        self.unread.append(seen)
        return None

    def _make(self, asked: list[Asked], made: dict[str, Observation]) -> Observation:
        # The first of these calls; the others have begun as well, and are made with it.
        first, make, context = asked[0].call, self.machine.make, copy_context()
        if len(asked) == 1 and not made:
            wait = partial(self._wait_for, first, self.in_flight.wait)
            made[first.call_id] = make(self, first, wait)
        if first.call_id in made:
            return made[first.call_id]
        calls = [each.call for each in asked]

        def one(call: ToolCall) -> Observation:
            wait = partial(self._wait_for, call, call_with_timeout)
            seen: Observation = context.copy().run(make, self, call, wait)
            return seen

        at_once = partial(self.part(run_in_parallel), calls, one, lambda _: True)
        try:
            seen = self.in_flight.wait(at_once, self._left_s())
        except TimedOut:
            late = ToolError(ErrorKind.TIMEOUT, "it had no answer when time was over.")
            seen = [Observation.failed(c.call_id, late, c.name) for c in calls]
        if [each.call_id for each in seen] != [call.call_id for call in calls]:
            owes = "run_in_parallel owes an observation a call"
            raise LookupError(f"{owes}, not {seen!r}")
        made |= {each.call_id: each for each in seen}
        return made[first.call_id]

    def _wait_for(
        self, call: ToolCall, wait: Any, made: Callable[[], Any], own_s: float | None
    ) -> Any:
        if own_s is None or own_s <= (left_s := self._left_s()):
            return wait(made, own_s)
        try:
            return wait(made, left_s)
        except TimedOut:
            late = f"{call.name} had not answered when the run's time was over."
            may = "It may still take effect."
            raise ToolFailure(ErrorKind.TIMEOUT, late, hint=may) from None

    def see(self, seen: Observation) -> None:
        """Write down what the model is to read, where no call was made."""
        self.journal.emit("observation", **seen.fields())
        self.observed.append(seen)
        self.unread.append(seen)

    def hand_over(self) -> str:
        """Put what was observed where the model reads it; return what is next."""
        if not self.unread:
            raise LookupError("OBSERVE was reached, but there is nothing to observe")
        for seen in self.unread:
            part: Part = {"role": "result", "text": self.tools.shown(seen)}
            if self.chat and seen.call_id:
                part["id"] = seen.call_id
            self.parts.append(part)
        self.unread = []
        if self.waiting:
            self.call = self.waiting[0].call
            return Event.MORE_CALLS
        return Event.OBSERVED


def think(run: Run) -> str:
    """Ask the model, and return the event of its turn."""
    if ran_out := run.limits.before_model_call(run.elapsed()):
        return ran_out
    try:
        response = run.ask()
    except TimedOut:
        return Event.OUT_OF_TIME
    return run.read(response).event


def execute_tool(run: Run) -> str:
    """Make the first call that waits. A result and an error are both observations."""
    if ran_out := run.limits.before_tool_call(run.elapsed()):
        return ran_out
    run.call_tool()
    return Event.TOOL_RETURNED


HANDLERS: Mapping[str, Callable[[Run], str]] = {
    State.THINK: think,
    State.EXECUTE_TOOL: execute_tool,
    State.OBSERVE: Run.hand_over,
}
