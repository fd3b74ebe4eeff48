"""Your functions: a file NAME.py that defines NAME replaces the runtime's NAME."""

import difflib
import functools
import importlib
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

HOME = Path(__file__).parent


NAMES = "$PARTS"
"""The functions of the runtime that may be replaced."""
KNOWN = NAMES.split()


class PartError(Exception):
    """A file of a part cannot be used; the message names it and its line."""


@functools.cache
def yours() -> dict[str, Callable[..., Any]]:
    """Return your functions by name; PartError names a file that is broken."""
    files = sorted(path for path in HOME.glob("*.py") if path.stem[0] != "_")
    return {path.stem: _load(path) for path in files}


def part(ours: Callable[..., Any]) -> Callable[..., Any]:
    """Return your function of that name, or else the one that is given."""
    return yours().get(ours.__name__, ours)


def _load(path: Path) -> Callable[..., Any]:
    if path.stem not in KNOWN:
        near = difflib.get_close_matches(path.stem, KNOWN, 1) or KNOWN
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
        said = "".join(traceback.format_exception_only(error)[-1:]).strip()
        raise PartError(
            f"parts/{path.name}{line_of(error, path)} is broken: {said}. Fix it, or"
            " delete the file: then the runtime's own function is used."
        ) from None

    @functools.wraps(function)
    def named(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            if _frames(error)[-1][0] == str(path):  # not what it has called
                where = f"parts/{path.name}{line_of(error, path)}"
                error.add_note(f"in your part {path.stem}, {where}")
            raise

    return named


def line_of(error: BaseException, path: Path) -> str:
    """Return the last line of a file that an error has come through, or ""."""
    lines = [line for file, line in _frames(error) if file == str(path)]
    if isinstance(error, SyntaxError) and error.filename == str(path):
        lines = [error.lineno or 1]
    return f", line {lines[-1]}" if lines else ""


def _frames(error: BaseException) -> list[tuple[str, int]]:
    frames = traceback.walk_tb(error.__traceback__)
    return [(frame.f_code.co_filename, line) for frame, line in frames]
