"""A workbook in which you learn how a ReAct agent works by building one three times.

Every function that the notebooks build up is in here, a room a subject. This module
offers what a notebook's first cell needs, and imports none of it before it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbook.course.checking import check, hint, solution
    from workbook.course.doctor import doctor
    from workbook.course.progress import progress, reset

__version__ = "0.1.0"

__all__ = ["check", "doctor", "hint", "progress", "reset", "solution"]

_HOMES = {
    "check": "workbook.course.checking",
    "hint": "workbook.course.checking",
    "solution": "workbook.course.checking",
    "progress": "workbook.course.progress",
    "reset": "workbook.course.progress",
    "doctor": "workbook.course.doctor",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'workbook' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
