"""What an agent acts on: a world that answers any text with text.

The protocol that the paper's agent needs, and the smallest world that fulfils it: one
in which an action calls a function. Larger ones are in `workbook.environments`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from workbook.loop.prompting import parse_bracket_action


@dataclass(frozen=True, slots=True)
class StepResult:
    """What a world answers to one action; the reward goes from 0 to 1."""

    text: str
    reward: float = 0.0
    done: bool = False


class World(Protocol):
    """What an agent acts on. Any string is a legal action and gets an answer."""

    def step(self, action: str, /) -> StepResult:
        """Do what the action says, and return what is seen."""


class ToolWorld:
    """A world in which an action is the call of a function: `Calculator[2*3]`.

    `Finish` is there already.

    >>> ToolWorld({"Upper": str.upper}).step("upper[abc]").text
    'ABC'
    """

    def __init__(self, tools: Mapping[str, Callable[[str], object]]) -> None:
        self._tools = {name.lower(): tool for name, tool in tools.items()}
        self._names = ", ".join(f"{name}[…]" for name in (*tools, "Finish"))

    def step(self, action: str, /) -> StepResult:
        """Call the function; what it raises is an observation."""
        verb, argument = parse_bracket_action(action) or ("", "")
        if verb == "finish":
            return StepResult("Episode finished.", done=True)
        if verb not in self._tools:
            return StepResult(f"Invalid action. Valid actions are {self._names}.")
        try:
            return StepResult(str(self._tools[verb](argument)))
        except Exception as error:  # what a tool throws is something to be seen
            return StepResult(f"Error: {error}")


_SENTENCE_END = re.compile(r"[.!?][\"')\]]*(?=\s|\Z)|[。！？][」』）]*")


def cut_observation(text: str, limit: int) -> str:
    """Return the whole sentences at the start of `text` that fit into `limit`.

    When the first sentence alone is too long, it is cut between words; when its first
    word is, in the middle of it. The point in "3.14" ends no sentence.

    >>> cut_observation("Kyoto is a city. It was a capital.", 20)
    'Kyoto is a city.'
    >>> cut_observation("京都は市です。昔の都です。", 10)
    '京都は市です。'
    """
    if len(text) <= limit:
        return text
    head = text[: limit + 1]  # one more: what follows a point decides what it ends
    ends = [end.end() for end in _SENTENCE_END.finditer(head) if end.end() <= limit]
    return text[: ends[-1]] if ends else head.rpartition(" ")[0] or text[:limit]
