"""Your functions, a file each. Where there is no file, the runtime has its own.

`PARTS` holds them by name. Delete a file, and the runtime's function takes its place.
"""

import functools
import importlib
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

HOME = Path(__file__).parent


class PartError(Exception):
    """A file of a part cannot be used; the message names it and its line."""


def load() -> dict[str, Callable[..., Any]]:
    """Return the function of each file; PartError names what is broken."""
    files = sorted(path for path in HOME.glob("*.py") if path.stem[0] != "_")
    return {path.stem: _part(path) for path in files}


def _part(path: Path) -> Callable[..., Any]:
    try:
        module = importlib.import_module(f"{__name__}.{path.stem}")
        function = getattr(module, path.stem)
    except Exception as error:
        said = "".join(traceback.format_exception_only(error)[-1:]).strip()
        raise PartError(
            f"parts/{path.name}{_line(error, path)} is broken: {said}. Fix it, or"
            " delete the file: then the runtime's own function is used."
        ) from None

    @functools.wraps(function)
    def part(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            where = f"in your part {path.stem}, parts/{path.name}{_line(error, path)}"
            if where not in getattr(error, "__notes__", ()):
                error.add_note(where)
            raise

    return part


def _line(error: BaseException, path: Path) -> str:
    """Return the last line of a file that an error has come through."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f", line {error.lineno}"
    frames = traceback.walk_tb(error.__traceback__)
    lines = [line for f, line in frames if f.f_code.co_filename == str(path)]
    return f", line {lines[-1]}" if lines else ""


PARTS = load()
