"""The machine with its guards: made in one call, switched by a person, gone on with.

Nothing of the driver changes. A run that waits for a person, or that a crash ended, is
its trace file: `resume` plays it again up to its last event and goes on from there.
"""

from __future__ import annotations

import math
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any, Self

from workbook.fsm.assemble import assemble
from workbook.fsm.conversations import FunctionCalls, TextTurns
from workbook.fsm.handlers import HANDLERS, Handler
from workbook.fsm.machine import Exit, Machine
from workbook.fsm.run import Run
from workbook.fsm.table import State, Table
from workbook.guardrails.approval import Answer, Request, as_answer
from workbook.guardrails.budget import Budget
from workbook.guardrails.context import ContextLimit, fit_context
from workbook.guardrails.economy import Cached
from workbook.guardrails.guards import Ask, Guards, Switch, in_its_mode
from workbook.guardrails.ledger import Ledger, claim, idempotency_key, once
from workbook.guardrails.permission import (
    execute_allowed,
    one_at_a_time,
    pending_approval,
    policy,
)
from workbook.guardrails.policy import POLICY, Mode, PolicyRule
from workbook.guardrails.purse import Purse
from workbook.guardrails.stopping import observe_cycles, think_within
from workbook.guardrails.table import GUARDED, ONE_CALL, Guard, Said
from workbook.loop.turns import parse_turn
from workbook.models.base import ChatModel, TextModel, streams
from workbook.record.answers import stopped_by
from workbook.record.recording import Recording
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import Tool

Parts = Mapping[str, Callable[..., Any]]


class GuardedMachine(Machine):
    """A machine on `GUARDED`; `guarded` makes one, and says what its arguments are."""

    def __init__(
        self,
        model: TextModel | ChatModel,
        tools: ToolRegistry,
        table: Table = GUARDED,
        *,
        budget: Budget = Budget(),  # noqa: B008 - frozen
        rules: Sequence[PolicyRule] = POLICY,
        mode: str = Mode.BUILD,
        ask: Ask | None = None,
        ledger: Ledger | None = None,
        converge: bool = True,
        purse: Purse | None = None,
        parts: Parts | None = None,
        handlers: Mapping[str, Handler] | None = None,
        **options: Any,
    ) -> None:
        core = {**HANDLERS, **(handlers or {})}
        work = core | {
            State.THINK: think_within(core[State.THINK]),
            State.EXECUTE_TOOL: execute_allowed,
            State.OBSERVE: observe_cycles,
            Guard.POLICY: policy,
            Guard.PENDING_APPROVAL: pending_approval,
            Guard.ONE_AT_A_TIME: one_at_a_time,
        }
        work = {state: in_its_mode(handler) for state, handler in work.items()}
        super().__init__(model, tools, table, limits=budget, handlers=work, **options)
        if (budget.counts_tokens or purse) and not streams(model):
            raise ValueError(
                f"{model.name} takes no max_tokens, so nothing keeps it within tokens"
                " or money: give it that and `streams = True`, or another budget"
            )
        self.rules, self.mode = rules, str(Mode(mode))
        self.ask, self.ledger, self.converge = ask, ledger, converge
        self.purse, self.parts = purse, parts or {}
        self._switches: deque[Switch] = deque()

    @property
    def budget(self) -> Budget:
        """Its limits, with those of tokens and money."""
        assert isinstance(self.limits, Budget)
        return self.limits

    def set_mode(
        self, mode: str, who: str = "user", why: str = "the user said so"
    ) -> None:
        """Change the mode, of a run from its next state on. Only a person does this.

        No tool and no turn of the model leads here. ValueError: there is no such mode.
        """
        self.mode = str(Mode(mode))
        self._switches.append((self.mode, who, why))

    def resume(self, path: Path | str, approval: Answer | None = None) -> Exit:
        """Go on with a run that waits, or that died, from its trace; to a new exit.

        The machine must be made as the first one was: model, tools, rules. What the
        record holds is not asked, paid or done again.

        Args:
            approval: the answer to the call that the run waits with.

        Raises:
            TraceError: this is no trace, its run has ended, or it did something else
                than this machine does (`Divergence`, with the event).
        """
        again = copy(self)
        again.ask = _given_first(approval, self.ask)
        return super(GuardedMachine, again).resume(path)

    def played_again(self, recording: Recording) -> Self:
        """Return a copy whose model, tools, clock and person are a record's."""
        again = super().played_again(recording)
        again.mode = str(recording.recorded[0].get("mode", self.mode))
        again.ask = _as_recorded(recording, None if recording.exact else self.ask)
        return again

    def run(self, question: str) -> Exit:
        """Work on the question until an end is reached, or a person is waited for."""
        if self._recording is None:
            self._switches.clear()
        return super().run(question)

    def _about(self) -> dict[str, Any]:
        return {**self.about, "mode": self.mode}

    def _prepare(self, run: Run) -> None:
        make = self.make or self.tools.run
        if self.ledger is not None and self.make is None:
            run_id = getattr(self.hook, "trace_id", None) or uuid.uuid4().hex
            key = self.parts.get("idempotency_key", idempotency_key)
            claiming = self.parts.get("claim", claim)
            make = once(self.ledger, self.tools, run_id, make, key=key, claim=claiming)
        make = self._making(make, is_safe=self.ledger is not None)
        run.make = Cached(make, self.tools)
        run.model_s = None if math.isinf(self.budget.model_s) else self.budget.model_s
        run.estimates = True
        run.notes["guards"] = Guards(
            budget=self.budget,
            mode=self.mode,
            rules=self.rules,
            ask=self.ask,
            converge=self.converge,
            purse=self.purse,
            parts=self.parts,
            switches=self._switches,
            recording=self._recording,
        )

    def _finish(self, run: Run, state: str) -> Exit:
        if state != Guard.PENDING:
            return super()._finish(run, state)
        return self._exit(run, state, Said.SUSPENDED)  # its trace has no end yet


