"""What a check found, as data, and how values and errors are written in it.

`grade` makes a `Report`, `display` shows it, the pytest plugin counts it.
"""

from __future__ import annotations

import inspect
import linecache
import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from workbook.exercises.time_limit import TimeUp, guarded, time_limit

WRITING_LIMIT_S = 1.0
"""Computing time that a learner's `__repr__` or `__str__` may take."""


class Outcome(StrEnum):
    """The four ways in which a check can end."""

    PASSED = "passed"
    WRONG = "wrong"
    RAISED = "your code raised"
    NOT_ATTEMPTED = "not attempted"


@dataclass(frozen=True, slots=True)
class Failure:
    """A requirement that is not met.

    Args:
        requirement: the test's docstring.
        test: the test's name.
        evidence: (label, text): called, returned, expected, perhaps, …
    """

    requirement: str
    test: str = ""
    evidence: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found.

    Args:
        slug: the exercise.
        outcome: one of four.
        passed: how many requirements are met.
        total: how many there are; 0 when none could be looked at.
        failures: the others, in the order of the tests.
        note: a sentence to show first: what looks odd.
        next_step: what to do now; empty when passed.
        traceback: the whole traceback of the first failure.
    """

    slug: str
    outcome: Outcome
    passed: int = 0
    total: int = 0
    failures: tuple[Failure, ...] = ()
    note: str = ""
    next_step: str = ""
    traceback: str = ""

    @property
    def headline(self) -> str:
        """What stands first: `parse_turn · wrong · 6 of 8`."""
        counted = self.total and self.outcome is not Outcome.NOT_ATTEMPTED
        met = f" · {self.passed} of {self.total}" if counted else ""
        return f"{self.slug} · {self.outcome}{met}"


def shorten(value: object, limit: int = 240) -> str:
    """Return the repr of a value; a long one loses its middle.

    Members of an enumeration stand as in code, and functions without their address.

    >>> shorten("a" * 1000, 20)
    "'aaaaaaa … (1,002 characters) … aaaaaaa'"
    >>> shorten([Outcome.WRONG, shorten, "<A.B: 1>"])
    "[Outcome.WRONG, <function shorten>, '<A.B: 1>']"
    """
    return clip(without_noise(written(value)), limit)


def clip(text: str, limit: int) -> str:
    """Return a text; a long one loses its middle."""
    if len(text) <= limit:
        return text
    end = max(1, limit // 2 - 2)
    return f"{text[:end]} … ({len(text):,} characters) … {text[-end:]}"


_NOISE = re.compile(
    r"""'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*"  # quoted: stays as it is
    | <(?P<member>[A-Za-z_]\w*\.\w+):\ [^<>]*>
    | <(?P<thing>[^'"]*?)\ at\ 0x[0-9a-fA-F]+>""",
    re.VERBOSE,
)


def without_noise(text: str) -> str:
    """Return a repr with `State.THINK` for `<State.THINK: 'THINK'>`, no addresses."""

    def quiet(found: re.Match[str]) -> str:
        if found["thing"]:
            return "<" + re.sub(r"[\w.]*<locals>\.", "", found["thing"]) + ">"
        return found["member"] or found[0]

    return _NOISE.sub(quiet, text)


def written(value: object, form: Callable[[object], str] = repr) -> str:
    """Return the repr of a value, or its `str`, whatever a learner's class does in it.

    >>> written(ValueError("no"), str)
    'no'
    """
    try:
        with time_limit(WRITING_LIMIT_S):
            return str(guarded(form, value))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        late = isinstance(error, TimeUp)
        if isinstance(value, int) and not late:  # Python's own limit
            return "<an int with too many digits to write it>"
        reason = "did not end" if late else f"raised {type(error).__name__}"
        return f"<{with_article(type(value).__name__)} whose {form.__name__} {reason}>"


def with_article(noun: str) -> str:
    """Return `a list`, `an int`."""
    return f"{'an' if noun[0] in 'AEIOUaeiou' else 'a'} {noun}"


def error_in_words(kinds: Any, match: str | None) -> str:
    r"""Say which exception a `pytest.raises` waits for.

    >>> print(error_in_words((OSError, KeyError), r"2\.5 V"))
    an OSError or a KeyError whose message has "2.5 V"
    >>> print(error_in_words(KeyError, "(?s)(?=.*THINK)(?=.*observed)"))
    a KeyError whose message has "THINK" and "observed"
    """
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    words = " or ".join(with_article(kind.__name__) for kind in kinds)
    if not match:
        return words
    parts = re.findall(r"\(\?=\.\*(.+?)\)", match) or [match]
    plain = (re.sub(r"\\(\W)", r"\1", part) for part in parts)
    return f"{words} whose message has " + " and ".join(f'"{p}"' for p in plain)


def describe_error(error: BaseException) -> str:
    """Return an exception as one line."""
    text = clip(without_noise(" ".join(written(error, str).split())), 240)
    if isinstance(error, TimeUp):
        return text or "not finished in time"
    kind = type(error).__name__
    return f"{kind}: {text}" if text else kind


def full_traceback(error: BaseException) -> str:
    """Return the traceback from the test's own line on, without the machinery's."""
    machinery = ("/pluggy/", "/_pytest/", "/hypothesis/", "/workbook/exercises/")
    told = traceback.TracebackException.from_exception(error)
    told.stack = traceback.StackSummary.from_list(
        frame
        for frame in told.stack
        if not any(name in frame.filename.replace("\\", "/") for name in machinery)
    )
    return "".join(told.format())


def error_place(error: BaseException, function: Callable[..., Any]) -> str:
    """Return the learner's line that raised: `line 5: x = text[3]`."""
    own = getattr(inspect.unwrap(function), "__code__", None)
    frames = traceback.extract_tb(error.__traceback__)
    frame = next(
        (f for f in reversed(frames) if own and f.filename == own.co_filename), None
    )
    if frame is None:
        return ""
    line = (linecache.getline(frame.filename, frame.lineno or 0) or "").strip()
    return f"line {frame.lineno}: {clip(line, 160)}" if line else ""
