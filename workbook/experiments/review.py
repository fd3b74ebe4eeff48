"""A checklist for an agent, gone through by running it: `data/checklist.toml`.

Each line names the scenarios of the gallery that show why it is there.
"""

from __future__ import annotations

import math
import re
import tomllib
from typing import Any

from workbook.checks.display import Grid
from workbook.paths import DATA
from workbook.stage.engines import find_engine, in_words, play
from workbook.stage.machines import Given
from workbook.stage.scenarios import load, outcome
from workbook.wait import waiting


def review(agent: str, parts: Given | None = None, make: Any = None) -> Grid:
    """Play the scenarios of the checklist, and return the lines that are missed.

    Args:
        agent: an engine's name.
        parts: functions in place of the package's.
        make: makes another machine, see `play`.

    Raises:
        ValueError: the engine asks for function calls; the scenarios are in text.
    """
    if find_engine(agent).endswith(("_calls", "create_agent")):
        raise ValueError(f"{agent} asks for function calls; the scenarios are in text")
    lines = tomllib.loads((DATA / "checklist.toml").read_text("utf-8"))["line"]
    missed, rows = 0, list[tuple[str, ...]]()
    with waiting("going through the checklist", len(lines)) as tick:
        for line in lines:
            runs = [
                (s, *_played(line, s, agent, parts, make)) for s in line["scenarios"]
            ]
            tick()
            if all(met for _, met, _ in runs):
                continue
            look, missed = line["look"], missed + 1
            for slug, met, ended in runs:
                rows.append((look, "✓" if met else "✕", slug, ended))
                look = ""
    said = f"{len(lines) - missed} of {len(lines)} lines are met."
    return Grid(["look for", "", "scenario", "ended"], rows, said)


def _played(
    line: dict[str, Any], slug: str, engine: str, parts: Given | None, make: Any
) -> tuple[bool, str]:
    """Play a scenario; return whether it ended as the line wants, and how, in words."""
    trace = play(slug, engine, parts=dict(parts or {}), make=make)
    end = outcome(trace)
    met = load(slug).is_right(end)
    if "end" in line:
        met = bool(re.fullmatch(line["end"], f"{end['state']} {end['reason']}"))
    return met and end["model_turns"] <= line.get("turns", math.inf), in_words(trace)
