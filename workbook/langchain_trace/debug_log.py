"""LangChain's debug log: captured, counted, and then no longer read.

`set_debug(True)` prints every start and end, with all inputs and outputs.
"""

import io
import re
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass

_EVENT = re.compile(r"(?m)^\[(chain|llm|tool|retriever)/(start|end|error)\] \[")


@dataclass(frozen=True)
class DebugCounts:
    """How many lines a debug log has, and how often each event came."""

    lines: int
    events: dict[tuple[str, str], int]

    @property
    def total(self) -> int:
        return sum(self.events.values())


def capture_debug_log(run: Callable[[], object]) -> str:
    """Call `run` with LangChain's debug log on and return what was printed."""
    from langchain_core.globals import get_debug, set_debug

    before = get_debug()
    set_debug(True)
    try:
        with redirect_stdout(io.StringIO()) as printed:
            run()
    finally:
        set_debug(before)
    return printed.getvalue()


def fold_debug_log(text: str) -> DebugCounts:
    """Count a debug log's lines, and its events by kind.

    >>> fold_debug_log("[llm/start] [chain:X > llm:Y] Entering LLM run\\n{}\\n").events
    {('llm', 'start'): 1}
    """
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)  # without colours
    return DebugCounts(len(plain.splitlines()), dict(Counter(_EVENT.findall(plain))))
