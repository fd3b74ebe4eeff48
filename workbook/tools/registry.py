"""The registry, which holds each tool to what its definition promises.

A tool takes a JSON object that its schema allows and returns one within its time.
Whatever else happens becomes an observation that says what was wrong and what to do
next: the model can be wrong in any way without stopping the program.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbook.loop.turns import Action
from workbook.models.base import ToolRequest
from workbook.tools.arguments import (
    UnreadableInput,
    problems_with,
    read_arguments,
    validate_arguments,
)
from workbook.tools.calls import (
    Effect,
    ErrorKind,
    NotJson,
    Observation,
    ToolCall,
    ToolError,
    ToolFailure,
    as_json,
    clipped,
)
from workbook.tools.repair import repair_arguments
from workbook.tools.threads import TimedOut, call_with_timeout, failed
from workbook.tools.tool import ContractError, Tool


class ToolRegistry:
    """The tools of an agent, by name; a second one of a name is a ContractError.

    `validate` and `repair` stand in for `validate_arguments` and `repair_arguments`.
    """

    def __init__(
        self,
        tools: Iterable[Tool] = (),
        *,
        validate: Callable[[Mapping[str, Any], Any], list[str]] | None = None,
        repair: Callable[..., tuple[dict[str, Any], list[str]]] | None = None,
    ) -> None:
        self._validate, self._repair = validate, repair or repair_arguments
        self._tools: dict[str, Tool] = {}
        self._numbers = itertools.count(1)
        for tool in tools:
            if tool.name in self._tools:
                raise ContractError(f"there is already a tool named {tool.name!r}")
            self._tools[tool.name] = tool

    def describe(self) -> str:
        """Return one line a tool, for a prompt."""
        return "\n".join(
            f"{tool.signature()}: {' '.join(tool.description.split())}" for tool in self
        )

    def bind(
        self, action: Action | ToolRequest, call_id: str | None = None
    ) -> ToolCall | ToolError:
        """Make a call of what a model asked for.

        Text input is read by `read_arguments`; a near miss is repaired where there is
        one way to read it, and the notes of the call say so. `call_id` ties the
        observation to the call; it is counted up when nobody gives one.
        """
        asked = action.tool if isinstance(action, Action) else action.name
        tool, notes = self._find(asked)
        if tool is None:
            return self._unknown(asked)
        try:
            if isinstance(action, Action):
                written, read = read_arguments(tool.parameters, action.input)
                notes += read
            else:
                written, call_id = action.arguments, call_id or action.call_id
            plain = as_json(written)
        except UnreadableInput as error:
            return _invalid_arguments(tool, [str(error)])
        except NotJson as error:
            return _invalid_arguments(tool, [f"arguments: not JSON ({error})"])
        arguments, repaired = self._repair(tool.parameters, plain, tool.all_aliases)
        notes += repaired
        if problems := self._problems(tool, arguments):
            return _invalid_arguments(tool, problems, notes)
        call_id = call_id or f"call_{next(self._numbers)}"
        return ToolCall(tool.name, arguments, call_id, tuple(notes), arguments)

    def run(self, call: ToolCall) -> Observation:
        """Make a call and return what came of it; `bind` has checked it, or this does.

        Never raises for what a model or a tool did, SystemExit included; other signals
        to the program pass, such as KeyboardInterrupt.
        """
        tool = self._tools.get(call.name)
        if tool is None:
            return Observation.failed(call.call_id, self._unknown(call.name), call.name)
        checked = call.checked is call.arguments
        problems = [] if checked else self.problems(call.name, call.arguments)
        error: ToolError | None
        try:
            if not problems:
                return _made(tool, call)
            error = _invalid_arguments(tool, problems)
        except ToolFailure as failure:
            said, limit = failure.error, tool.max_output_chars
            message, hint = clipped(said.message, limit), clipped(said.hint, limit)
            error = replace(said, message=message, hint=hint)
        except (Exception, SystemExit) as raised:
            error = failed(call, raised).error
        return Observation(call.call_id, False, None, error, call.name, call.notes)

    def problems(self, name: str, arguments: dict[str, Any]) -> list[str]:
        """Return in sentences what a tool's schema refuses in arguments."""
        validate = self._validate or validate_arguments
        return validate(self._tools[name].parameters, arguments)

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def _problems(self, tool: Tool, plain: Any) -> list[str]:
        if self._validate is not None:
            return self._validate(tool.parameters, plain)
        return problems_with(tool.validator, plain)

    def _find(self, asked: str) -> tuple[Tool | None, list[str]]:
        if asked in self._tools:
            return self._tools[asked], []
        same = [tool for tool in self if _plain(tool.name) == _plain(asked)]
        if len(same) != 1:
            return None, []
        return same[0], [
            f"the tool is called {same[0].name}, not {clipped(repr(asked), 60)}"
        ]

    def _unknown(self, asked: str) -> ToolError:
        near = difflib.get_close_matches(asked[:64], self._tools, n=1)
        hint = f"Did you mean {near[0]}? " if near else ""
        hint += f"There is: {', '.join(self._tools) or 'no tool at all'}."
        message = f"there is no tool named {clipped(repr(asked), 60)}."
        return ToolError(ErrorKind.UNKNOWN_TOOL, message, hint=hint)


def _output(tool: Tool, arguments: Mapping[str, Any]) -> Any:
    """Return what a tool's function returns; ToolFailure where it took too long."""
    arguments = as_json(dict(arguments))  # a copy: the tool may change its own
    try:
        return call_with_timeout(tool.run, arguments, tool.timeout_s)
    except TimedOut:
        # Without a limit of its own, the tool has given up waiting for something else.
        limit = "in time" if tool.timeout_s is None else f"within {tool.timeout_s:g} s"
        read = tool.effect is Effect.READ
        unknown = "It may still take effect: find out before you call it again."
        raise ToolFailure(
            ErrorKind.TIMEOUT,
            f"{tool.name} did not answer {limit}.",
            retryable=read,
            hint="Ask for less, or go on without it." if read else unknown,
        ) from None


def _invalid_arguments(
    tool: Tool, problems: list[str], notes: Sequence[str] = ()
) -> ToolError:
    """Return the error of a call that is not made, and how to write it."""
    listed = "; ".join(clipped(problem, 200) for problem in problems[:5])
    advice = "".join(f"{clipped(note, 200)}. " for note in notes)
    hint = f"{advice}Use {tool.signature()}."
    return ToolError(ErrorKind.INVALID_ARGUMENTS, f"{listed}.", hint=hint)


def _made(tool: Tool, call: ToolCall) -> Observation:
    """Make a call; ToolFailure where its output is not the JSON that was promised."""
    output, limit = _output(tool, call.arguments), tool.max_output_chars
    if not isinstance(output, dict):
        raise _bad_output(tool, f"{type(output).__name__}, not a dict")
    try:
        result = as_json(output)
    except NotJson as error:
        raise _bad_output(tool, f"what is not JSON ({error})") from None
    seen = Observation(call.call_id, True, result, None, call.name, call.notes)
    if (size := len(seen.text())) > limit:
        raise _bad_output(tool, f"{size} characters; the limit is {limit}")
    return seen


def _bad_output(tool: Tool, what: str) -> ToolFailure:
    hint = "Ask for less, or go on without this tool."
    return ToolFailure(ErrorKind.BAD_OUTPUT, f"{tool.name} returned {what}.", hint=hint)


def _plain(name: str) -> str:
    return re.sub(r"[\s_`*\"'-]+", "", name[:200]).casefold()
