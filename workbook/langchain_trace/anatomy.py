"""Prompts and replies, shown: the classic prompt in its six sections, texts in columns.

Everything shown is escaped: a text may hold anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from workbook.pages import template
from workbook.runtime.script import count_tokens
from workbook.views.show import VOICES

SECTIONS = ("instruction", "tools", "format", "question", "scratchpad", "open thought")

# What to look for in the classic prompt, in the order in which it stands there.
MARKS = ("\n\n", "Use the following format:", "\nBegin!\n", "\nQuestion:", "\nThought:")
# Whose each section is: the framework's, the tools', the user's, and what the model has
# said so far.
_WHOSE = ("runtime", "tool", "runtime", "user", "model", "runtime")


def split_prompt(prompt: str) -> list[tuple[str, str]]:
    """Return the six sections of a classic prompt, in order, as (name, text).

    Put together, the texts are the prompt again. The instruction ends with the first
    blank line; the tools end where "Use the following format:" begins; the format ends
    where the line "Question:" begins that follows the line "Begin!". The question ends
    where the next line "Thought:" begins. The last line "Thought:" is the open thought;
    what stands between is the scratchpad. A missing mark raises ValueError.
    """
    ends, start = [], 0
    for mark in MARKS:
        start = prompt.find(mark, start)
        if start < 0:
            raise ValueError(f"this is not a classic prompt: {mark!r} is missing")
        ends.append(start)
    blank, form, _, question, thought = ends
    last = prompt.rfind("\nThought:")
    edges = [0, blank + 2, form, question + 1, thought + 1, last + 1, len(prompt)]
    return [
        (name, prompt[start:end])
        for name, (start, end) in zip(SECTIONS, pairwise(edges), strict=True)
    ]


@dataclass(frozen=True)
class ColoredPrompt:
    """A classic prompt in colours, with a legend that counts its tokens."""

    prompt: str

    def _tokens(self) -> dict[str, int]:
        return {name: count_tokens(text) for name, text in split_prompt(self.prompt)}

    def share(self, name: str) -> float:
        """Return how much of the prompt's tokens a section has, from 0 to 1."""
        return self._tokens()[name] / sum(self._tokens().values())

    def _repr_html_(self) -> str:
        sizes = self._tokens()
        pairs = zip(split_prompt(self.prompt), _WHOSE, strict=True)
        shown = [(n, text, sizes[n], *VOICES[whose]) for (n, text), whose in pairs]
        return str(template("shown.html").module.prompt(shown))


@dataclass(frozen=True)
class SideBySide:
    """Texts by title, with the lines marked that begin with `mark`.

    >>> SideBySide({"without": "a\\nObservation: 3"}, "Observation:")
    [without]
      a
    > Observation: 3
    """

    texts: Mapping[str, str]
    mark: str

    def _columns(self) -> list[tuple[str, list[tuple[str, bool]]]]:
        """Return of each text its title and its lines, with whether one is marked."""
        return [
            (
                title,
                [
                    (x, x.lstrip().startswith(self.mark))
                    for x in text.strip().splitlines()
                ],
            )
            for title, text in self.texts.items()
        ]

    def _repr_html_(self) -> str:
        return str(template("shown.html").module.beside(self._columns()))

    def __repr__(self) -> str:
        return "\n\n".join(
            "\n".join([f"[{title}]", *(f"{' >'[hit]} {line}" for line, hit in lines)])
            for title, lines in self._columns()
        )
