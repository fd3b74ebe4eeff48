"""What a check found, as data, and how values and errors are written in it.

`grade` makes a `Report`, `display` shows it, the pytest plugin counts it.
"""

import inspect
import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from workbook.exercises.time_limit import TimeUp, guarded, time_limit

WRITING_LIMIT_S = 1.0  # of computing time, for a learner's `__repr__` or `__str__`


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
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found; `total` is 0 when no requirement could be looked at."""

    slug: str
    outcome: Outcome
    passed: int = 0
    total: int = 0
    failures: tuple[Failure, ...] = ()
    note: str = ""  # a sentence to show first: what looks odd


def shorten(value: object, limit: int = 240) -> str:
    """Return the repr of a value; a long one loses its middle."""
    return clip(without_noise(written(value)), limit)


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
    return re.sub(r"[\w.]*<locals>\.", "", text)


def written(value: object, form: Callable[[object], str] = repr) -> str:
    """Return the repr of a value, or its `str`, whatever a learner's class does."""
    try:
        with time_limit(WRITING_LIMIT_S):
            return str(guarded(form, value))
    except (Exception, SystemExit, TimeUp) as error:
        late = isinstance(error, TimeUp)
        reason = "did not end" if late else f"raised {type(error).__name__}"
        return f"<{with_article(type(value).__name__)} whose {form.__name__} {reason}>"


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
    kind = type(error).__name__
    return text if isinstance(error, TimeUp) else f"{kind}: {text}".removesuffix(": ")


def full_traceback(error: BaseException) -> str:
    """Return the traceback from the test's own line on, without the machinery's."""
    if told_elsewhere := getattr(error, "_told", None):  # by another process
        return str(told_elsewhere["traceback"])
    machinery = ("/pluggy/", "/_pytest/", "/hypothesis/", "/workbook/exercises/")
    told = traceback.TracebackException.from_exception(error)
    for frame in list(told.stack):
        if any(name in Path(frame.filename).as_posix() for name in machinery):
            told.stack.remove(frame)
    return "".join(told.format())


def error_place(error: BaseException, function: Callable[..., Any]) -> str:
    """Return the learner's line that raised: `line 5: x = text[3]`."""
    if told := getattr(error, "_told", None):
        return str(told["place"])
    code = getattr(inspect.unwrap(function), "__code__", None)
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if code and frame.filename == code.co_filename]
    line = clip(own[-1].line or "", 160) if own else ""
    return f"line {own[-1].lineno}: {line}" if line else ""
