"""Scenarios and engines: playing a run, watching it, laying runs side by side.

Nothing is imported before it is used: a program that loads a scenario needs no widget.
"""

import importlib
from typing import Any

_HOMES = {
    "be_the_model": "role_play",
    "gallery": "engines",
    "load": "scenarios",
    "loop_tools": "engines",
    "on_other_models": "recorded",
    "play": "engines",
    "player": "watch",
    "real_model": "recorded",
    "real_result": "recorded",
    "run_loop": "engines",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'workbook.playground' has no attribute {name!r}")
    return getattr(importlib.import_module(f"workbook.playground.{_HOMES[name]}"), name)
