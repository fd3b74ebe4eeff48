"""One call of one tool, held to its contract.

Arguments are checked before, time during, and output after the call. Each breach is a
`ToolError` in words that a model can act on. This module knows no registry.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbook.tools.calls import Effect, ErrorKind, ToolError, ToolFailure, to_json
from workbook.tools.timeouts import TimedOut, call_with_timeout

if TYPE_CHECKING:
    from workbook.tools.contract import Tool


def run_tool(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any] | ToolError:
    """Run one tool under its contract: arguments, time and output are checked."""
    problems = problems_with(tool, arguments)
    if problems:
        return invalid_arguments(tool, problems)
    return run_checked(tool, arguments)


def run_checked(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any] | ToolError:
    """Run one tool whose arguments are valid: time and output are checked."""
    try:
        output = call_with_timeout(tool.run, arguments, tool.timeout_s)
    except ToolFailure as failure:
        return failure.error
    except TimedOut:
        return timed_out(tool)
    except (Exception, SystemExit) as error:
        return ToolError(
            ErrorKind.TOOL_RAISED,
            f"{tool.name} raised {type(error).__name__}: {quoted(str(error), 300)}.",
            hint="Try other arguments, or go on without this tool.",
        )
    return checked_output(tool, output)


def checked_output(tool: Tool, output: object) -> dict[str, Any] | ToolError:
    """Return the output as plain JSON data, or say why it cannot be an observation."""
    if not isinstance(output, dict):
        return _bad_output(tool, f"returned {type(output).__name__}, not a dict")
    if (
        len(output) <= 4
        and tool.max_output_chars >= 10_000
        and all(
            plainly_json(name) and plainly_json(value) for name, value in output.items()
        )
    ):
        return {str(name): value for name, value in output.items()}
    try:
        text = to_json(output)
        text.encode("utf-8")  # half a surrogate pair is a str, but no text
    except (TypeError, ValueError, RecursionError) as error:
        return _bad_output(tool, f"returned what is not JSON ({quoted(str(error))})")
    if len(text) > tool.max_output_chars:
        limit = tool.max_output_chars
        return _bad_output(
            tool, f"returned {len(text)} characters; the limit is {limit}"
        )
    plain: dict[str, Any] = json.loads(text)
    return plain


def plainly_json(value: object) -> bool:
    """Return whether a look shows that a value is JSON: a short text, a small number.

    Most values are, and a look costs a fraction of the way to JSON and back. No means
    that a closer look is needed, and nothing else.
    """
    kind = type(value)
    if kind is str:
        return len(value) < 200 and value.isascii()  # type: ignore[arg-type, attr-defined]
    return kind is int and -(2**53) < value < 2**53  # type: ignore[operator]


def problems_with(tool: Tool, arguments: Any) -> list[str]:
    if _plainly_valid(tool, arguments):
        return []
    try:
        to_json(arguments).encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        return [f"the arguments are not JSON ({quoted(str(error))})"]
    if tool.validator.is_valid(arguments):
        return []
    from workbook.tools.validation import sentences

    return sentences(tool.validator, arguments)


def _plainly_valid(tool: Tool, arguments: Any) -> bool:
    """Return whether a look at types and sizes shows that the arguments are valid."""
    types = tool.plain_types
    return (
        types is not None
        and type(arguments) is dict
        and all(
            type(value) in types.get(name, ()) and plainly_json(value)
            for name, value in arguments.items()
        )
        and all(name in arguments for name in tool.parameters.get("required", ()))
    )


def written_out(arguments: Any) -> str | None:
    """Return the arguments as Python writes them, to compare them by; None if it can't.

    Unlike `==`, it tells True from 1 and a tuple from a list, as a schema does; and a
    dict that was changed after it was checked does not look as it did.
    """
    try:
        return repr(arguments)
    except Exception:  # too deep, or not data at all: the check will say so
        return None


def invalid_arguments(
    tool: Tool, problems: list[str], notes: Sequence[str] = ()
) -> ToolError:
    listed = "; ".join(quoted(problem, 200) for problem in problems[:5])
    advice = "".join(f"{quoted(note, 200)}. " for note in notes)
    return ToolError(
        ErrorKind.INVALID_ARGUMENTS,
        f"{listed}.",
        hint=f"{advice}Use {tool.signature()}.",
    )


def timed_out(tool: Tool) -> ToolError:
    if tool.effect is Effect.WRITE:
        return ToolError(
            ErrorKind.TIMEOUT,
            f"{tool.name} did not answer within {tool.timeout_s:g} s.",
            hint="It may still take effect: find out before you call it again.",
        )
    return ToolError(
        ErrorKind.TIMEOUT,
        f"{tool.name} did not answer within {tool.timeout_s:g} s.",
        retryable=True,
        hint="Ask for less, or go on without it.",
    )


def _bad_output(tool: Tool, what: str) -> ToolError:
    return ToolError(
        ErrorKind.BAD_OUTPUT,
        f"{tool.name} {what}.",
        hint="Ask for less, or go on without this tool.",
    )


def quoted(text: str, limit: int = 60) -> str:
    text = repr(text) if limit == 60 else text
    return text if len(text) <= limit else f"{text[:limit]}…"
