"""A text world answers any action in text, and never raises for what an agent wrote.

The same task and actions give the same texts, as in ReAct's experiments
(arXiv:2210.03629).
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple, TypeVar

from pydantic import TypeAdapter

from workbook.paths import DATA
from workbook.runtime.calls import clip

RowT = TypeVar("RowT")


class StepResult(NamedTuple):
    """What a world answers to one action; the reward goes from 0 to 1."""

    text: str
    reward: float = 0.0
    done: bool = False


class ToolWorld:
    """A world in which `Calculator[2*3]` calls a function, and `Finish[6]` ends it."""

    def __init__(self, tools: Mapping[str, Callable[[str], object]]) -> None:
        self.tools = {name.lower(): tool for name, tool in tools.items()}
        self.names = ", ".join(f"{name}[…]" for name in (*tools, "Finish"))

    def step(self, action: str, /) -> StepResult:
        """Call the function; what it raises is an observation."""
        verb, argument = in_brackets(action)
        if verb == "finish":
            return StepResult("Episode finished.", done=True)
        if verb not in self.tools:
            return StepResult(f"Invalid action. Valid actions are {self.names}.")
        try:
            return StepResult(str(self.tools[verb](argument)))
        except Exception as error:
            return StepResult(f"Error: {error}")


class TextWorld:
    """What worlds with tasks share. A subclass has `forms`, `reset` and `_act`."""

    forms: str  # its verbs, for an agent that used another
    _act: Callable[[str], StepResult | None]  # None: no such verb

    def step(self, action: str, /) -> StepResult:
        """Take one action; a thought is one that changes nothing."""
        if action.strip().casefold().startswith(("think:", "think[")):
            return StepResult("OK.")
        invalid = f"Invalid action: {echo(action)!r}. You can use: {self.forms}."
        return self._act(action) or StepResult(invalid)


World = ToolWorld | TextWorld


def in_brackets(action: str) -> tuple[str, str]:
    """Return verb and argument of `Search[Kyoto]`; two empty texts for another form."""
    found = re.match(r"\s*(\w+)\s*\[(.*)\]", action)
    return (found[1].lower(), found[2].strip()) if found else ("", "")


def echo(text: str) -> str:
    """Return what an agent wrote, short enough to be quoted in an answer."""
    return clip(text.strip(), 60)


def same_letters(text: str) -> str:
    """Return `text` in plain, small letters with single blanks, to compare names."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


@cache
def rows_of(file: str, kind: type[RowT]) -> tuple[RowT, ...]:
    """Read a file of `data/` with a JSON object a line."""
    lines = (DATA / file).read_text("utf-8").splitlines()
    return tuple(map(TypeAdapter(kind).validate_json, lines))
