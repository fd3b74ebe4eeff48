"""The same READ is made once in a run; for a machine's `cache`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from workbook.guardrails.permission import digest_of_call
from workbook.tools.calls import Effect, Observation, ToolCall
from workbook.tools.registry import ToolRegistry

FROM_CACHE = "from this run's cache: the same call was made before"


class Cached:
    """Makes the calls of one run, and answers a READ that was made before by itself.

    Only of tools that are `repeatable`, and only what worked. From the first WRITE on
    it keeps and knows nothing any more: that may have changed whatever was read.

    Args:
        make: makes a call, such as `tools.run`.
        tools: say what a call does, and whether it is repeatable.
    """

    def __init__(
        self, make: Callable[[ToolCall], Observation], tools: ToolRegistry
    ) -> None:
        self.make, self.tools = make, tools
        self.kept: dict[str, Observation] = {}  # by tool and arguments
        self.on = True

    def __call__(self, call: ToolCall) -> Observation:
        """Return what came of the call, or of the same call before, with a note."""
        tool = self.tools[call.name]
        if tool.effect is Effect.WRITE:
            self.on = False  # before it: one that fails may have written all the same
        if not (self.on and tool.repeatable):
            return self.make(call)
        key = digest_of_call(call)
        if known := self.kept.get(key):
            notes = (*call.notes, FROM_CACHE)
            return replace(known, call_id=call.call_id, notes=notes)
        observation = self.make(call)
        if observation.ok:
            self.kept[key] = observation
        return observation
