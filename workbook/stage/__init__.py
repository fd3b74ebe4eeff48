"""What a lesson shows: runs of scenarios, players, the gallery, transcripts, answers.

Nothing is imported before it is used: a program that loads a scenario needs no widget.
"""

import importlib
from typing import Any

_HOMES = {
    "Diff": "shown",
    "Mermaid": "shown",
    "be_the_model": "role_play",
    "chart": "charts",
    "beside": "shown",
    "comparison": "shown",
    "course": "landing",
    "ended": "shown",
    "gallery": "gallery_page",
    "load": "scenarios",
    "on_own_model": "recordings",
    "play": "engines",
    "player": "trace_player",
    "real_model": "recordings",
    "real_result": "recordings",
    "show": "shown",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'workbook.stage' has no attribute {name!r}")
    found = getattr(importlib.import_module(f"workbook.stage.{_HOMES[name]}"), name)
    globals()[name] = found  # in place of the module of that name, which came with it
    return found
