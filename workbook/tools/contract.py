"""The registry, which holds each tool to what its definition promises.

A tool takes a JSON object that its schema allows and returns a JSON object, within its
time. Whatever else happens becomes an observation that says what was wrong and what to
do next: the model can be wrong in any way without stopping the program. This module
knows no engine, no model and no particular tool.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterable, Iterator

from workbook.loop.parsing import Action
from workbook.models.base import ToolRequest
from workbook.tools.calls import (
    Effect,
    ErrorKind,
    Observation,
    ToolCall,
    ToolError,
    ToolFailure,
)
from workbook.tools.definition import ContractError, Tool
from workbook.tools.reading import UnreadableInput, read_arguments
from workbook.tools.repair import repair_arguments
from workbook.tools.running import (
    TOO_DEEP,
    invalid_arguments,
    problems_with,
    quoted,
    run_checked,
    run_tool,
    written_out,
)

__all__ = [
    "ContractError",
    "Effect",
    "ErrorKind",
    "Observation",
    "Tool",
    "ToolCall",
    "ToolError",
    "ToolFailure",
    "ToolRegistry",
]


class ToolRegistry:
    """The tools of an agent, by name.

    Args:
        tools: the first tools; more come with `register`.
    """

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        self._numbers = itertools.count(1)
        # Tool to the arguments that `bind` last found valid, as `written_out` has them.
        self._valid: dict[str, str | None] = {}
        for tool in tools:
            self.register(tool)

    def register(self, tool: Tool) -> Tool:
        """Add a tool.

        Raises:
            ContractError: there is one of that name already.
        """
        if tool.name in self._tools:
            raise ContractError(f"there is already a tool named {tool.name!r}")
        self._tools[tool.name] = tool
        return tool

    def describe(self) -> str:
        """Return one line a tool, for a prompt."""
        return "\n".join(
            f"{tool.signature()}: {' '.join(tool.description.split())}" for tool in self
        )

    def bind(
        self, action: Action | ToolRequest, call_id: str | None = None
    ) -> ToolCall | ToolError:
        """Make a call of what a model asked for.

        Text input becomes arguments: a JSON object is taken as it is, anything else is
        the value of the tool's only parameter. A near miss is repaired where there is
        one way to read it; the notes of the call say so.

        Args:
            action: a text turn's action, or a function call.
            call_id: ties the observation to the call; counted up when not given.
        """
        asked = action.tool if isinstance(action, Action) else action.name
        tool, notes = self._find(asked)
        if tool is None:
            return self._unknown(asked)
        try:
            if isinstance(action, Action):
                arguments, read = read_arguments(tool.parameters, action.input)
                notes += read
            else:
                arguments = action.arguments
                call_id = call_id or action.call_id
            arguments, repaired = repair_arguments(
                tool.parameters, arguments, tool.all_aliases
            )
        except UnreadableInput as error:
            return invalid_arguments(tool, [str(error)])
        except RecursionError:
            return invalid_arguments(tool, [TOO_DEEP])
        problems = problems_with(tool, arguments)
        if problems:
            return invalid_arguments(tool, problems, [*notes, *repaired])
        self._valid[tool.name] = written_out(arguments)
        call_id = call_id or f"call_{next(self._numbers)}"
        return ToolCall(tool.name, arguments, call_id, (*notes, *repaired))

    def run(self, call: ToolCall) -> Observation:
        """Make the call and return what came of it.

        Arguments are checked, unless `bind` has checked the same ones a moment ago.
        Never raises for what a model or a tool did, SystemExit included. Other signals
        to the program that are no Exception pass, such as KeyboardInterrupt.
        """
        tool = self._tools.get(call.name)
        if tool is None:
            return Observation.failed(call.call_id, self._unknown(call.name), call.name)
        written = written_out(call.arguments)
        checked = written is not None and written == self._valid.get(call.name)
        outcome = (run_checked if checked else run_tool)(tool, call.arguments)
        if isinstance(outcome, ToolError):
            return Observation(
                call.call_id, False, None, outcome, tool.name, call.notes
            )
        return Observation(call.call_id, True, outcome, None, tool.name, call.notes)

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def _find(self, asked: str) -> tuple[Tool | None, list[str]]:
        tool = self._tools.get(asked)
        if tool is not None:
            return tool, []
        same = [tool for tool in self if _plain(tool.name) == _plain(asked)]
        if len(same) != 1:
            return None, []
        return same[0], [f"the tool is called {same[0].name}, not {quoted(asked)}"]

    def _unknown(self, asked: str) -> ToolError:
        near = difflib.get_close_matches(asked[:64], self._tools, n=1)
        return ToolError(
            ErrorKind.UNKNOWN_TOOL,
            f"there is no tool named {quoted(asked)}.",
            hint=(f"Did you mean {near[0]}? " if near else "")
            + f"There is: {', '.join(self._tools) or 'no tool at all'}.",
        )


def _plain(name: str) -> str:
    return re.sub(r"[\s_`*\"'-]+", "", name[:200]).casefold()
