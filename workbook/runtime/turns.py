"""What the model wrote, as data.

A turn is text with labels at the starts of its lines: Thought, Action, Action Input,
Final Answer. `split_fields` finds the labels, `parse_turn` decides what they ask for.
Nothing here knows which tools exist, and nothing that a model writes raises.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
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

# Every `*+`, `++` and `?+` is possessive: it never gives back what it took, and no part
# of the pattern crosses a line. So each line is read once, however hostile it is.
# `[^\S\n]` is any space, also one that may not break; the three escapes have no width.
_LABEL = re.compile(
    r"""
    ^(?:[^\S\n]|[\u200b\u2060\ufeff])*+
    (?P<bullet>(?:(?:[>\#•+-]|\*(?=[^\S\n]))  # or quote, or heading
                 (?:[^\S\n]|[\u200b\u2060\ufeff])*+)++)?+
    (?P<bold>\*{1,3}+|_{1,3}+)?+
    (?:(?P<thought>thought)
      |(?P<action_input>action[^\S\n]*+\d*+[^\S\n]*+input)
      |(?P<action>action)
      |(?P<observation>observation)
      |(?P<final_answer>final(?:(?:[^\S\n]|[_-])*+answer)?+)
      |(?P<question>question))
    [^\S\n]*+\d*+[^\S\n]*+                # "Thought 1:", as the paper numbers them
    (?:(?P=bold))?+[^\S\n]*+[:：](?:(?P=bold))?+
    """,
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)
_OPENED = re.compile(r"<think>.*?(?:</think>\s*|\Z)", re.DOTALL)
_FENCE = re.compile(r"^[ \t]*```[^\n]*$", re.MULTILINE)


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
    marks = [match.span() for match in _FENCE.finditer(text)]
    pairs = zip(marks[::2], marks[1::2], strict=False)
    fields = _fields_of(text, [range(begin[0], end[1]) for begin, end in pairs])
    has_step = any(field[0] in _STEPS for field in fields)
    return fields if has_step else _fields_of(_FENCE.sub("", text), [])


def _fields_of(text: str, fenced: list[range]) -> tuple[_Field, ...]:
    fields: list[_Field] = []
    label, bold, begin, start = Label.THOUGHT, "", 0, 0
    for match in [*_beginnings(text, fenced), None]:
        end = match.start() if match else len(text)
        value = text[start:end].strip()
        if bold and value.count(bold) % 2:  # **Final Answer: 88**
            value = value.removesuffix(bold).rstrip()
        fields.append((label, value, text[begin:end]))
        if match:
            label = Label(match.lastgroup or "")
            bold, begin, start = match["bold"] or "", end, match.end()
            if bold in text[match.end(label) : start]:  # it was closed at the label
                bold = ""
    return tuple(fields)


def _beginnings(text: str, fenced: list[range]) -> list[re.Match[str]]:
    found = [*_LABEL.finditer(text)]
    found = [m for m in found if not any(m.start() in each for each in fenced)]
    whole, after, end = [False], "", len(text)  # of each, whether its field is complete
    for label in reversed(found):
        name, words = label.lastgroup or "", text[label.end() : end].strip()
        whole.append(
            name in _MADE_UP
            or (name == Label.THOUGHT and whole[-1])  # as complete as what follows it
            or (name == Label.FINAL_ANSWER and words != "")
            or (name == Label.ACTION and words != "" and after == Label.ACTION_INPUT)
        )
        after, end = name, label.start()
    kept: list[re.Match[str]] = []
    for label, complete in zip(found, whole[:0:-1], strict=True):
        field = kept[-1].lastgroup if kept else ""
        if field == Label.FINAL_ANSWER and not kept[-1]["bullet"]:
            complete = complete and not label["bullet"]
        if complete or field not in _LONG:
            kept.append(label)
    return kept


def parse_turn(text: str) -> Turn:
    """Return what the model asks for: the first step of its turn. No string raises."""
    fields = [*_fields(text), (Label.OBSERVATION, "", "")]  # something always follows
    if len(fields) == 2 and not fields[0][1]:
        return Malformed(Unreadable.EMPTY, text)
    first = next((n for n, field in enumerate(fields) if field[0] in _STEPS), None)
    if first is None:
        return Malformed(Unreadable.NO_STEP, text)
    thoughts = [field[1] for field in fields[:first] if field[0] is Label.THOUGHT]
    thought = "\n".join(filter(None, thoughts))
    (label, value, _), (label_after, value_after, _) = fields[first : first + 2]
    if label is Label.FINAL_ANSWER:
        if not value:
            return Malformed(Unreadable.MISSING_ANSWER, text)
        return Final(thought, value)
    if label is Label.ACTION_INPUT or not value:
        return Malformed(Unreadable.MISSING_TOOL, text)
    if label_after is not Label.ACTION_INPUT:
        return Malformed(Unreadable.MISSING_INPUT, text)
    return Action(thought, value, value_after)


def split_turn(text: str, turn: Turn) -> tuple[str, str]:
    """Split what the model wrote into the part that was read, and the rest.

    Of a turn without a step, all is read that is before a made-up Observation or
    Question. The rest was not done, and must not enter the history.
    """
    fields = _fields(text)
    until = _MADE_UP if isinstance(turn, Malformed) else _STEPS
    ends = (n for n, field in enumerate(fields) if field[0] in until)
    end = next(ends, len(fields)) + {Action: 2, Final: 1, Malformed: 0}[type(turn)]
    kept = dropped = ""
    for n, (label, _, part) in enumerate(fields):
        if n < end and label not in _MADE_UP:
            kept += part
        else:
            dropped += part
    return (kept.rstrip() if dropped else kept), dropped.strip()
