"""The work of the guards' states, and what a guard adds to the core's.

As everywhere, a handler returns an event, and never a state. What a guard decides is
told to the trace as a `decision`: who, what, why.
"""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from workbook.fsm.conversations import Asked
from workbook.fsm.handlers import Handler, execute_tool
from workbook.fsm.run import Run
from workbook.guardrails.approval import (
    Answer,
    Approve,
    Edit,
    Request,
    approve,
    digest_of_call,
    preview,
)
from workbook.guardrails.budget import (
    Budget,
    NextCall,
    room,
    share_left,
    within_budget,
)
from workbook.guardrails.policy import POLICY, PolicyRule, Verdict, decide
from workbook.guardrails.purse import Purse
from workbook.guardrails.stuck import Seen, find_cycle, same_search, seen
from workbook.guardrails.table import Said
from workbook.models.base import MAX_TOKENS
from workbook.models.prompts import estimate, render_messages
from workbook.record.replay import Recording
from workbook.tools.calls import Effect, ErrorKind, Observation, ToolCall, ToolError

Ask = Callable[[Request], Answer | None]
"""Asks a person about a call; None is: nobody answers now."""

Switch = tuple[str, str, str]
"""A mode, who switched to it, and why."""

LOOK_BACK = 15  # calls: three times a cycle of five
LAST_PART = 0.2  # of a budget: from there on the model is to answer
EDITS = 3  # that break a rule, of one call
WITHDRAWN = (
    "No tool can be called any more. Write your Final Answer now, with what you know."
)


@dataclass(slots=True)
class Guards:
    """What the guards of one run go by, and what they keep of it."""

    budget: Budget
    mode: str
    rules: Sequence[PolicyRule] = POLICY
    ask: Ask | None = None
    converge: bool = True
    purse: Purse | None = None
    parts: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    switches: deque[Switch] = field(default_factory=deque)  # of the mode, to come
    recording: Recording | None = None  # of a run that is gone on with

    seen: deque[Seen] = field(default_factory=lambda: deque(maxlen=LOOK_BACK))
    warned: bool = False
    approved: dict[str, str] = field(default_factory=dict)  # call_id to digest
    edits: int = 0  # of the call that waits
    problem: str = ""  # with the last of them

    def due(self) -> Iterator[Switch]:
        """Yield the switches of the mode that take effect now: a record's, or new."""
        while self.recording and (coming := self.recording.coming()):
            if coming.get("what") != "mode":
                return
            yield coming["mode"], coming["who"], coming["why"]
        while self.switches:
            yield self.switches.popleft()

    @property
    def counts(self) -> bool:
        """Whether there is a limit for which a prompt's tokens are counted."""
        most = self.budget
        limits = (most.tokens, most.input_tokens, most.output_tokens, most.money)
        return self.purse is not None or min(limits) < math.inf

    @property
    def is_live(self) -> bool:
        """Whether this is the run itself, and not what is recorded of it."""
        return self.recording is None or self.recording.coming() is None

    def part(self, ours: Callable[..., Any]) -> Callable[..., Any]:
        """Return the reader's function of that name, or ours."""
        return self.parts.get(ours.__name__, ours)


def guards_of(run: Run) -> Guards:
    """Return the guards of a run."""
    guards: Guards = run.notes["guards"]
    return guards


def in_its_mode(handler: Handler) -> Handler:
    """Let a switch of the mode take effect before a handler does its work."""

    def work(run: Run) -> str:
        guards = guards_of(run)
        for mode, who, why in guards.due():
            guards.mode = mode
            run.emit("decision", who=who, what="mode", why=why, mode=mode)
        return handler(run)

    return work


