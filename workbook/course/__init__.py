"""The machinery of the course: exercises, checks, progress, and `python -m workbook`.

`check` runs the package's own unit tests on a learner's function, in the notebook;
`play` runs a scenario on an engine. Nothing here is imported before it is used: pytest
alone takes a third of a second.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbook.course.checking import check, hint, solution
    from workbook.course.engines import compare, museum, play
    from workbook.course.exercises import CourseError, Exercise, find
    from workbook.course.player_widget import player
    from workbook.course.recorded import real_model
    from workbook.course.role_play import be_the_model
    from workbook.course.scenarios import load, outcome, slugs
    from workbook.course.versions import about

_HOMES = {
    "CourseError": "exercises",
    "Exercise": "exercises",
    "about": "versions",
    "be_the_model": "role_play",
    "check": "checking",
    "compare": "engines",
    "find": "exercises",
    "hint": "checking",
    "load": "scenarios",
    "museum": "engines",
    "outcome": "scenarios",
    "play": "engines",
    "player": "player_widget",
    "real_model": "recorded",
    "slugs": "scenarios",
    "solution": "checking",
}

__all__ = [
    "CourseError",
    "Exercise",
    "about",
    "be_the_model",
    "check",
    "compare",
    "find",
    "hint",
    "load",
    "museum",
    "outcome",
    "play",
    "player",
    "real_model",
    "slugs",
    "solution",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = importlib.import_module(f"{__name__}.{_HOMES[name]}")
    return getattr(home, name)
