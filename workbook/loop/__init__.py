"""Turns, the loop that everybody writes first, and the paper's prompts.

Nothing here knows a particular model, tool or world.
"""

from workbook.loop.turns import Action, Final, Malformed, Turn, parse_turn

__all__ = ["Action", "Final", "Malformed", "Turn", "parse_turn"]