def think_within(inner: Handler) -> Handler:
    """Return a handler of THINK that asks the budget first, and caps the turn."""

    def think(run: Run) -> str:
        guards = guards_of(run)
        within = guards.part(within_budget)
        if guards.converge and not run.forced:
            _converge(run, guards)
        purse = guards.purse if guards.is_live else None
        size = tokens_of(run.conversation) if guards.counts else 0
        call = NextCall("model", size, output_tokens=1)
        if ran_out := within(run.elapsed(), guards.budget, call):
            return str(ran_out)
        caps = [
            room(run.spent, guards.budget, size),
            purse.room(size) if purse else None,
        ]
        cap = min((cap for cap in caps if cap is not None), default=None)
        call = replace(call, output_tokens=MAX_TOKENS if cap is None else max(cap, 1))
        if purse is not None and (ran_out := purse.reserve(call)):
            return ran_out
        run.options.pop("max_tokens", None)
        if cap is not None:
            run.options["max_tokens"] = cap
        before = run.spent.usage
        try:
            return inner(run)
        finally:
            if purse is not None:
                purse.settle(call, run.spent.usage - before)
            _tell_news(run)

    return think


def _tell_news(run: Run) -> None:
    """Tell what the model and the conversation have decided by themselves."""
    model = getattr(run.conversation, "model", None)
    for why in _taken(getattr(model, "news", [])):
        run.tell("decision", who="model", what="handed over", why=why)
    for done in _taken(getattr(run.conversation, "compactions", [])):
        why = f"{done['before']:,} tokens, and {done['limit']:,} are allowed"
        run.tell("decision", who="context", what="compacted", why=why, **done)


def _taken(news: list[Any]) -> list[Any]:
    """Return a list's items, and leave it empty."""
    taken, news[:] = news[:], []
    return taken


def tokens_of(conversation: Any) -> int:
    """Return how many tokens the next request has, as its model counts; or more."""
    prompt = conversation.prompt
    text = prompt if isinstance(prompt, str) else render_messages(prompt)
    if schemas := getattr(conversation, "schemas", ()):
        text += json.dumps(schemas)
    count = getattr(conversation.model, "count", None)
    return int(count(text)) if count else estimate(text).input


def _converge(run: Run, guards: Guards) -> None:
    """Withdraw the tools in the last step, or in the last fifth of a budget."""
    spent, most = run.elapsed(), guards.budget
    if spent.steps + 1 >= most.steps:
        why = "it is the last step"
    elif spent.tool_calls + 1 > most.tool_calls:
        why = "no tool call is left"
    elif share_left(spent, most) <= LAST_PART:
        why = f"at most {LAST_PART:.0%} of a budget is left"
    else:
        return
    run.forced = True
    run.conversation.withdraw(WITHDRAWN)
    run.emit("decision", who="budget", what="tools withdrawn", why=why)


def policy(run: Run) -> str:
    """Look up whether the first call that waits may be made in this mode."""
    guards, asked = guards_of(run), run.waiting[0]
    call = asked.call
    if run.forced:
        message = f"{call.name} was not called: the tools have been withdrawn."
        return _deny(run, ToolError("withdrawn", message, hint="The run ends here."))
    if asked.refusal is not None:  # there is nothing to allow: it is not made
        return Said.ALLOWED
    effect = run.tools[call.name].effect
    said = guards.part(decide)(guards.mode, effect, call.name, guards.rules)
    verdict = str(said.verdict)
    if verdict == Verdict.ASK and _is_approved(guards, call):
        return Said.ALLOWED
    if verdict != Verdict.ALLOW or effect is Effect.WRITE:
        about = {"call_id": call.call_id, "tool": call.name, "mode": guards.mode}
        run.emit("decision", who="policy", what=verdict, why=said.why, **about)
    if verdict == Verdict.ALLOW:
        guards.approved[call.call_id] = digest_of_call(call)
        return Said.ALLOWED
    if verdict == Verdict.ASK:
        return Said.ASK
    message = f"{call.name} may not be called in {guards.mode} mode: {said.why}."
    hint = "Nothing was done. Only the user can change the mode."
    return _deny(run, ToolError(ErrorKind.DENIED, message, hint=hint))


