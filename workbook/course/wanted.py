"""The exception that a test waits for, `with pytest.raises(…)`, in words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from workbook.course.report import with_article


@dataclass(frozen=True, slots=True)
class WantedError:
    """An exception that had to be raised.

    Args:
        kinds: the names of the classes; one of them will do.
        pattern: the regular expression that its message had to match, if any.
    """

    kinds: tuple[str, ...]
    pattern: str = ""

    def __str__(self) -> str:
        first, *others = self.kinds
        kinds = " or ".join([with_article(first), *others])
        return (
            f"{kinds} whose message {in_words(self.pattern)}" if self.pattern else kinds
        )


def wanted_error(frame: FrameType, line: int) -> WantedError | None:
    """Return what the `pytest.raises` around a line of a test waits for, or None."""
    source = Path(frame.f_code.co_filename).read_text(encoding="utf-8")
    for call in _raises_around(ast.parse(source), line):
        try:
            kinds: Any = _value(call.args[0], frame)
            patterns = [
                _value(k.value, frame) for k in call.keywords if k.arg == "match"
            ]
            names = [
                k.__name__ for k in (kinds if isinstance(kinds, tuple) else [kinds])
            ]
            pattern = patterns[0] if patterns else ""
            return WantedError(tuple(names), getattr(pattern, "pattern", pattern) or "")
        except Exception:  # a form that no test of ours has
            return None
    return None


def _raises_around(tree: ast.Module, line: int) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.With) or not (
            node.lineno <= line <= (node.end_lineno or node.lineno)
        ):
            continue
        for item in node.items:
            match item.context_expr:
                case ast.Call(func=ast.Attribute(attr="raises")) as call:
                    yield call


def _value(node: ast.expr, frame: FrameType) -> Any:
    code = compile(ast.Expression(node), "<test>", "eval")
    return eval(code, frame.f_globals, frame.f_locals)


def in_words(pattern: str) -> str:
    r"""Say what a message must be like to match a regular expression.

    >>> print(in_words(r"2\.5 V"))
    has "2.5 V"
    >>> print(in_words("(?s)(?=.*THINK)(?=.*observed)"))
    has "THINK" and "observed"
    >>> print(in_words("no test in .* takes it"))
    has "no test in " and then " takes it"
    >>> print(in_words("^[0-9]+$"))
    matches the pattern ^[0-9]+$
    """
    ahead = re.fullmatch(r"(?:\(\?[ims]+\))?((?:\(\?=\.\*[^()]+\))+)", pattern)
    if ahead:
        parts, joint = re.findall(r"\(\?=\.\*([^()]+)\)", ahead[1]), " and "
    else:
        parts, joint = [p for p in pattern.split(".*") if p], " and then "
    if not parts or re.search(
        r"[\\^$*+?{}\[\]|()]", re.sub(r"\\\W", "", "".join(parts))
    ):
        return f"matches the pattern {pattern}"
    plain = (re.sub(r"\\(\W)", r"\1", part) for part in parts)
    return "has " + joint.join(f'"{part}"' for part in plain)
