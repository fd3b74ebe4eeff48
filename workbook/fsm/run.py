"""The state of one run, from the question to its end: what its handlers work with.

What never changes in a run is in `RunOptions`, what the user signals in
`workbook.fsm.outside.Signals`.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from workbook.fsm.limits import Limits, Spent
from workbook.fsm.outside import Make, Signals
from workbook.fsm.reading import Conversation, ModelTurn, PendingCall
from workbook.fsm.table import Event, Transition
from workbook.models.base import Completion, Usage
from workbook.models.prompts import estimate, render_messages
from workbook.tools.calls import ErrorKind, Observation, ToolCall, ToolError
from workbook.tools.registry import ToolRegistry
from workbook.tools.threads import TimedOut
from workbook.traces.events import TraceEvent

Parallel = Callable[
    [Sequence[ToolCall], Make, Callable[[ToolCall], bool]], list[Observation]
]
"""Makes calls, of which some may be made at once; see `run_in_parallel`."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run asks its model and makes its calls; it never changes in a run."""

    tools: ToolRegistry
    limits: Limits
    parallel: Parallel | None = None  # makes the READ calls of a turn at once
    at_once: bool = False  # the model answers at once: nobody need wait for it
    model_s: float | None = None  # the most seconds that one model call may take
    estimates: bool = False  # the usage, of a model that does not report it
    on_text: Callable[[str], object] | None = None  # told each piece of a turn


