"""What stays in the prompt when it grows too long for its limit.

Functions over parts of a prompt, and the guard that asks before each request. They know
no model: how tokens are counted, and how dropped parts are summarised, is given.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .calls import clip
from .guard import Guard
from .messages import Part, message_of, shown
from .script import count_tokens

Count = Callable[[str], int]
LONG = 0.25  # the share of the limit that one observation may take, once it is reached
# Turns are dropped until this share of the limit is left. Each time, the prompt changes
# near its beginning, and the model reads again all that follows: so not at every turn.
KEPT = 0.5
SUMMARY = 0.1  # the share that the summary may take besides
EARLIER = "Earlier steps in short, the latest first:"

_SENTENCE = re.compile(r"[.!?](?=\s)|[。！？\n]")


class ContextTooSmall(ValueError):  # noqa: N818 - what is wrong, not an error's name
    """What must stay in the prompt is more than its limit."""


@dataclass(frozen=True, slots=True, eq=False)  # two pieces with one text are still two
class PromptPart:
    """A piece of a prompt. Parts of one `group` stay together: a call, what it gave."""

    text: str
    pinned: bool = False  # never goes: the question, what the user insists on
    group: int | None = None  # None: alone
    kind: str = "turn"  # or observation, question, summary
    payload: Any = None  # the part of the conversation that it shows


def extract(parts: list[PromptPart]) -> str:
    """Return a summary without a model: a line for each group, which call gave what."""
    lines = [EARLIER]
    for group in reversed(groups_of(parts)):
        if group[0].kind == "summary":
            lines += group[0].text.removeprefix(EARLIER).strip().splitlines()
            continue
        steps = []
        for part in group:
            calls = (part.payload or {}).get("calls", ())
            text = ", ".join(f"{call['name']}({call['arguments']})" for call in calls)
            line = " ".join((text or part.text).split())
            line = re.sub("^.*?(?=Action:|Final Answer:)", "", line)
            steps.append(clip(line, 120))
        lines.append("- " + " → ".join(steps))
    return "\n".join(lines) + "\n"


def fit_context(
    parts: list[PromptPart],
    limit: int,
    *,
    count: Count = count_tokens,
    summarise: Callable[[list[PromptPart]], str] = extract,
) -> list[PromptPart]:
    """Return parts of at most `limit` tokens; ContextTooSmall: too much is pinned."""
    if size(parts, count) <= limit:
        return parts
    parts = [shorten(part, LONG * limit, count) for part in parts]
    left, dropped = size(parts, count), list[PromptPart]()
    loose = loose_groups(parts) if left > limit else []
    for group in loose:
        if left <= (limit if group is loose[-1] else KEPT * limit):
            break
        dropped += group
        left -= size(group, count)
    if left > limit:
        raise ContextTooSmall(
            f"what is pinned takes {left} tokens, and the limit is {limit}:"
            " pin less, or raise the limit"
        )
    if not dropped:
        return parts
    summary = cut(summarise(dropped), min(SUMMARY * limit, limit - left), count)
    return replaced(parts, dropped, summary)


def size(parts: Iterable[PromptPart], count: Count = count_tokens) -> int:
    """Return how many tokens the parts take."""
    return sum(count(part.text) for part in parts)


def groups_of(parts: list[PromptPart]) -> list[list[PromptPart]]:
    """Return the parts that stay together, in the order in which they begin."""
    groups: dict[object, list[PromptPart]] = {}
    for part in parts:
        groups.setdefault(part if part.group is None else part.group, []).append(part)
    return list(groups.values())


def loose_groups(parts: list[PromptPart]) -> list[list[PromptPart]]:
    """Return the groups that may go, the oldest first: nothing in them is pinned."""
    return [g for g in groups_of(parts) if not any(part.pinned for part in g)]


def replaced(
    parts: list[PromptPart], dropped: list[PromptPart], summary: str
) -> list[PromptPart]:
    """Return the parts with a summary, unless it is empty, for those dropped."""
    kept = [part for part in parts if part not in dropped]
    if summary:
        kept.insert(parts.index(dropped[0]), PromptPart(summary, kind="summary"))
    return kept


def shorten(part: PromptPart, most: float, count: Count = count_tokens) -> PromptPart:
    """Return an observation of at most `most` tokens; another part as it is."""
    if part.kind != "observation" or part.pinned:
        return part
    return replace(part, text=cut(part.text, most, count))


def cut(text: str, most: float, count: Count = count_tokens) -> str:
    """Return at most `most` tokens, up to a sentence's end, and how much was cut."""
    if count(text) <= most:
        return text

    def until(end: int) -> str:
        kept, newline = text[:end].rstrip(), "\n" * text.endswith("\n")
        return f"{kept} [… {len(text) - end:,} characters were cut]{newline}"

    for ends in ([m.end() for m in _SENTENCE.finditer(text)], range(len(text))):
        if fitting := bisect_right(ends, most, key=lambda end: count(until(end))):
            return until(ends[fitting - 1])
    return ""


def context(tokens: float, pinned: Sequence[str] = ()) -> Guard:
    """Return the guard that keeps the prompt within so many tokens (schemas apart)."""
    settings = {"tokens": None if tokens == float("inf") else tokens}
    return Guard("context", {"THINK": _fit}, settings=settings | {"pinned": [*pinned]})


KINDS = {"question": "question", "system": "question", "model": "turn"}
KINDS |= {"result": "observation", "cut": "observation", "summary": "summary"}


def _fit(run: Any) -> None:
    settings, machine, chat = run.settings["context"], run.machine, run.chat
    if not run.notes.get("is_pinned"):
        run.notes["is_pinned"] = True
        text = "\n".join([run.parts[-1]["text"], *settings["pinned"]])
        run.parts[-1] = run.parts[-1] | {"text": text}  # of the question
    limit, before = settings["tokens"], run.tokens()
    if limit is None or before <= limit:
        return
    room = limit
    if chat:  # a summary is a message of its own
        room -= machine.count({"role": "summary", "text": ""}, chat)

    def count(text: str) -> int:
        return int(machine.count({"role": "text", "text": text}, False))

    pieces, group = list[PromptPart](), 0
    for part in run.parts:
        kind = KINDS.get(part["role"], "note")
        group += kind == "turn"
        number = None if kind in ("question", "summary") else group
        if text := shown(part, chat and kind != "summary"):
            pieces.append(PromptPart(text, kind == "question", number, kind, part))
    fitted = run.part(fit_context)(pieces, room, count=count)
    run.replace_parts([_part_of(piece, chat) for piece in fitted])
    done = {"limit": limit, "before": before, "after": run.tokens()}
    why = f"{before:,} tokens, and {limit:,} are allowed"
    run.journal.emit("decision", who="context", what="compacted", why=why, **done)


def _part_of(piece: PromptPart, chat: bool) -> Part:
    part: Part = piece.payload
    if piece.kind == "summary":
        return {"role": "summary", "text": piece.text}
    if piece.kind != "observation" or piece.text == shown(part, chat):
        return part
    if not chat:
        return {"role": "cut", "text": piece.text}
    role = message_of(part)["role"]
    return part | {"text": piece.text.removeprefix(f"{role}: ").removesuffix("\n")}
