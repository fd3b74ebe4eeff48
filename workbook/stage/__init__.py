"""What a lesson shows: runs of scenarios, players, the gallery, transcripts, answers.

Nothing is imported before it is used: a program that loads a scenario needs no widget.
"""

import importlib
from typing import Any

_NAMES = {
    "shown": "Diff Mermaid beside comparison ended show",
    "recordings": "on_own_model real_model real_result",
    "charts": "chart",
    "engines": "play",
    "gallery_page": "gallery",
    "landing": "course",
    "role_play": "be_the_model",
    "scenarios": "load",
    "trace_player": "player",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'workbook.stage' has no attribute {name!r}")
    found = getattr(importlib.import_module(f"workbook.stage.{_HOMES[name]}"), name)
    globals()[name] = found  # in place of the module of that name, which came with it
    return found