@dataclass(slots=True, repr=False)
class Run:
    """One run, from the question to its end."""

    question: str
    conversation: Conversation
    options: RunOptions
    signals: Signals
    spent: Spent = field(default_factory=Spent)  # `elapsed` looks at the clock
    started_at: float = field(init=False)  # seconds, as the clock of outside has them
    max_tokens: int | None = None  # of the next turn

    # The calls without an observation yet, in order.
    waiting: deque[PendingCall] = field(default_factory=deque)
    call: ToolCall | None = None  # dealt with, until its observation is read
    observation: Observation | None = None  # what the model is to be told next
    observed: list[Observation] = field(default_factory=list)  # all there have been
    text: str = ""  # of the model's last turn
    answer: str | None = None
    notes: dict[str, Any] = field(default_factory=dict)  # what guards keep of this run

    def __post_init__(self) -> None:
        self.started_at = self.now()

    def __repr__(self) -> str:
        return f"<run of {self.question!r}, {self.spent.steps} steps, {self.limits}>"

    @property
    def tools(self) -> ToolRegistry:
        """What the model may call."""
        return self.options.tools

    @property
    def limits(self) -> Limits:
        """The most that the run may spend."""
        return self.options.limits

    @property
    def forced(self) -> bool:
        """Whether the tools were withdrawn, and an answer was asked for."""
        return self.conversation.withdrawn

    # time, and what is told

    def now(self) -> float:
        """Return the seconds of the clock."""
        return self.signals.outside.now()

    def elapsed(self) -> Spent:
        """Return what is spent, after a look at the clock."""
        self.spent.wall_s = self.now() - self.started_at
        return self.spent

    def left_s(self) -> float | None:
        """Return how long a call may take; None where there is no limit."""
        left = self.limits.wall_s - self.elapsed().wall_s
        return max(left, 0.0) if left < threading.TIMEOUT_MAX else None

    def coming(self) -> TraceEvent | None:
        """Return the event that a record tells next; None where it is decided now."""
        return self.signals.outside.coming()

    def emit(self, kind: str, /, **fields: Any) -> None:
        """Tell the hook; what it raises is kept, and raised."""
        self.signals.emit(kind, fields)

    def tell(self, kind: str, /, **fields: Any) -> None:
        """Tell the hook where nothing may be raised: the run ends at its next step."""
        self.signals.emit(kind, fields, may_raise=False)

    # the model

    def ask(self) -> Completion:
        """Ask the model, and take down what is new in the request; may be TimedOut."""
        self.spent.steps += 1
        options, how = self.options, dict[str, Any]()
        if self.max_tokens is not None:
            how["max_tokens"] = self.max_tokens
        self.signals.emit("model_request", self.conversation.request() | how)
        limits = [] if options.at_once else [self.left_s(), options.model_s]
        limit_s = min((s for s in limits if s is not None), default=None)
        if options.on_text is not None:
            how["on_text"] = self.signals.hearing(options.on_text)
        ask = partial(self.conversation.ask, **how)
        answer = partial(self.signals.outside.complete, ask)
        completion = self._counted(self.signals.wait_for(answer, limit_s))
        self.spent.usage += completion.usage
        return completion

    def _counted(self, completion: Completion) -> Completion:
        """Return the turn with its usage, estimated where the model has not said it."""
        usage, cancelled = completion.usage, completion.finish_reason == "cancelled"
        counts = self.options.estimates or cancelled or usage != Usage()
        if usage.holds or not counts:
            return completion
        prompt = self.conversation.prompt
        sent = prompt if isinstance(prompt, str) else render_messages(prompt)
        usage = estimate(sent, completion.text)
        return replace(completion, usage=usage, estimated=True)

    def heard(self, completion: Completion) -> ModelTurn:
        """Read the model's turn, take it down, and keep what follows from it.

        A turn on which the reading breaks is taken down too: somebody will look for it.
        """
        self.text, usage = completion.text, completion.usage.to_dict()
        if completion.estimated:
            usage["estimated"] = True
        told: dict[str, Any] = {"text": self.text, "turn": None, "usage": usage}
        try:
            reply = self.conversation.read(completion)
            told["turn"] = reply.turn
            self.waiting.extend(reply.asked)
        finally:
            self.signals.emit("model_turn", told)
        if reply.asked:
            self.call = reply.asked[0].call
        if reply.problem is not None:
            self.see(Observation.failed("", reply.problem))
        self.answer = reply.answer
        return reply

    # its calls: none is left without one observation

    def begin(self, asked: PendingCall) -> None:
        """Write down a call before it is made. If that raises, it is not made."""
        if asked.begun:
            return
        asked.begun, call = True, asked.call
        told = {"call_id": call.call_id, "tool": call.name, "arguments": call.arguments}
        self.signals.emit("tool_call", told)
        if self.signals.stop():
            raise KeyboardInterrupt

    def call_tool(self) -> None:
        """Make the first call that waits, or refuse it; both give an observation."""
        self.spent.tool_calls += 1
        asked = self.waiting[0]
        if asked.refusal is not None:
            self.refuse(asked.refusal)
            return
        self.begin(asked)
        asked.made = True
        self.settle(asked.observation or self._observed(asked.call))

    def _observed(self, call: ToolCall) -> Observation:
        """Return what came of a call that gets no more time than the run has left."""
        own, left = self.tools[call.name].timeout_s, self.left_s()
        limit_s = left if own and left is not None and left < own else None
        make = partial(self.signals.outside.make, call)
        try:
            return self.signals.wait_for(make, limit_s)
        except TimedOut:
            late = f"{call.name} had not answered when the run's time was over."
            error = ToolError(ErrorKind.TIMEOUT, late, hint="It may still take effect.")
            return Observation.failed(call.call_id, error, call.name)

    def refuse(self, error: ToolError) -> None:
        """Close the first waiting call without making it."""
        asked = self.waiting[0]
        self.begin(asked)
        self.settle(Observation.failed(asked.call.call_id, error, asked.call.name))

    def settle(self, observation: Observation) -> None:
        """Close the first waiting call with its one observation."""
        self.see(observation, self.waiting.popleft().call)

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
        self.signals.emit("observation", fields)

    def hand_over(self) -> str:
        """Put the observation where the model will read it, and return what is next."""
        if self.observation is None:
            raise LookupError("OBSERVE was reached, but there is nothing to observe")
        self.conversation.observe(self.observation)
        self.observation = None
        if not self.waiting:
            return Event.OBSERVED
        self.call = self.waiting[0].call
        return Event.MORE_CALLS

    # the driver

    def moved(
        self, rule: Transition, raised: BaseException | None, elapsed_s: float
    ) -> None:
        """Take down a transition, with the call that it is about."""
        about: dict[str, Any] = rule._asdict() | {"elapsed_s": round(elapsed_s, 6)}
        if self.call is not None:
            about |= {"tool": self.call.name, "call_id": self.call.call_id}
        if raised is not None and self.waiting and self.waiting[0].made:
            about["made"] = True  # and has no observation
        self.signals.emit("transition", about, may_raise=False)
        if not self.waiting and self.observation is None:
            self.call = None
