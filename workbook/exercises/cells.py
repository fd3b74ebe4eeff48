"""Which cell a function comes from, and whether a newer one should have replaced it.

When the cell that defines `parse_turn` has a syntax error, the name still holds the
function of the cell before. The history of the kernel tells the two apart. Outside of
IPython there is no history, and nothing to say.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

from workbook.exercises.catalogue import exercises, near_miss


@dataclass(frozen=True, slots=True)
class Superseded:
    """A newer cell wanted to define the function, and did not get to.

    Args:
        cell: its number, as in `In [7]`.
        reason: what is wrong with it, in a sentence.
        line: the line at fault, where that is known.
    """

    cell: int
    reason: str
    line: str = ""


def source_of(function: Callable[..., Any]) -> str:
    """Say where a function comes from: `In [7], 12 lines, from 'def f():'`."""
    code = _code_of(function)
    if code is None:
        return ""
    lines = linecache.getlines(code.co_filename)
    number = _cell_of(function)
    if number is None:
        return f"{Path(code.co_filename).name}, line {code.co_firstlineno}"
    own = _own_lines(lines, code.co_firstlineno)
    return f"In [{number}], {len(own)} lines, from {own[0].strip()!r}" if own else ""


def superseded(function: Callable[..., Any] | None, slug: str) -> Superseded | None:
    """Return the newer cell that failed to define `slug`, or None.

    Args:
        function: what was handed to `check`; None, or the package's function, when the
            learner's own one is not known.
        slug: the exercise.
    """
    cells = _cells()
    if not cells:
        return None
    since = _cell_of(function) if function is not None else None
    if function is not None and since is None:  # from a module, or made by exec
        return None
    defines = re.compile(rf"^[ \t]*(?:async[ \t]+)?def[ \t]+{slug}\b", re.MULTILINE)
    for number in range(len(cells) - 1, (since or 0), -1):
        if not defines.search(cells[number]):
            continue
        try:
            tree = ast.parse(cells[number])
        except SyntaxError as error:
            where = f"line {error.lineno}" if error.lineno else "it"
            return Superseded(
                number,
                f"In [{number}] has a syntax error in {where}: {error.msg}",
                (error.text or "").strip(),
            )
        if not any(getattr(node, "name", "") == slug for node in tree.body):
            continue
        current = _user_namespace().get(slug)
        if since is None or (current is not None and _cell_of(current) == number):
            return None
        return Superseded(
            number, f"In [{number}] defines {slug} and stopped before it got there"
        )
    return None


def misspelt(function: Callable[..., Any] | None, slug: str) -> str | None:
    """Return the name in a newer cell that was probably meant to be `slug`, or None."""
    cells = _cells()
    since = _cell_of(function) if function is not None else 0
    if since is None:
        return None
    known = exercises()
    for number in range(len(cells) - 1, since, -1):
        names = re.findall(r"^def[ \t]+(\w+)", cells[number], re.MULTILINE)
        for name in names:
            if name not in known and near_miss(name, [slug]):
                return f"In [{number}] defines {name}; did you mean {slug}?"
    return None


def _cell_of(function: Any) -> int | None:
    """Return the number of the newest cell with the text that a function came from.

    The code below a `%%time` has a text of its own: there the call of the magic counts.
    """
    code = _code_of(function)
    if code is None:
        return None
    text = "".join(linecache.getlines(code.co_filename)).strip()
    cells = _cells()
    for number in range(len(cells) - 1, 0, -1):
        if text and cells[number].strip() == text:
            return number
    below_a_magic = text or code.co_filename == "<timed exec>"
    if not below_a_magic or Path(code.co_filename).is_file():
        return None
    marks = ("run_cell_magic(", f"def {code.co_name}")
    for number in range(len(cells) - 1, 0, -1):
        if all(mark in cells[number] for mark in marks):
            return number
    return None


def _code_of(function: Any) -> CodeType | None:
    """Return the code that a learner wrote, below any decorator."""
    found = getattr(inspect.unwrap(function), "__code__", None)
    return found if isinstance(found, CodeType) else None


def _own_lines(lines: Sequence[str], first: int) -> list[str]:
    """Return the lines of the definition that starts at line `first`."""
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and first in (
            node.lineno,
            *(d.lineno for d in node.decorator_list),
        ):
            return list(lines[node.lineno - 1 : node.end_lineno])
    return []


def _shell() -> Any:
    module = sys.modules.get("IPython")
    return module.get_ipython() if module is not None else None


def _user_namespace() -> dict[str, Any]:
    shell = _shell()
    return {} if shell is None else dict(shell.user_ns)


def _cells() -> list[str]:
    """Return the sources of the cells run so far, by number; `[]` outside IPython."""
    shell = _shell()
    return [] if shell is None else list(shell.history_manager.input_hist_parsed)
