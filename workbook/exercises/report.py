"""What a check found, as data, and how values and errors are written in it.

`run_tests` makes a `Report`, `display` shows it, tables of marks count it.
"""

import ast
import linecache
import re
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from typing import Any

LONG = 160  # characters of two values from which on it is said where they part


class Outcome(StrEnum):
    """The four ways in which a check can end."""

    PASSED = "passed"
    WRONG = "wrong"
    RAISED = "your code raised"
    NOT_ATTEMPTED = "not attempted"


@dataclass(frozen=True, slots=True)
class Failure:
    """A requirement that is not met."""

    requirement: str  # the test's docstring
    test: str = ""
    evidence: tuple[tuple[str, str], ...] = ()  # (label, text): called, returned, …
    raised: bool = False  # the learner's code did, and not the test


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found; `total` is 0 when no requirement could be looked at."""

    slug: str
    outcome: Outcome
    passed: int = 0
    total: int = 0
    failures: tuple[Failure, ...] = ()
    note: str = ""  # a sentence to show first: what looks odd


def called(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """Return a call as one would write it."""
    arguments = [shorten(value) for value in args]
    arguments += [f"{key}={shorten(value)}" for key, value in kwargs.items()]
    return f"{name}({', '.join(arguments)})"


def shorten(value: object, limit: int = 240) -> str:
    """Return the repr of a value; a long one loses its middle."""
    text = written(value)
    if len(text) > 20 * limit:  # of which little is shown, whatever is noise in it
        return without_noise(clip(text, limit))
    return clip(without_noise(text), limit)


def clip(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    end = max(1, limit // 2 - 2)
    return f"{text[:end]} … ({len(text):,} characters) … {text[-end:]}"


_NOISE = re.compile(
    r"""('(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*")  # quoted: stays as it is
    | <([A-Za-z_]\w*\.\w+):\ [^<>]*>
    | (<[^'"]*?)\ at\ 0x[0-9a-fA-F]+(?=>)""",
    re.VERBOSE,
)


def without_noise(text: str) -> str:
    """Return a repr with `State.THINK` for `<State.THINK: 'THINK'>`, no addresses."""
    text = _NOISE.sub(lambda found: found[1] or found[2] or found[3], text)
    return re.sub(r"[\w.]*<locals>\.", "", text).replace("approx(", "about (")


def written(value: object, form: Callable[[object], str] = repr) -> str:
    """Return the repr of a value, or its `str`, whatever a learner's class does."""
    try:
        return str(form(value))
    except (Exception, SystemExit) as error:
        reason = f"whose {form.__name__} raised {type(error).__name__}"
        return f"<{with_article(type(value).__name__)} {reason}>"


def with_article(noun: str) -> str:
    return f"{'an' if noun[0] in 'AEIOUaeiou' else 'a'} {noun}"


def error_in_words(kinds: Any, match: str | None) -> str:
    """Say which exception a `pytest.raises` waits for: one part for each lookahead."""
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    words = " or ".join(with_article(kind.__name__) for kind in kinds)
    parts = re.findall(r"\(\?=\.\*(.+?)\)", match or "") or [match]
    has = " and ".join(re.sub(r"\\(\W)", r"\1", f'"{part}"') for part in parts)
    return f"{words} whose message has {has}" if match else words


def describe_error(error: BaseException) -> str:
    text = clip(without_noise(" ".join(written(error, str).split())), 240)
    return f"{type(error).__name__}: {text}".removesuffix(": ")


def error_place(error: BaseException, file: str) -> str:
    """Return the learner's line that raised: `line 5 of parse_turn: x = text[3]`."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == file]
    if not own or not own[-1].lineno:
        return ""
    return place_in("".join(linecache.getlines(file)), own[-1].lineno)


def place_in(text: str, number: int) -> str:
    """Return a line of a module as its author counts: from the `def` it stands in."""
    lines = text.splitlines()
    if number > len(lines):
        return ""
    line, place = clip(lines[number - 1].strip(), 160), ""
    for node in ast.walk(ast.parse(text)):  # the innermost comes last
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first, last = node.lineno, node.end_lineno or 0
            if first <= number <= last:
                place = f"line {number - first + 1} of {node.name}: "
    return place + line


def difference(found: Any, wanted: Any) -> str:
    """Say where two texts of many lines, or two long lists, part; '' for short ones."""
    noun, end = "item", object()
    if isinstance(found, str) and isinstance(wanted, str):
        noun, found, wanted = "line", found.split("\n"), wanted.split("\n")
    lists = isinstance(found, list) and isinstance(wanted, list)
    if not lists or len(shorten(found)) + len(shorten(wanted)) <= LONG:
        return ""
    for number, pair in enumerate(zip_longest(found, wanted, fillvalue=end), start=1):
        if differs(*pair):
            have, want = ("nothing" if v is end else shorten(v, 120) for v in pair)
            return f"in {noun} {number}: {have}, not {want}"
    return ""


def differs(before: Any, after: Any) -> bool:
    """Return whether two values differ, and False when they cannot be compared."""
    try:
        return bool(before != after)
    except Exception:
        return False
