"""A test that failed, with all that was seen of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbook.exercises.call_recorder import Call, Watch
from workbook.exercises.time_limit import TimeUp
from workbook.exercises.wanted import WantedError


@dataclass(frozen=True, slots=True)
class Comparison:
    """The two sides of the `assert` that failed."""

    operator: str
    left: object
    right: object


@dataclass(frozen=True, slots=True)
class Verdict:
    """A failed test with all that is known about it.

    Args:
        test: its name.
        docstring: the requirement, perhaps with a guess.
        error: what ended it.
        statement: the statement of the test, or of a helper in its file, that failed.
        calls: the calls of the function under test, the last one last.
        comparison: the sides of the `assert`, where it compared.
        watch: the function under test.
        wanted: the exception that the test waited for, if it did.
        due: the value that the call would have had to return, where that is known.
    """

    test: str
    docstring: str
    error: BaseException
    statement: str
    calls: Sequence[Call]
    comparison: Comparison | None
    watch: Watch
    wanted: WantedError | None = None
    due: tuple[object, ...] = ()

    @property
    def raised(self) -> bool:
        """Whether the learner's code raised, and not the test."""
        return isinstance(self.error, TimeUp) or any(
            call.error is self.error for call in self.calls
        )

    @property
    def stuck(self) -> bool:
        """Whether the test could not do with a result what it had to."""
        return (
            not self.raised
            and isinstance(self.error, Exception)
            and not isinstance(self.error, AssertionError)
        )
