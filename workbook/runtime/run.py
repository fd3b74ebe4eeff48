"""The state of one run, and the work of its three states: think, execute, observe."""

import contextvars
import math
from collections import deque
from collections.abc import Callable, Mapping
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
        self.later: list[Part] = []  # notes, until the calls of a turn are observed
        self.sent = self.counted = self.size_before = 0
        self.schemas, self.is_asking = machine.schemas, False
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
        if signal["what"] in ("cancel", "resumed", "what_if"):
            self.cancelled = signal["what"] == "cancel"
        changed = signal.get("settings", {})
        self.settings = self.settings | changed
        self.limits = limits_of(self.settings["limits"])
        note = signal.get("note", "")
        if self.forced and "limits" in changed:  # there is more to spend
            self.forced, self.schemas = False, self.machine.schemas
            note = "\n".join(filter(None, ["Tools can be called again.", note]))
        if note:
            busy = self.waiting or self.unread or self.is_asking
            (self.later if busy else self.parts).append({"role": "note", "text": note})

    def elapsed(self) -> Spent:
        """Return what is spent, after a look at the journal's clock."""
        self.spent.wall_s = self.journal.at_s - self.waited_s
        return self.spent

    def left_s(self) -> float | None:
        """Return how many seconds a call may take; None: there is no limit."""
        left = self.limits.wall_s - self.elapsed().wall_s
        return None if left == math.inf else max(left, 0.0)

    def tokens(self) -> int:
        """Return how many tokens the conversation has."""
        new, self.counted = self.parts[self.counted :], len(self.parts)
        if new:  # as the record has them, so that a replay counts the same
            new, count = self.journal.hidden(new), self.machine.count
            self.size_before += sum(count(part, self.chat) for part in new)
        return self.size_before

    def size(self) -> int:
        """Return how many tokens the next request has, its schemas included."""
        schemas = self.machine.schemas_size if self.schemas else 0
        return int(self.tokens() + schemas + self.machine.prefill_size)

    def replace_parts(self, parts: list[Part]) -> None:
        """Let the conversation be another one; the next request is written whole."""
        self.parts, self.sent, self.counted, self.size_before = parts, 0, 0, 0

    def withdraw_tools(self, words: str) -> None:
        """Offer no tool any more, and write so into the conversation."""
        self.forced, self.schemas = True, []
        self.parts.append({"role": "note", "text": words})

    def ask(self) -> TraceEvent:
        """Ask the model, and return its response; may raise TimedOut."""
        self.spent.steps += 1
        new, kept = self.parts[self.sent :], self.sent
        prompt = as_chat(new) if self.chat else as_text(new)
        cap = {} if self.max_tokens is None else {"max_tokens": self.max_tokens}
        self.is_asking, schemas = True, self.schemas  # they are sent as they are now
        try:
            self.journal.emit("model_request", prompt=prompt, kept=kept, **cap)
            self.sent = len(self.parts)
            respond = partial(self._respond, schemas)
            response = self.journal.receive("model_turn", respond)
        finally:
            self.is_asking = False
        used = response["usage"]
        self.spent.usage += Usage(used["input"], used["output"], used["cached"])
        if response.get("finish") == "cancelled":
            raise KeyboardInterrupt
        return response

    def _respond(self, schemas: list[Any]) -> dict[str, Any]:
        machine, on_text = self.machine, None
        if machine.on_text and machine.streams:
            on_text = partial(self.in_flight.take_text, machine.on_text)
        stop = () if self.chat else STOP
        about = (stop, self.spent.steps, self.max_tokens, on_text, self.chat)
        request = Request(self.parts, schemas, *about)
        most_s, left_s = getattr(self.limits, "model_s", math.inf), self.left_s()
        limit_s = None if machine.at_once or left_s is None else min(left_s, most_s)
        respond = partial(machine.model.respond, request)
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
        begun, is_made = 0, False
        try:
            for each in asked:
                begun += 1
                self._write_down(each.call)
                self.journal.take_signals()
                if self.cancelled:
                    raise KeyboardInterrupt
            is_made = True
            for each, make in zip(asked, self._makers(asked), strict=True):
                self._finish(each, make)
        except BaseException:
            if not (self.journal.broken or self.journal.diverged):
                made, not_made = "It may have had its effect.", "It was not made."
                for each in asked[len(self.observed) - before : begun]:
                    why = f"the run was stopped before {each.call.name} had a result."
                    hint = made if is_made else not_made
                    self._fail(each.call, ToolError("cancelled", why, hint=hint))
                self.waiting.extendleft(reversed(asked[begun:]))
                self.spent.tool_calls -= len(asked) - begun
            raise

    def refuse(self, kind: str, message: str, hint: str = "") -> None:
        """Close the first call that waits without making it."""
        call = self.waiting.popleft().call
        self._write_down(call)
        self._fail(call, ToolError(kind, message, hint=hint))

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

    def _write_down(self, call: ToolCall) -> None:
        self.call, self.calls[call.call_id] = call, call
        about = {"tool": call.name, "arguments": call.arguments}
        self.journal.emit("tool_call", call_id=call.call_id, **about)

    def _makers(self, asked: list[Asked]) -> list[Callable[[], Observation]]:
        calls = [each.call for each in asked]
        if len(calls) == 1:
            wait = partial(self._wait_for, calls[0], self.in_flight.wait)
            return [partial(self.machine.make, self, calls[0], wait)]
        made, context = dict[int, Observation](), contextvars.copy_context()

        def one(call: ToolCall) -> Observation:
            wait = partial(self._wait_for, call, call_with_timeout)
            seen: Observation = context.copy().run(self.machine.make, self, call, wait)
            return seen

        def result(number: int) -> Observation:
            if number not in made:
                rest = calls[number:]
                at_once = partial(self.part(run_in_parallel), rest, one, lambda _: True)
                try:
                    seen = self.in_flight.wait(at_once, self.left_s())
                except TimedOut:
                    words = "it had no answer when time was over."
                    late = ToolError(ErrorKind.TIMEOUT, words)
                    seen = [Observation.failed(c.call_id, late, c.name) for c in rest]
                if [each.call_id for each in seen] != [call.call_id for call in rest]:
                    owes = "run_in_parallel owes an observation a call"
                    raise LookupError(f"{owes}, not {seen!r}")
                made.update(zip(range(number, len(calls)), seen, strict=True))
            return made[number]

        return [partial(result, number) for number in range(len(calls))]

    def _wait_for(
        self, call: ToolCall, wait: Any, made: Callable[[], Any], own_s: float | None
    ) -> Any:
        left_s = self.left_s()
        if own_s is None or left_s is None or own_s <= left_s:
            return wait(made, own_s)
        try:
            return wait(made, left_s)
        except TimedOut:
            late = f"{call.name} had not answered when the run's time was over."
            may = "It may still take effect."
            raise ToolFailure(ErrorKind.TIMEOUT, late, hint=may) from None

    def _finish(self, asked: Asked, make: Callable[[], Observation]) -> None:
        call, journal = asked.call, self.journal
        if asked.refusal is not None:
            return self._fail(call, asked.refusal)
        may_repeat = self._is_read(asked) or self.machine.make.is_settled
        why = ""
        if journal.just_resumed and not may_repeat:  # the process died in this call
            why = f"{call.name} was begun, and nobody knows whether it was done."
        elif journal.was_resumed and HIDDEN in str(call.arguments):
            why = f"{call.name} was not called: the record hides its arguments."
        if why:
            hint = "Do not call it again: tell the user."
            error = ToolError(ErrorKind.NEEDS_PERSON, why, hint=hint)
            make = partial(Observation.failed, call.call_id, error, call.name)
        event = journal.receive("observation", lambda: make().fields())
        seen = Observation.of_event(event)
        self.machine.make.settled(self, call, seen)
        self.observed.append(seen)
        self.unread.append(seen)
        return None

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
        self.parts += self.later
        self.later = []
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
