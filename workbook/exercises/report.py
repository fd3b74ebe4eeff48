"""What a check found, as data, and how values are written in it.

`grade` makes a `Report`, `display` shows it, the pytest plugin counts it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

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