def pending_approval(run: Run) -> str:
    """Ask a person about the call, and do what the answer makes of it."""
    guards, call = guards_of(run), run.waiting[0].call
    tool = run.tools[call.name]
    request = Request(call, tool, preview(tool, call), guards.problem)
    answer = _answer(run, guards, request)
    if answer is None:
        return Said.SUSPENDED
    kind = type(answer).__name__.lower()
    about: dict[str, Any] = {"call_id": call.call_id, "tool": call.name}
    about["answer"] = {"kind": kind, **answer._asdict()}
    run.emit("decision", who=answer.who, what=kind, why=answer.why, **about)
    made = guards.part(approve)(
        call, answer, lambda new: run.tools.problems(call.name, new)
    )
    guards.problem = ""
    if isinstance(made, ToolCall):
        guards.edits = 0
        guards.approved[made.call_id] = digest_of_call(made)
        if isinstance(answer, Edit):
            run.waiting[0] = Asked(made)
            run.call = made
            return Said.EDITED
        return Said.APPROVED
    guards.edits += 1
    if not isinstance(answer, (Edit, Approve)) or guards.edits >= EDITS:
        guards.edits = 0
        _deny(run, made)
        return Said.REJECTED
    guards.problem = made.text()
    return Said.EDIT_REFUSED


def _answer(run: Run, guards: Guards, request: Request) -> Answer | None:
    """Return what a person says; the time that it takes is not the run's."""
    if guards.ask is None:
        return None
    ask = guards.ask
    answer = run.wait_for(lambda: ask(request), None)
    run.started_at += run.clock() - run.entered_at
    if not isinstance(answer, Answer | None):
        raise TypeError(
            f"whoever is asked answered {answer!r}: no Approve, Edit, Reject"
        )
    return answer


def execute_allowed(run: Run) -> str:
    """Make the call, where it is the one that was allowed."""
    guards, asked = guards_of(run), run.waiting[0]
    if guards.part(within_budget)(run.elapsed(), guards.budget, NextCall("tool")):
        return execute_tool(run)  # which says what has run out
    call = asked.call
    is_write = asked.refusal is None and run.tools[call.name].effect is Effect.WRITE
    if is_write and not _is_approved(guards, call):
        raise PermissionError(f"{call.name} was reached, but nobody allowed this call")
    return execute_tool(run)


def one_at_a_time(run: Run) -> str:
    """Refuse a call that a turn makes besides its first."""
    message = f"{run.waiting[0].call.name} was not called: one call a turn."
    return _deny(run, ToolError("one_at_a_time", message, hint="Ask again, alone."))


def observe_cycles(run: Run) -> str:
    """Hand over the observation; warn of a repetition, and end at the next one."""
    guards, stuck = guards_of(run), False
    if (observation := run.observation) is not None:
        guards.seen.append(_seen(run, observation))
        same = guards.part(same_search)
        cycle = guards.part(find_cycle)(tuple(guards.seen), same=same)
        if cycle is not None:
            what = "stuck" if guards.warned else "warning"
            run.emit("decision", who="stuck", what=what, why=cycle.words())
            stuck, guards.warned = guards.warned, True
            notes = (*observation.notes, f"{cycle.words()} Do something else.")
            run.observation = replace(observation, notes=notes)
    run.hand_over()
    if stuck:
        return Said.REPEATED
    if run.forced and not run.waiting:
        return Said.NOT_CONVERGED
    return Said.MORE_CALLS if run.waiting else Said.OBSERVED


def _seen(run: Run, observation: Observation) -> Seen:
    if run.call is None or not observation.call_id:  # a turn that nobody could read
        return Seen("", {"turn": run.text}, "")
    return seen(run.call, observation)


def _is_approved(guards: Guards, call: ToolCall) -> bool:
    return guards.approved.get(call.call_id) == digest_of_call(call)


def _deny(run: Run, error: ToolError) -> str:
    run.refuse(error)
    return Said.DENIED
