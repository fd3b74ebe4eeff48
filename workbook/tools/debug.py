"""One call from close by, stage by stage."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbook.loop.turns import Action
from workbook.models.base import ToolRequest
from workbook.tools.calls import Observation, ToolError, to_json
from workbook.tools.registry import ToolRegistry

if TYPE_CHECKING:
    import pandas as pd


def debug_call(
    registry: ToolRegistry,
    name: str,
    arguments: dict[str, Any] | str,
    clock: Callable[[], float] = time.perf_counter,
) -> pd.DataFrame:
    """Make one call, really, and return a row for each stage.

    `bind` reads, repairs and checks what the model wrote: a dict, or the text of an
    action input. `run` calls the tool, unless `bind` refused; `observation` is what
    the model reads.
    """
    import pandas as pd

    rows, started = [], clock()

    def note(stage: str, ok: bool, outcome: str) -> None:
        nonlocal started
        spent_ms = (clock() - started) * 1e3
        shown = " ⏎ ".join(outcome.splitlines())  # a table's cell is one line
        rows.append((stage, "✓" if ok else "✗", shown, spent_ms))
        started = clock()

    if isinstance(arguments, str):
        bound = registry.bind(Action("", name, arguments))
    else:
        bound = registry.bind(ToolRequest(name, arguments, "call_1"))
    if isinstance(bound, ToolError):
        note("bind", False, bound.message)
        seen = Observation.failed("call_1", bound)
    else:
        written = f"{bound.name}({to_json(bound.arguments)})"
        note("bind", True, "; ".join([written, *bound.notes]))
        seen = registry.run(bound)
        note("run", seen.ok, seen.error.message if seen.error else to_json(seen.result))
    note("observation", seen.ok, seen.text())
    return pd.DataFrame(rows, columns=["stage", "", "outcome", "ms"]).round(2)