def _as_recorded(recording: Recording, ask: Ask | None) -> Ask | None:
    """Answer as the person in the record did; behind its end ask."""

    def answer(request: Request) -> Answer | None:
        coming = recording.coming()
        while coming and coming.get("event") == Said.SUSPENDED:
            coming = recording.after(coming)
        if coming is None:
            return ask(request) if ask else None
        if "answer" not in coming:
            raise stopped_by(coming, recording.recorded[-1])
        return as_answer(**coming["answer"])

    return answer


def _given_first(approval: Answer | None, ask: Ask | None) -> Ask:
    """Answer the first request with what was given, and ask about the others."""
    given = [approval] if approval is not None else []

    def answer(request: Request) -> Answer | None:
        if given:
            return given.pop()
        return ask(request) if ask else None

    return answer


def guarded(
    model: TextModel | ChatModel,
    tools: Iterable[Tool],
    *,
    budget: Budget = Budget(),  # noqa: B008 - frozen
    one_call: bool = False,
    table: Table | None = None,
    context_tokens: int | None = None,
    pinned: Sequence[str] = (),
    parts: Parts | None = None,
    **options: Any,
) -> GuardedMachine:
    """Return a machine with all guards on.

    Args:
        budget: the most that a run may spend.
        one_call: a turn may make one call; the others are refused in words.
        table: other rows, such as `guarded_table(yours)`.
        context_tokens: the prompt is fitted into so many; None is no limit.
        pinned: what the user wants kept in the prompt whatever happens.
        parts: functions in place of ours, by the exercise's name.
        options: `rules`, `mode` ("plan" or "build"), `ask` (a person; without one the
            run is suspended where one is needed), `ledger`, `purse`, `converge`, and
            what any `Machine` takes.
    """
    parts = parts or {}
    if context_tokens is not None or pinned:
        fit = parts.get("fit_context", fit_context)
        limit = math.inf if context_tokens is None else context_tokens
        context = partial(ContextLimit, limit=limit, pinned=pinned, fit=fit)
        takes_calls = options.get("adapter") is FunctionCalls
        if takes_calls or not hasattr(model, "complete"):
            options["adapter"] = partial(FunctionCalls, context=context)
        else:
            read = parts.get("parse_turn", parse_turn)
            options["adapter"] = partial(TextTurns, parse=read, context=context)
    return assemble(
        parts,
        model,
        tools,
        table=table or (ONE_CALL if one_call else GUARDED),
        kind=partial(GuardedMachine, budget=budget, parts=parts),
        **options,
    )
