"""What the model wrote, as data.

A turn is text with labels at the starts of its lines: Thought, Action, Action Input,
Final Answer. `split_fields` finds the labels, `parse_turn` decides what was asked for.
Nothing here knows which tools exist, and nothing a model writes raises an exception.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any, Literal

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

    >>> who_writes("Thought")
    'model'
    """
    if label not in WRITERS:
        raise ValueError(f"{label!r} is not one of the labels {', '.join(WRITERS)}")
    return WRITERS[label]


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


@dataclass(frozen=True, slots=True)
class Malformed:
    """A turn that holds no step that could be read. A value, not an exception."""

    reason: Unreadable
    text: str


Turn = Action | Final | Malformed


def to_dict(turn: Turn) -> dict[str, Any]:
    """Return a turn as a trace shows it: its kind, then its fields.

    >>> to_dict(Final("", "88"))
    {'kind': 'final', 'thought': '', 'answer': '88'}
    """
    fields: dict[str, Any] = {name: getattr(turn, name) for name in turn.__match_args__}
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
_MADE_UP = (Label.OBSERVATION, Label.QUESTION)  # in what a model writes

_LONG = (Label.ACTION_INPUT, Label.FINAL_ANSWER)

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
      |(?P<final_answer>final(?:[^\S\n]++answer)?+)
      |(?P<question>question))
    [^\S\n]*+\d*+[^\S\n]*+                # "Thought 1:", as the paper numbers them
    (?:(?P=bold))?+[^\S\n]*+[:：](?:(?P=bold))?+
    """,
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)


def split_fields(text: str) -> list[tuple[Label, str]]:
    """Return the labelled parts of a turn in order, each as (label, stripped text).

    A label stands at the start of a line, in any case, with a colon of either width,
    perhaps numbered, bold, or behind a bullet; `Final:` is a Final Answer. What stands
    before the first label is a thought, where there is anything.

    An Action Input and a Final Answer may have many lines. A label ends them only where
    what it begins is complete: an Action with a name and its Action Input; a Final
    Answer with words; an Observation; a Question; a Thought with one of these behind
    it. Any other label is one of their words, and in an answer so is one behind a
    bullet, unless the answer's own label stands behind a bullet too.

    >>> for label, value in split_fields("Add.\\n**Action:** Sum\\nACTION INPUT：1+1"):
    ...     print(label, value, sep=" = ")
    thought = Add.
    action = Sum
    action_input = 1+1
    """
    fields, label, bold, start = [], Label.THOUGHT, "", 0
    for match in [*_beginnings(text), None]:
        value = text[start : match.start() if match else None].strip()
        if bold and value.count(bold) % 2:  # **Final Answer: 88**
            value = value.removesuffix(bold).rstrip()
        fields.append((label, value))
        if match:
            label = Label(match.lastgroup or "")
            bold, start = match["bold"] or "", match.end()
            if bold in text[match.end(label) : start]:  # it was closed at the label
                bold = ""
    return fields if fields[0][1] else fields[1:]


def _beginnings(text: str) -> list[re.Match[str]]:
    """Return the labels that begin a field, without those that are only words."""
    found = list(_LABEL.finditer(text))
    if not any(label.lastgroup in _LONG for label in found[:-1]):
        return found
    kept = found[:1]
    for label, complete in zip(found[1:], _complete(text, found)[1:], strict=True):
        inside = kept[-1]
        if inside.lastgroup == Label.FINAL_ANSWER and not inside["bullet"]:
            complete = complete and not label["bullet"]
        if complete or inside.lastgroup not in _LONG:
            kept.append(label)
    return kept


def _complete(text: str, found: list[re.Match[str]]) -> list[bool]:
    """Say of each label whether something complete begins with it."""
    answers, after, end = [False], None, len(text)
    for label in reversed(found):  # a Thought is as complete as what follows it
        name, words = label.lastgroup, text[label.end() : end].strip()
        complete = name in _MADE_UP
        if name == Label.THOUGHT:
            complete = answers[-1]
        elif name == Label.FINAL_ANSWER:
            complete = words != ""
        elif name == Label.ACTION:
            complete = words != "" and after == Label.ACTION_INPUT
        answers.append(complete)
        after, end = name, label.start()
    return answers[:0:-1]


def parse_turn(text: str) -> Turn:
    """Return what the model asked for. The first step wins; what follows it is dropped.

    A step is an Action with its input, or a Final Answer; `split_fields` says where an
    input or an answer ends. An Observation in this text was made up by the model: it
    ends the field before it and is never read. A tool called "None" is a tool like any
    other; the registry will say that it has none. No string raises.

    >>> parse_turn("I add.\\nAction: Sum\\nAction Input: 1+1\\nObservation: 3")
    Action(thought='I add.', tool='Sum', input='1+1')
    """
    if not isinstance(text, str):
        raise TypeError(
            f"a turn is text, not {type(text).__name__}: give the reply's .text"
        )
    if not text.strip():
        return Malformed(Unreadable.EMPTY, text)
    fields = [*split_fields(text), (Label.OBSERVATION, "")]  # something always follows
    first = next((n for n, (label, _) in enumerate(fields) if label in _STEPS), None)
    if first is None:
        return Malformed(Unreadable.NO_STEP, text)
    thought = "\n".join(
        value for label, value in fields[:first] if label is Label.THOUGHT and value
    )
    (label, value), (label_after, value_after) = fields[first : first + 2]
    if label is Label.FINAL_ANSWER:
        if not value:
            return Malformed(Unreadable.MISSING_ANSWER, text)
        return Final(thought, value)
    if label is Label.ACTION_INPUT or not value:
        return Malformed(Unreadable.MISSING_TOOL, text)
    if label_after is not Label.ACTION_INPUT:
        return Malformed(Unreadable.MISSING_INPUT, text)
    return Action(thought, value, value_after)


def heard(text: str, turn: Turn) -> tuple[str, str]:
    """Split what the model wrote, to the letter: what was read of it, and the rest.

    Read are the thoughts before a step and the step; of a turn without a step, all that
    stands before a made-up Observation or Question. The rest was not done, and must not
    stand in the history as if it had been.

    >>> heard("Final: 2\\nObservation: 3", Final("", "2"))
    ('Final: 2', 'Observation: 3')
    """
    labels = _beginnings(text)
    names = [Label.THOUGHT, *(label.lastgroup for label in labels)]
    until = _MADE_UP if isinstance(turn, Malformed) else _STEPS
    end = next((n for n, name in enumerate(names) if name in until), len(names))
    end += {Action: 2, Final: 1, Malformed: 0}[type(turn)]
    parts = pairwise([0, *(label.start() for label in labels), len(text)])
    kept: list[str] = []
    dropped: list[str] = []
    for number, (start, stop) in enumerate(parts):
        read = number < end and names[number] not in _MADE_UP
        (kept if read else dropped).append(text[start:stop])
    if not dropped:
        return text, ""
    return "".join(kept).rstrip(), "".join(dropped).strip()
