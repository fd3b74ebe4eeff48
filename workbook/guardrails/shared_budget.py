"""One budget for several runs: a class's key, a night of experiments.

What a call may cost is reserved before it and settled after it, under a lock.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from filelock import FileLock

from workbook.fsm.handlers import think
from workbook.fsm.limits import Spent
from workbook.fsm.run import Run
from workbook.guardrails.budget import Budget, NextCall, room, within_budget
from workbook.guardrails.handlers import tokens_of
from workbook.models.base import MAX_TOKENS, Usage, streams


class SharedBudgetError(RuntimeError):
    """The file of a shared budget cannot be read or written: nothing is reserved."""


class SharedBudget:
    """One budget for several runs: of threads, and with a file of processes.

    What is reserved counts as spent until it is settled, also where whoever reserved it
    is gone. Time and tool calls are each run's own, and held by its own budget.

        guarded(model, tools, handlers={"THINK": shared.think})
    """

    def __init__(self, budget: Budget, path: Path | str | None = None) -> None:
        self.budget, self.path = budget, None if path is None else Path(path)
        self._lock = threading.Lock() if path is None else FileLock(f"{path}.lock")
        self._spent = Spent()

    def think(self, run: Run) -> str:
        """Ask the model with what is left for all: THINK of a guarded machine."""
        if coming := run.coming():  # a record says what was left then
            if str(coming.get("event")).startswith("out_of_"):
                return str(coming["event"])
            run.max_tokens = coming.get("max_tokens")
            return think(run)
        conversation: Any = run.conversation
        self.budget.check_model(conversation.model)
        size = tokens_of(conversation)
        # At most MAX_TOKENS: the first run leaves something over.
        caps = [run.max_tokens, self.room(size), MAX_TOKENS]
        cap = min(cap for cap in caps if cap is not None)
        call = NextCall("model", size, max(cap, 1))
        if ran_out := self.reserve(call):
            return ran_out
        run.max_tokens = cap if streams(conversation.model) else None
        before = run.spent.usage
        try:
            return think(run)
        finally:
            cost = run.spent.usage - before
            most = Usage(call.input_tokens, call.output_tokens)
            self.settle(call, most if cost == Usage() else cost)

    def reserve(self, next_call: NextCall) -> str | None:
        """Take the most that a model call may cost, or return what has run out."""
        with self._held() as spent:
            ran_out = within_budget(spent, self.budget, next_call)
            if ran_out is None:
                spent.steps += 1
                spent.usage += Usage(next_call.input_tokens, next_call.output_tokens)
            return ran_out

    def settle(self, reserved: NextCall, usage: Usage = Usage()) -> None:  # noqa: B008
        """Count what a reserved call did cost; no tokens where it was not made."""
        most = Usage(reserved.input_tokens, reserved.output_tokens)
        with self._held() as spent:
            spent.usage += usage - most

    def spent(self) -> Spent:
        """Return what all runs have spent, with what is reserved."""
        with self._held() as spent:
            return replace(spent)

    def room(self, input_tokens: int) -> int | None:
        """Return how many tokens a model may write now; see `room`."""
        return room(self.spent(), self.budget, input_tokens)

    @contextmanager
    def _held(self) -> Iterator[Spent]:
        """Hold the lock, with what is spent by then; keep what is done to it."""
        try:
            with self._lock:
                if self.path and self.path.exists():
                    self._spent = _read(self.path)
                yield self._spent
                if self.path:
                    _write(self._spent, self.path)
        except (OSError, ValueError) as error:
            raise SharedBudgetError(
                f"the shared budget {self.path} cannot be read or written: {error}."
                " Nothing is spent without it. Mend it, or take another file: a new one"
                " knows of nothing that was spent."
            ) from error


def _read(path: Path) -> Spent:
    """Return what a file says; ValueError where it is not as it was written."""
    try:
        found = json.loads(path.read_bytes())
        steps, usage = found["steps"], Usage(**found["usage"])
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"it is not as it was written ({error!r})") from None
    for number in (steps, *usage.to_dict().values()):
        if type(number) is not int or number < 0:
            raise ValueError(f"{number!r} is no number of steps or tokens")
    return Spent(steps, usage=usage)


def _write(spent: Spent, path: Path) -> None:
    state = {"steps": spent.steps, "usage": spent.usage.to_dict()}
    part = path.with_name(f"{path.name}.part")
    part.write_text(json.dumps(state), encoding="utf-8")
    os.replace(part, path)  # nobody ever sees half a file
