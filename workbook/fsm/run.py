"""What the handlers of one run share, and how they tell the hook what happens.

A hook may fail: a full disk, a widget with a bug. Then the run ends in ERROR, and the
hook is still told how it ended, so that a trace is complete wherever it can be.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from workbook.fsm.limits import Limits, Spent
from workbook.fsm.protocols import Asked, Conversation, Reply
from workbook.fsm.table import Event, Rule
from workbook.models.base import Completion, Emit, Usage
from workbook.models.prompts import estimate, render_messages
from workbook.tools.calls import ErrorKind, Observation, ToolCall, ToolError
from workbook.tools.registry import ToolRegistry
from workbook.tools.threads import TimedOut, call_with_timeout

T = TypeVar("T")
Make = Callable[[ToolCall], Observation]
Parallel = Callable[
    [Sequence[ToolCall], Make, Callable[[ToolCall], bool]], list[Observation]
]
"""Makes calls, of which some may be made at once; see `run_in_parallel`."""


@dataclass(slots=True, repr=False)
class Run:
    """One run, from the question to its end."""

    conversation: Conversation
    tools: ToolRegistry
    limits: Limits
    hook: Emit
    clock: Callable[[], float]  # seconds, from any origin
    cancelled: threading.Event  # set when the user has said stop
    question: str = ""
    at_once: bool = False  # the model answers at once: nobody need wait for it
    make: Make | None = None  # in place of `tools.run`
    parallel: Parallel | None = None  # what makes the READ calls of a turn at once
    is_recorded: bool = False  # it is played again, from its record
    options: dict[str, Any] = field(default_factory=dict)  # handed on to the model
    model_s: float | None = None  # the most seconds that one model call may take
    estimates: bool = False  # the usage, of a model that does not report it
    on_text: Callable[[str], object] | None = None  # told each piece of a turn
    in_flight: bool = False  # a model or a tool is at work
    writes: bool = False  # a piece of the turn has come: it stops at the next one
    interrupted: bool = False  # by Ctrl-C
    spent: Spent = field(default_factory=Spent)  # `elapsed` looks at the clock

    waiting: deque[Asked] = field(default_factory=deque)  # no observation yet, in order
    begun: set[str] = field(default_factory=set)  # those that are written down
    made: bool = False  # the first has been handed to its tool
    ahead: dict[str, Observation | None] = field(default_factory=dict)  # at once
    call: ToolCall | None = None  # dealt with, until its observation is read
    observation: Observation | None = None  # what the model is to be told next
    observed: list[Observation] = field(default_factory=list)  # all there have been
    answer: str | None = None
    text: str = ""  # of the model's last turn
    estimated: bool = False  # so was its usage
    forced: bool = False  # the tools were withdrawn, and an answer was asked for
    notes: dict[str, Any] = field(default_factory=dict)  # what guards keep of this run

    rule: Rule | None = None  # the row that was taken last
    error: BaseException | None = None  # what a handler raised
    broken: BaseException | None = None  # what the hook raised first
    started_at: float = field(init=False)
    entered_at: float = field(init=False)

    def __repr__(self) -> str:
        return f"<run of {self.question!r}, {self.spent.steps} steps, {self.limits}>"

    def __post_init__(self) -> None:
        self.started_at = self.entered_at = self.clock()

    def elapsed(self) -> Spent:
        """Return what is spent, after a look at the clock."""
        self.spent.wall_s = self.clock() - self.started_at
        return self.spent

    def left_s(self) -> float | None:
        """Return how long a call may take; None where there is no limit."""
        left = self.limits.wall_s - self.elapsed().wall_s
        return max(left, 0.0) if left < threading.TIMEOUT_MAX else None

    def wait_for(self, call: Callable[[], T], limit_s: float | None) -> T:
        """Return what a model or a tool answers.

        Raises:
            TimedOut: not in time; what it still does is not waited for.
            KeyboardInterrupt: the user does not want to wait.
        """
        self.in_flight = True
        try:
            answer: T = call_with_timeout(call, {}, limit_s)
            return answer
        finally:
            self.in_flight = False

    def ask(self) -> Completion:
        """Ask the model, and take down what is new in the request; may be TimedOut."""
        self.spent.steps += 1
        request = self.conversation.request()
        if "max_tokens" in self.options:
            request["max_tokens"] = self.options["max_tokens"]
        self.emit("model_request", **request)
        limits = [] if self.at_once else [self.left_s(), self.model_s]
        limit_s = min((s for s in limits if s is not None), default=None)
        hear = {"on_text": self.hear} if self.on_text else {}
        ask = partial(self.conversation.ask, **self.options, **hear)
        try:
            completion = self.wait_for(ask, limit_s)
        finally:
            self.writes = False
        usage = completion.usage
        counts = self.estimates or usage != Usage()
        counts = counts or completion.finish_reason == "cancelled"
        self.estimated = counts and not usage.holds
        if self.estimated:  # one that was stopped may not have said it yet
            prompt = self.conversation.prompt
            sent = prompt if isinstance(prompt, str) else render_messages(prompt)
            usage = estimate(sent, completion.text)
            completion = replace(completion, usage=usage)
        self.spent.usage += completion.usage
        return completion

    def hear(self, piece: str) -> bool:
        """Hand on a piece of the turn; True where nobody waits for the rest of it."""
        if self.in_flight and self.on_text:
            self.writes = True
            self.on_text(piece)
        return not self.in_flight or self.interrupted or self.cancelled.is_set()

    def heard(self, completion: Completion) -> Reply:
        """Read the model's turn, take it down, and keep what follows from it.

        A turn on which the reading breaks is taken down too: somebody will look for it.
        """
        self.text, usage = completion.text, completion.usage.as_data()
        if self.estimated:
            usage["estimated"] = True
        try:
            reply = self.conversation.read(completion)
        except BaseException:
            self.emit("model_turn", text=completion.text, turn=None, usage=usage)
            raise
        self.waiting.extend(reply.asked)
        self.emit("model_turn", text=completion.text, turn=reply.turn, usage=usage)
        if reply.asked:
            self.call = reply.asked[0].call
        if reply.problem is not None:
            self.see(Observation.failed("", reply.problem))
        self.answer = reply.answer
        return reply

    def call_tool(self) -> None:
        """Make the first call that waits, or refuse it; both give an observation."""
        self.spent.tool_calls += 1
        asked = self.waiting[0]
        if asked.refusal is not None:
            self.refuse(asked.refusal)
            return
        call = asked.call
        if call.call_id not in self.begun:
            self.begin(call)
        self.made = True
        self.settle(self.ahead.get(call.call_id) or self._observed(call))

    def _observed(self, call: ToolCall) -> Observation:
        """Return what came of a call that gets no more time than the run has left."""
        own, left = self.tools[call.name].timeout_s, self.left_s()
        limit_s = left if own and left is not None and left < own else None
        try:
            make = self.make or self.tools.run
            return self.wait_for(lambda: make(call), limit_s)
        except TimedOut:
            late = f"{call.name} had not answered when the run's time was over."
            error = ToolError(ErrorKind.TIMEOUT, late, hint="It may still take effect.")
            return Observation.failed(call.call_id, error, call.name)

    def hand_over(self) -> None:
        """Put the observation where the model will read it; the next call is due."""
        if self.observation is None:
            raise LookupError("OBSERVE was reached, but there is nothing to observe")
        self.conversation.observe(self.observation)
        self.observation = None
        if self.waiting:
            self.call = self.waiting[0].call

    def stop(self) -> str | None:
        """Return CANCEL once the user has said so; raise what the hook raised."""
        if self.broken is not None:
            raise self.broken
        stopped = self.interrupted or self.cancelled.is_set()
        return Event.CANCEL if stopped else None

    def emit(self, kind: str, /, **fields: Any) -> None:
        """Tell the hook, and keep the first thing that it raises.

        A hook that raises KeyboardInterrupt says stop: a call that was begun is not
        made, and the run ends at its next transition.
        """
        try:
            self.hook(kind, **fields)
        except KeyboardInterrupt:
            self.interrupted = True
        except BaseException as error:
            self.broken = self.broken or error
            raise

    def tell(self, kind: str, /, **fields: Any) -> None:
        """Tell the hook where nothing may be raised: `stop` will say what happened."""
        with suppress(BaseException):  # `emit` has kept it
            self.emit(kind, **fields)

    def moved(self, rule: Rule, raised: BaseException | None) -> None:
        """Take down a transition: the `emit` of the driver."""
        now = self.clock()
        elapsed_s, self.entered_at = round(now - self.entered_at, 6), now
        self.rule, self.error = rule, raised
        call = self.call
        about: dict[str, Any] = {}
        if call is not None:
            about = {"tool": call.name, "call_id": call.call_id}
        if self.made:  # and has no observation
            about["made"] = True
        self.tell(
            "transition",
            source=rule.source,
            event=rule.event,
            target=rule.target,
            why=rule.why,
            elapsed_s=elapsed_s,
            **about,
        )
        if not self.waiting and self.observation is None:
            self.call = None

    def begin(self, call: ToolCall) -> None:
        """Write down a call before it is made. If that raises, it is not made."""
        self.begun.add(call.call_id)
        self.emit(
            "tool_call", call_id=call.call_id, tool=call.name, arguments=call.arguments
        )
        if self.stop():
            raise KeyboardInterrupt

    def settle(self, observation: Observation) -> None:
        """Close the first waiting call with its one observation."""
        call = self.waiting.popleft().call
        self.made = False
        self.begun.discard(call.call_id)
        self.ahead.pop(call.call_id, None)
        self.see(observation, call)

    def refuse(self, error: ToolError) -> None:
        """Close the first waiting call without making it."""
        call = self.waiting[0].call
        if call.call_id not in self.begun:
            self.begin(call)
        self.settle(Observation.failed(call.call_id, error, call.name))

    def see(self, observation: Observation, call: ToolCall | None = None) -> None:
        """Keep what the model is to be told next; a turn may have made no call."""
        self.observation = observation
        self.observed.append(observation)
        fields: dict[str, Any] = {
            "call_id": call.call_id if call else None,
            "tool": call.name if call else None,
            "ok": observation.ok,
            "text": observation.text(),
        }
        if observation.notes:
            fields["notes"] = list(observation.notes)
        if observation.error is None:
            fields["result"] = observation.result
        else:
            fields["error"] = asdict(observation.error)
        self.emit("observation", **fields)
