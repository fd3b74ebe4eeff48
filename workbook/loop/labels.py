"""Who writes what: the five labels of a ReAct transcript.

The model writes text and nothing else. The runtime reads it, runs the tool, and writes
the one line that the model must not write itself.
"""

from __future__ import annotations

from typing import Literal

Writer = Literal["model", "runtime"]

WRITERS: dict[str, Writer] = {
    "Thought": "model",
    "Action": "model",
    "Action Input": "model",
    "Observation": "runtime",
    "Final Answer": "model",
}


def who_writes(label: str) -> Writer:
    """Return who writes the line with this label: `"model"` or `"runtime"`.

    Args:
        label: one of the five labels, without its colon.

    Raises:
        ValueError: there is no such label.

    >>> who_writes("Thought")
    'model'
    """
    if label not in WRITERS:
        raise ValueError(f"{label!r} is not one of the labels {', '.join(WRITERS)}")
    return WRITERS[label]
