"""The machine with its guards: made in one call, switched by a person, gone on with.

Nothing of the driver changes. A run that waits for a person, or that a crash ended, is
its trace file: `resume` plays it again up to its last event and goes on from there.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from workbook.fsm.assemble import assemble
from workbook.fsm.handlers import HANDLERS, Handler
from workbook.fsm.machine import Machine, RunResult
from workbook.fsm.outside import Live, Outside
from workbook.fsm.run import Run, RunOptions
from workbook.fsm.table import State, Table, Transition
from workbook.guardrails.budget import Budget
from workbook.guardrails.context import ContextLimit, fit_context
from workbook.guardrails.handlers import (
    Ask,
    Guards,
    Switch,
    execute_allowed,
    in_its_mode,
    observe_cycles,
    pending_approval,
    policy,
    think_within,
)
from workbook.guardrails.ledger import Ledger, claim, idempotency_key, once
from workbook.guardrails.permission import POLICY, Answer, Mode, PolicyRule, Request
from workbook.guardrails.table import GUARDED, GuardState
from workbook.models.base import ChatModel, TextModel
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
        parts: Parts | None = None,
        handlers: Mapping[str, Handler] | None = None,
        **options: Any,
    ) -> None:
        core = {**HANDLERS, **(handlers or {})}
        work = core | {
            State.THINK: think_within(core[State.THINK]),
            State.EXECUTE_TOOL: execute_allowed,
            State.OBSERVE: observe_cycles,
            GuardState.POLICY: policy,
            GuardState.PENDING_APPROVAL: pending_approval,
        }
        work = {state: in_its_mode(handler) for state, handler in work.items()}
        super().__init__(model, tools, table, limits=budget, handlers=work, **options)
        budget.check_model(model)
        self.rules, self.mode = rules, str(Mode(mode))
        self.ask, self.ledger, self.converge = ask, ledger, converge
        self.parts, self._switches = parts or {}, deque[Switch]()

    @property
    def budget(self) -> Budget:
        """Its limits, with those of tokens and money."""
        assert isinstance(self.limits, Budget)
        return self.limits

    def with_limits(self, **changes: Any) -> Self:
        """Return a copy with other limits; ValueError where its model keeps none."""
        again = super().with_limits(**changes)
        again.budget.check_model(again.model)
        return again

    def set_mode(
        self, mode: str, who: str = "user", why: str = "the user said so"
    ) -> None:
        """Change the mode, of a run from its next state on. Only a person does this.

        No tool and no turn of the model leads here. ValueError: there is no such mode.
        """
        self.mode = str(Mode(mode))
        self._switches.append((self.mode, who, why))

    def resume(self, path: Path | str, approval: Answer | None = None) -> RunResult:
        """Go on with a run that waits, or that died, from its trace; to a new end.

        The machine must be made as the first one was: model, tools, rules. What the
        record holds is not asked, paid or done again.

        Args:
            approval: the answer to the call that the run waits with.

        Raises:
            TraceError: this is no trace, its run has ended, or it did something else
                than this machine does (`Divergence`, with the event).
        """
        again = copy(self)
        if approval is not None:
            answers = iter([approval])  # the others are the person's

            def answer(request: Request) -> Answer | None:
                return next(answers, None) or (self.ask and self.ask(request))

            again.ask = answer
        return super(GuardedMachine, again).resume(path)

    def run(self, question: str, outside: Outside | None = None) -> RunResult:
        """Work on the question until an end is reached, or a person is waited for."""
        if outside is None:
            self._switches.clear()
        return super().run(question, outside)

    def live(self, trace_id: str | None = None) -> Live:
        """Return this machine's own tools, person, hook, clock and cancel."""
        live = super().live(trace_id)
        if self.ask is not None:
            live.consult = self.ask
        if self.ledger is not None:
            live.make = once(
                self.ledger,
                self.tools,
                live.trace_id,
                live.make,
                key=self.parts.get("idempotency_key", idempotency_key),
                claim=self.parts.get("claim", claim),
            )
            live.may_repeat = lambda call: True  # it knows what was done
        return live

    def _options(self) -> RunOptions:
        model_s = None if math.isinf(self.budget.model_s) else self.budget.model_s
        return replace(super()._options(), model_s=model_s, estimates=True)

    def _about(self, run: Run) -> dict[str, Any]:
        mode = (run.coming() or {}).get("mode", self.mode)
        run.notes["guards"] = Guards(
            self.budget, mode, self.rules, self.converge, self.parts, self._switches
        )
        return super()._about(run) | {"mode": mode}

    def _finish(
        self, run: Run, rule: Transition, raised: BaseException | None
    ) -> RunResult:
        if rule.target == GuardState.PENDING:
            return self._exit(run, rule, raised)  # its trace has no end yet
        return super()._finish(run, rule, raised)


def guarded(
    model: TextModel | ChatModel,
    tools: Iterable[Tool],
    *,
    budget: Budget = Budget(),  # noqa: B008 - frozen
    table: Table | None = None,
    context_tokens: int | None = None,
    pinned: Sequence[str] = (),
    parts: Parts | None = None,
    **options: Any,
) -> GuardedMachine:
    """Return a machine with all guards on.

    Args:
        budget: the most that a run may spend.
        table: other rows, such as `guarded_table(yours)`.
        context_tokens: the prompt is fitted into so many; None is no limit.
        pinned: what the user wants kept in the prompt whatever happens.
        parts: functions in place of ours, by name.
        options: `rules`, `mode` ("plan" or "build"), `ask` (a person; without one the
            run is suspended where one is needed), `ledger`, `converge`, and what any
            `Machine` takes.
    """
    parts = parts or {}
    if context_tokens is not None or pinned:
        fit = parts.get("fit_context", fit_context)
        limit = math.inf if context_tokens is None else context_tokens
        fitted = partial(ContextLimit, limit=limit, pinned=pinned, fit=fit)
        options["context"] = fitted
    return assemble(
        parts,
        model,
        tools,
        table=table or GUARDED,
        kind=partial(GuardedMachine, budget=budget, parts=parts),
        **options,
    )
