"""What the model wrote, as data.

A turn is text with labels at the starts of its lines: Thought, Action, Action Input,
Final Answer. `split_fields` finds the labels, `parse_turn` decides what they ask for.
Nothing here knows which tools exist, and nothing that a model writes raises.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal

LABELS = ("Thought", "Action", "Action Input", "Observation", "Final Answer")


def who_writes(label: str) -> Literal["model", "runtime"]:
    """Return who writes the line with this label: `"model"` or `"runtime"`."""
    if label not in LABELS:
        raise ValueError(f"{label!r} is not one of the labels {', '.join(LABELS)}")
    return "runtime" if label == "Observation" else "model"


@dataclass(frozen=True, slots=True)
class Action:
    """The model asks for a tool. `input` is the raw text after `Action Input:`."""

    thought: str
    tool: str
    input: str


@dataclass(frozen=True, slots=True)
class Final:
    """The model gives its answer."""

    thought: str
    answer: str


class Unreadable(StrEnum):
    """Why a turn could not be read."""

    EMPTY = "empty"
    NO_STEP = "no_step"
    MISSING_TOOL = "missing_tool"
    MISSING_INPUT = "missing_input"
    MISSING_ANSWER = "missing_answer"

    def __repr__(self) -> str:
        """Return it as it is written in code."""
        return f"Unreadable.{self.name}"


@dataclass(frozen=True, slots=True)
class Malformed:
    """A turn that holds no step that could be read. A value, not an exception."""

    reason: Unreadable
    text: str


Turn = Action | Final | Malformed


def to_dict(turn: Turn) -> dict[str, Any]:
    """Return a turn as a dict: its kind, such as `"final"`, then its fields."""
    fields: dict[str, Any] = {n: getattr(turn, n) for n in turn.__match_args__}
    return {"kind": type(turn).__name__.lower(), **fields}


class Label(StrEnum):
    """The words that open a field of a turn."""

    THOUGHT = "thought"
    ACTION = "action"
    ACTION_INPUT = "action_input"
    OBSERVATION = "observation"
    FINAL_ANSWER = "final_answer"
    QUESTION = "question"


_STEPS = (Label.ACTION, Label.ACTION_INPUT, Label.FINAL_ANSWER)
_LONG = (Label.ACTION_INPUT, Label.FINAL_ANSWER)  # may have many lines
_MADE_UP = (Label.OBSERVATION, Label.QUESTION)  # in what a model writes
_NAMED = {label.value: label for label in Label}

# `*+` and `(?>…)` never give back what they took, and no part of the pattern crosses a
# line. So each line is read once, however hostile it is. (Before 3.11.5 Python matches
# a possessive group wrongly: only single characters are possessive, groups are atomic.)
# `[^\S\n]` is any space, also one that may not break; the three escapes have no width.
_LABEL = re.compile(
    r"""
    ^(?>(?:[^\S\n]|[\u200b\u2060\ufeff])*)
    (?>(?P<bullet>(?:(?:[>\#•+-]|\*(?=[^\S\n]))  # or quote, or heading
                    (?>(?:[^\S\n]|[\u200b\u2060\ufeff])*))+)?)
    (?>(?P<bold>\*{1,3}+|_{1,3}+)?)
    (?:(?P<thought>thought)
      |(?P<action_input>action[^\S\n]*+\d*+[^\S\n]*+input)
      |(?P<action>action)
      |(?P<observation>observation)
      |(?P<final_answer>final(?>(?:(?>(?:[^\S\n]|[_-])*)answer)?))
      |(?P<question>question))
    [^\S\n]*+\d*+[^\S\n]*+                # "Thought 1:", as the paper numbers them
    (?>(?P=bold)?)[^\S\n]*+[:：](?>(?P=bold)?)
    """,
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)
_OPENED = re.compile(r"<think>.*?(?:</think>\s*|\Z)", re.DOTALL)
_FENCE = re.compile(r"^[ \t]*+```[^\n]*+$", re.MULTILINE)
_FENCED = re.compile(rf"{_FENCE.pattern}.*?{_FENCE.pattern}", re.MULTILINE | re.DOTALL)


def without_thinking(text: str) -> str:
    """Return a text without its `<think>` blocks; one that is not closed never ends."""
    if "think>" not in text:
        return text
    text = _OPENED.sub("", text)  # where only the end is there, it began in the prompt
    return text.rpartition("</think>")[2].lstrip() if "</think>" in text else text


_Field = tuple[Label, str, str]
"""A label, its value without spaces around it, the text from it to the next label."""


def split_fields(text: str) -> list[tuple[Label, str]]:
    """Return the labelled parts of a turn in order, each as (label, stripped text).

    A label stands at the start of a line; text before the first one is a thought. An
    Action Input and a Final Answer may have many lines: a label ends them only if what
    it begins is complete, and in an answer only without a bullet, unless the answer's
    own label has one. A code fence is read only where no step is outside of it.
    """
    first, *others = _fields(text)
    return [field[:2] for field in ([first] if first[1] else []) + others]


@lru_cache(maxsize=1)  # of a reply one asks what it does, and then what is kept of it
def _fields(text: str) -> tuple[_Field, ...]:
    text = without_thinking(text)
    if "```" not in text:
        return _fields_of(text, text)
    outside = _FENCED.sub(lambda fenced: "x" * len(fenced[0]), text)
    fields = _fields_of(text, outside)
    if any(field[0] in _STEPS for field in fields):
        return fields
    text = _FENCE.sub("", text)
    return _fields_of(text, text)


def _fields_of(text: str, outside: str) -> tuple[_Field, ...]:
    found, complete = [*_LABEL.finditer(outside)], [True]
    is_whole, after, end = False, "", len(text)
    for each in reversed(found):
        name, words = each.lastgroup or "", text[each.end() : end].strip()
        is_whole = (
            name in _MADE_UP
            or (name == Label.THOUGHT and is_whole)  # as complete as what follows it
            or (name == Label.FINAL_ANSWER and words != "")
            or (name == Label.ACTION and words != "" and after == Label.ACTION_INPUT)
        )
        complete.append(is_whole)
        after, end = name, each.start()
    fields: list[_Field] = []
    label, bullet, bold, begin, start = Label.THOUGHT, "", "", 0, 0
    for mark, is_whole in zip([*found, None], complete[::-1], strict=True):
        is_item = label is Label.FINAL_ANSWER and not bullet and mark and mark["bullet"]
        if label in _LONG and (is_item or not is_whole):
            continue
        end = mark.start() if mark else len(text)
        value = text[start:end].strip()
        if bold and value.count(bold) % 2:  # **Final Answer: 88**
            value = value.removesuffix(bold).rstrip()
        fields.append((label, value, text[begin:end]))
        if mark:
            label, bullet = _NAMED[mark.lastgroup or ""], mark["bullet"]
            bold, begin, start = mark["bold"] or "", end, mark.end()
            if bold in text[mark.end(label) : start]:  # it was closed at the label
                bold = ""
    return tuple(fields)


def parse_turn(text: str) -> Turn:
    """Return what the model asks for: the first step of its turn. No string raises."""
    fields = [*_fields(text), (Label.OBSERVATION, "", "")]  # something always follows
    if len(fields) == 2 and not fields[0][1]:
        return Malformed(Unreadable.EMPTY, text)
    thoughts: list[str] = []
    for (label, value, _), (label_after, value_after, _) in pairwise(fields):
        if label is Label.THOUGHT and value:
            thoughts.append(value)
        elif label is Label.FINAL_ANSWER and value:
            return Final("\n".join(thoughts), value)
        elif label is Label.FINAL_ANSWER:
            return Malformed(Unreadable.MISSING_ANSWER, text)
        elif label is Label.ACTION_INPUT or (label is Label.ACTION and not value):
            return Malformed(Unreadable.MISSING_TOOL, text)
        elif label is Label.ACTION and label_after is not Label.ACTION_INPUT:
            return Malformed(Unreadable.MISSING_INPUT, text)
        elif label is Label.ACTION:
            return Action("\n".join(thoughts), value, value_after)
    return Malformed(Unreadable.NO_STEP, text)


def split_turn(text: str, turn: Turn) -> tuple[str, str]:
    """Split what the model wrote into the part that was read, and the rest.

    Of a turn without a step, all is read that is before a made-up Observation or
    Question. The rest was not done, and must not enter the history.
    """
    until = _MADE_UP if isinstance(turn, Malformed) else _STEPS
    left = {Action: 2, Final: 1, Malformed: 0}[type(turn)]  # fields, from the first
    kept, dropped, is_counted = "", "", False
    for label, _, part in _fields(text):
        is_counted = is_counted or label in until
        left -= is_counted
        if left >= 0 and label not in _MADE_UP:
            kept += part
        else:
            dropped += part
    return (kept.rstrip() if dropped else kept), dropped.strip()
