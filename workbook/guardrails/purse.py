"""One budget for several runs: a class's key, a night of experiments.

What a call may cost is reserved before it and settled after it, under a lock.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock

from workbook.fsm.limits import Spent
from workbook.guardrails.budget import Budget, NextCall, room, within_budget
from workbook.models.base import Usage

T = TypeVar("T")


class PurseError(RuntimeError):
    """The file of a purse cannot be read or written: nothing can be reserved."""


class Purse:
    """One budget for several runs: of threads, and with a file of processes.

    What is reserved counts as spent until it is settled, also where whoever reserved it
    is gone. A machine asks it before each model call; time and tool calls are each
    run's own, and held by its own budget. A file that is damaged is a PurseError.
    """

    def __init__(self, budget: Budget, path: Path | str | None = None) -> None:
        self.budget, self.path = budget, None if path is None else Path(path)
        self._lock = threading.Lock() if path is None else FileLock(f"{path}.lock")
        self._spent, self._reserved = Spent(), Usage()

    def reserve(self, next_call: NextCall) -> str | None:
        """Take the most that a call may cost, or return what has run out."""
        with self._held():
            ran_out = within_budget(self._both(), self.budget, next_call)
            if ran_out is None:
                self._spent.steps += next_call.kind == "model"
                self._spent.tool_calls += next_call.kind == "tool"
                self._reserved += Usage(next_call.input_tokens, next_call.output_tokens)
                self._write()
            return ran_out

    def settle(self, reserved: NextCall, usage: Usage = Usage()) -> None:  # noqa: B008
        """Put down what a reserved call did cost; none where it was not made."""
        with self._held():
            self._spent.usage += usage
            self._reserved += Usage(-reserved.input_tokens, -reserved.output_tokens)
            self._write()

    def spent(self) -> Spent:
        """Return what all runs have spent, with what is reserved."""
        with self._held():
            return self._both()

    def room(self, input_tokens: int) -> int | None:
        """Return how many tokens a model may write now; see `room`."""
        return room(self.spent(), self.budget, input_tokens)

    def _both(self) -> Spent:
        return replace(self._spent, usage=self._spent.usage + self._reserved)

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Hold the lock, with what the file says by then."""
        try:
            with self._lock:
                if self.path and self.path.exists():
                    self._read(self.path)
                yield
        except (OSError, ValueError) as error:
            raise PurseError(
                f"the shared budget {self.path} cannot be read or written: {error}."
                " Nothing is spent without it. Mend it, or take another file: a new one"
                " knows of nothing that was spent."
            ) from error

    def _read(self, path: Path) -> None:
        try:
            match json.loads(path.read_bytes()):
                case {"spent": {"usage": usage, **counts}, "reserved": reserved}:
                    read, used = _counted(Usage, usage), _counted(Spent, counts)
                    self._spent = replace(used, usage=read)
                    self._reserved = _counted(Usage, reserved)
                    return
        except (TypeError, RecursionError) as error:
            raise ValueError(f"it is not as it was written ({error})") from None
        raise ValueError("it is not as it was written")

    def _write(self) -> None:
        if self.path:
            state = {"spent": asdict(self._spent), "reserved": asdict(self._reserved)}
            part = self.path.with_name(f"{self.path.name}.part")
            part.write_text(json.dumps(state), encoding="utf-8")
            os.replace(part, self.path)  # nobody ever sees half a file


def _counted(kind: Callable[..., T], counts: Mapping[Any, Any]) -> T:
    """Return such an object of numbers from 0; TypeError or ValueError otherwise."""
    if any(isinstance(n, bool) or not n >= 0 for n in counts.values()):
        raise ValueError(f"it has {counts}: no number from 0")
    return kind(**counts)
