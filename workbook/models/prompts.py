"""A prompt as a model sees it: so many tokens, a window's worth, up to a stop sequence.

Plain functions that know no model.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from workbook.models.base import Message, Usage

CHARS_PER_TOKEN = 4
BYTES_PER_TOKEN = 3
# A word: one CJK character, or a run of anything else that is not white space.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
TOKEN = re.compile(rf"[{_CJK}]|[^\s{_CJK}]+")


def count_tokens(text: str) -> int:
    """Return how many tokens the scripted model takes `text` for: four characters each.

    >>> count_tokens("Thought: 2+2")
    3
    """
    return -(-len(text) // CHARS_PER_TOKEN)


def estimate(prompt: str | Sequence[Message], text: str = "") -> Usage:
    """Return an estimate of what a call cost whose model said nothing, or cannot count.

    Three bytes a token, rounded up. That is an estimate and no ceiling (digits and
    Japanese may be two or three times as many), and whoever shows it says so.

    >>> estimate("Question: 2+2", "4").to_dict()
    {'input': 5, 'output': 1, 'cached': 0}
    """
    read = prompt if isinstance(prompt, str) else render_messages(prompt)
    sizes = (len(said.encode(errors="replace")) for said in (read, text))
    return Usage(*(-(-size // BYTES_PER_TOKEN) for size in sizes))


def stop_sequences(stop: Sequence[str]) -> tuple[str, ...]:
    """Return the stop sequences that are not empty; a text alone is one, as at OpenAI.

    >>> stop_sequences("\\nObservation:"), stop_sequences(["", "b"])
    (('\\nObservation:',), ('b',))
    """
    return tuple(filter(None, (stop,) if isinstance(stop, str) else stop))


def clip(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters; one that was cut ends with "…".

    >>> clip("Thought: 2+2", 9)
    'Thought:…'
    """
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def render_messages(messages: Sequence[Message]) -> str:
    """Return chat messages as one text: of each its role, its text, its calls."""
    parts = []
    for message in messages:
        parts.append(f"{message.get('role', 'user')}: {message.get('content') or ''}\n")
        if calls := message.get("tool_calls"):
            parts.append(json.dumps(calls, ensure_ascii=False) + "\n")
    return "".join(parts)


def shared_items(before: Sequence[Any], after: Sequence[Any]) -> int:
    """Return how many characters two texts, or items two lists, share from the start.

    >>> shared_items("Thought: a", "Thought: b")
    9
    """
    if isinstance(before, str) and isinstance(after, str):
        is_longer = after.startswith(before)  # nothing is copied
    else:
        is_longer = after[: len(before)] == before
    if is_longer:
        return len(before)
    for number, (one, other) in enumerate(zip(before, after, strict=False)):
        if one != other:
            return number
    return len(after)
