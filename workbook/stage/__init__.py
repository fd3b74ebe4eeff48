"""Scenarios and engines: playing a run, watching it, laying runs side by side."""

from workbook.stage.engines import compare, museum, play
from workbook.stage.recorded import own_model, real_model, real_result
from workbook.stage.role_play import be_the_model
from workbook.stage.scenarios import load, outcome, slugs
from workbook.stage.watch import player

__all__ = [
    "be_the_model",
    "compare",
    "load",
    "museum",
    "outcome",
    "own_model",
    "play",
    "player",
    "real_model",
    "real_result",
    "slugs",
]
