"""A workbook in which you learn how a ReAct agent works by building one three times.

Every function that the notebooks build up is in here, a room a subject. This module
offers what a notebook's first cell needs, and imports none of it before it is used.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "check": "workbook.checks.check",
    "hint": "workbook.checks.check",
    "solution": "workbook.checks.check",
    "progress": "workbook.checks.parts",
    "yours": "workbook.checks.parts",
    "your_parts": "workbook.checks.parts",
    "your_agent": "workbook.checks.parts",
    "predict": "workbook.stage.predict",
    "about": "workbook.diagnosis",
    "doctor": "workbook.diagnosis",
    "waiting": "workbook.wait",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'workbook' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
