"""What a test waits for: an exception, in words, or the value that never came."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from workbook.exercises.report import with_article


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
        kinds = " or ".join(map(with_article, self.kinds))
        message = f" whose message {in_words(self.pattern)}" if self.pattern else ""
        return kinds + message


def wanted_error(frame: FrameType, line: int) -> WantedError | None:
    """Return what the `pytest.raises` around a line of a test waits for, or None."""
    source = Path(frame.f_code.co_filename).read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.With(
                items=[
                    ast.withitem(
                        context_expr=ast.Call(
                            func=ast.Attribute(attr="raises"), args=[kind]
                        ) as call
                    )
                ]
            ) if node.lineno <= line <= (node.end_lineno or line):
                kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
                patterns = [
                    eval(ast.unparse(keyword.value), frame.f_globals, frame.f_locals)
                    for keyword in call.keywords
                    if keyword.arg == "match"
                ]
                return WantedError(tuple(map(ast.unparse, kinds)), *patterns)
    return None


def wanted_value(frame: FrameType, statement: str, slug: str) -> tuple[object, ...]:
    """Return the value in `assert slug(…) == value`, alone in a tuple; () without one.

    Args:
        frame: the test's, in which the value can be computed.
        statement: the statement of the test that was not finished.
        slug: the function under test; a value that needs it too is not known.
    """
    try:
        (node,) = ast.parse(statement.strip()).body
    except (SyntaxError, ValueError):
        return ()
    match node:
        case ast.Assert(
            test=ast.Compare(
                left=ast.Call(func=ast.Name(id=called)),
                ops=[ast.Eq() | ast.Is()],
                comparators=[value],
            )
        ) if called == slug:
            names = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
            if slug not in names:
                code = ast.unparse(value)
                return (eval(code, frame.f_globals, frame.f_locals),)
    return ()


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
        parts, joint = [part for part in pattern.split(".*") if part], " and then "
    unescaped = re.sub(r"\\\W", "", "".join(parts))
    if not parts or re.search(r"[\\^$*+?{}\[\]|()]", unescaped):
        return f"matches the pattern {pattern}"
    plain = (re.sub(r"\\(\W)", r"\1", part) for part in parts)
    return "has " + joint.join(f'"{part}"' for part in plain)
