"""LangChain's debug log: captured, counted, and then no longer read.

`set_debug(True)` prints every start and every end of every chain, model and tool, with
all inputs and outputs. It is all there, and nobody can look at it.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

_COLORS = re.compile(r"\x1b\[[0-9;]*m")
_EVENT = re.compile(
    r"^\[(?P<what>chain|llm|tool|retriever)/(?P<when>start|end|error)\] \[",
    re.MULTILINE,
)


@dataclass(frozen=True)
class DebugCounts:
    """How long a debug log is, and of what.

    Args:
        lines: printed lines, blank ones with them.
        events: ("chain", "start") and the like, each with how often it came.
    """

    lines: int
    events: dict[tuple[str, str], int]

    @property
    def total(self) -> int:
        """How many events there are."""
        return sum(self.events.values())

    def to_frame(self) -> pd.DataFrame:
        """Return a row for chains, model and tools, a column for starts and ends."""
        import pandas as pd

        rows: dict[str, dict[str, int]] = {}
        for (what, when), number in self.events.items():
            rows.setdefault(what, {})[when] = number
        return pd.DataFrame.from_dict(rows, orient="index").fillna(0).astype(int)


def capture_debug_log(run: Callable[[], object]) -> str:
    """Call `run` with LangChain's debug log on and return what was printed.

    The setting is put back as it was, and an exception of `run` goes through.
    """
    from langchain_core.globals import get_debug, set_debug

    before = get_debug()
    printed = io.StringIO()
    set_debug(True)
    try:
        with contextlib.redirect_stdout(printed):
            run()
    finally:
        set_debug(before)
    return printed.getvalue()


def fold_debug_log(text: str) -> DebugCounts:
    """Count a debug log's lines, and its events by kind.

    >>> fold_debug_log("[llm/start] [chain:X > llm:Y] Entering LLM run\\n{}\\n").events
    {('llm', 'start'): 1}
    """
    plain = _COLORS.sub("", text)
    events = Counter((m["what"], m["when"]) for m in _EVENT.finditer(plain))
    return DebugCounts(len(plain.splitlines()), dict(events))
