"""Your functions: a file NAME.py that defines NAME replaces the runtime's NAME."""

import difflib
import functools
import importlib
import re
import traceback
import typing
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import PydanticUserError, TypeAdapter, ValidationError

from ..runtime.calls import ErrorKind, ToolFailure
from ..runtime.tools import ContractError, Tool

HOME = Path(__file__).parent
NAMES: Mapping[str, str] = dict(each.split("=") for each in "$PARTS".split())  # noqa: SIM905
"""The functions of the runtime that may be replaced, and the module of each."""
ADDED = ("my_tool", "my_guard", "percent_tool", "safe_eval")


class PartError(Exception):
    """A file of a part cannot be used; the message names it and its line."""


@functools.cache
def yours() -> dict[str, Callable[..., Any]]:
    """Return your functions by name; PartError names a file that is broken."""
    files = sorted(path for path in HOME.glob("*.py") if path.stem[0] != "_")
    return {path.stem: _load(path) for path in files}


def added_tools() -> list[Tool]:
    """Return the tools that parts add; PartError: a part has made none."""
    tools = []
    for name in sorted({"my_tool", "percent_tool"} & {*yours()}):
        try:
            made = yours()[name]()
        except Exception as error:
            made = error
        if not isinstance(made, Tool):
            raise PartError(f"parts/{name}.py returned {made!r}: it owes a Tool.")
        tools.append(made)
    return tools


def own_tools() -> list[Tool]:
    """Return the tools of tools.py; PartError says what is wrong in it."""
    file = HOME.with_name("tools.py")
    names = re.findall(r"^(?:async )?def (\w+)", file.read_text("utf-8-sig"), re.M)
    if twice := {name for name in names if names.count(name) > 1}:
        raise PartError(f"tools.py: {twice.pop()} is there twice. Rename one of them.")
    try:
        module = importlib.import_module(f"{__package__.rpartition('.')[0]}.tools")
    except Exception as error:
        kind = "" if isinstance(error, ContractError) else f"{type(error).__name__}: "
        where = f"tools.py{line_of(error, file)}"
        raise PartError(f"{where}: {kind}{error}") from None
    found = [each for each in vars(module).values() if isinstance(each, Tool)]
    return [_with_line(each, file) for each in found]


def _with_line(tool: Tool, file: Path) -> Tool:
    """Return a tool whose errors name the line of the file that raised."""

    def run(**arguments: Any) -> dict[str, Any]:
        try:
            return tool.run(**arguments)
        except ToolFailure:
            raise
        except Exception as error:
            where = f"{file.name}{line_of(error, file)}"
            words = f"{tool.name} raised {type(error).__name__}: {error} ({where})."
            raise ToolFailure(ErrorKind.TOOL_RAISED, words) from error

    return replace(tool, run=run)


def runtimes(name: str) -> Callable[..., Any]:
    """Return the runtime's function of that name."""
    module = importlib.import_module(f"{__package__.rpartition('.')[0]}.{NAMES[name]}")
    function: Callable[..., Any] = getattr(module, name)
    return function


def _load(path: Path) -> Callable[..., Any]:
    known = [*NAMES, *ADDED]
    if path.stem not in known:
        near = difflib.get_close_matches(path.stem, known, 1) or known
        raise PartError(
            f"parts/{path.name} replaces nothing: call it {' or '.join(near)}.py; a"
            " file of your own that a part imports begins with _."
        )
    try:
        module = importlib.import_module(f"{__name__}.{path.stem}")
        function = getattr(module, path.stem)
        if not callable(function):
            raise TypeError(f"{path.stem} is {function!r}, no function")
    except Exception as error:
        words = "".join(traceback.format_exception_only(error)[-1:]).strip()
        raise PartError(
            f"parts/{path.name}{line_of(error, path)} is broken: {words}. Fix it, or"
            " delete the file: then the runtime's own function is used."
        ) from None
    ours = runtimes(path.stem) if path.stem in NAMES else None

    @functools.wraps(function)
    def named(*args: Any, **kwargs: Any) -> Any:
        try:
            result = function(*args, **kwargs)
        except Exception as error:
            if _frames(error)[-1][0] == str(path):  # not what it has called
                where = f"parts/{path.name}{line_of(error, path)}"
                error.add_note(f"in your part {path.stem}, {where}")
            raise
        if ours:
            _checked(path.stem, ours, result)
        return result

    return named


def _checked(name: str, ours: Callable[..., Any], result: Any) -> None:
    """Raise PartError where a result is not what the runtime's function returns."""
    try:
        hint = typing.get_type_hints(ours).get("return", Any)
        config: Any = {"arbitrary_types_allowed": True}
        TypeAdapter(hint, config=config).validate_python(result, strict=True)
    except ValidationError:
        what = f"parts/{name}.py returned {result!r}"[:200]
        hint = getattr(hint, "__name__", hint)
        raise PartError(f"{what}: {name} owes {hint}.") from None
    except (PydanticUserError, NameError, TypeError):
        return  # nothing can check it


def line_of(error: BaseException, path: Path) -> str:
    """Return the last line of a file that an error has come through, or ""."""
    lines = [line for file, line in _frames(error) if file == str(path)]
    if isinstance(error, SyntaxError) and error.filename == str(path):
        lines = [error.lineno or 1]
    return f", line {lines[-1]}" if lines else ""


def _frames(error: BaseException) -> list[tuple[str, int]]:
    frames = traceback.walk_tb(error.__traceback__)
    return [(frame.f_code.co_filename, line) for frame, line in frames]
