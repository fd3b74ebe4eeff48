"""What a reply is where its text alone does not say: words without a call, a cut."""

from __future__ import annotations

import json
import re
from collections.abc import Container

from workbook.loop.turns import (
    Action,
    Final,
    Label,
    Malformed,
    Turn,
    Unreadable,
    parse_turn,
    split_fields,
)
from workbook.models.base import Completion

CUT = ("length", "cancelled")
"""Why a model ended in the middle of what it wrote: at its cap, or told to stop."""

_WRAPPED = re.compile(r"^(?:<tool_call>|```\w*)|(?:</tool_call>|```)$")


def read_words(text: str, tools: Container[str]) -> Turn:
    """Read a message without a call: a step in words is no answer, words are."""
    words, turn = text.strip(), parse_turn(text)
    plain = split_fields(text) == [(Label.THOUGHT, words)]
    if plain and not _is_call(words, tools):
        return Final("", words)
    in_words = isinstance(turn, Action)
    return Malformed(Unreadable.NO_STEP, text) if in_words else turn


def _is_call(words: str, tools: Container[str]) -> bool:
    """Whether words are a call that the model's side handed on as they were."""
    try:
        said = json.loads(_WRAPPED.sub("", words))
    except (ValueError, RecursionError):
        return False
    return isinstance(said, dict) and str(said.get("name")) in tools


def unless_cut(completion: Completion, turn: Turn) -> Turn:
    """Return the turn, unless the model was cut in the middle of its step."""
    if not isinstance(turn, Turn) or not all(
        isinstance(getattr(turn, name), str) for name in turn.__slots__
    ):
        raise TypeError(f"the parser returned {turn!r}: no Action, Final or Malformed")
    if completion.finish_reason not in CUT or isinstance(turn, Malformed):
        return turn
    read = turn.input if isinstance(turn, Action) else turn.answer
    in_its_step = split_fields(completion.text)[-1][1] == read
    return Malformed(Unreadable.NO_STEP, completion.text) if in_its_step else turn
