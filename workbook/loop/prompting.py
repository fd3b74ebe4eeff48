"""The paper's four ways to ask, as data, and the one renderer that writes them.

Standard, CoT, Act and ReAct show the same worked examples and leave out different
parts of them (Yao et al., ICLR 2023, arXiv:2210.03629, section 3.2 and appendix C).
This module writes prompts and reads `Verb[argument]`; it asks no model.
"""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass

from workbook.paths import DATA

EXEMPLARS = DATA / "exemplars.toml"


@dataclass(frozen=True, slots=True)
class PaperStep:
    """One step of a transcript; a thought changes nothing in the world."""

    thought: str = ""
    action: str = ""  # `Verb[argument]`, or a world's own words
    observation: str = ""  # empty until the world has answered


@dataclass(frozen=True, slots=True)
class Exemplar:
    """A question that was worked out by hand, for a prompt to show."""

    question: str
    answer: str
    reasoning: str  # the way to the answer without any action, for CoT
    steps: tuple[PaperStep, ...]  # the way with actions; the last one finishes


@dataclass(frozen=True, slots=True)
class Method:
    """What a way of asking shows of an exemplar, and where the model must stop."""

    name: str
    shows: tuple[str, ...]  # in order; the first one's label ends the prompt
    stop: tuple[str, ...]

    @property
    def acts(self) -> bool:
        """Whether the model acts on a world."""
        return "action" in self.shows


# "\nQuestion:" is ours: after its last step a model would go on with a next question.
STANDARD = Method("standard", ("answer",), ("\n",))
COT = Method("cot", ("reasoning", "answer"), ("\nQuestion:",))
ACT = Method("act", ("action", "observation"), ("\n",))
REACT = Method(
    "react", ("thought", "action", "observation"), ("\nObservation:", "\nQuestion:")
)
METHODS = {method.name: method for method in (STANDARD, COT, ACT, REACT)}


def load_exemplars(name: str) -> tuple[Exemplar, ...]:
    """Return the exemplars of one set: `arithmetic` or `wiki`."""
    sets = tomllib.loads(EXEMPLARS.read_text(encoding="utf-8"))
    if name not in sets:
        raise ValueError(f"there are no exemplars {name!r}, only {', '.join(sets)}")
    return tuple(
        Exemplar(steps=tuple(PaperStep(**step) for step in row.pop("step")), **row)
        for row in sets[name]
    )


def render_steps(
    method: Method, steps: Iterable[PaperStep | Exemplar], *, numbered: bool = True
) -> str:
    r"""Return steps as a method shows them, a line a field.

    >>> render_steps(ACT, [PaperStep("I add.", "Calculator[1+1]", "2")])
    'Action 1: Calculator[1+1]\nObservation 1: 2\n'
    """
    return "".join(
        f"{label_of(field, n if numbered else None)} {value}\n"
        for n, step in enumerate(steps, start=1)
        for field in method.shows
        if (value := getattr(step, field))
    )


def render_prompt(
    method: Method,
    question: str,
    exemplars: Iterable[Exemplar],
    *,
    numbered: bool = True,
) -> str:
    """Return the exemplars, the question, and the label at which the model goes on.

    With `numbered`, steps are written `Thought 1:` as in the paper.
    """
    blocks = []
    for exemplar in exemplars:
        worked = exemplar.steps if method.acts else [exemplar]
        lines = render_steps(method, worked, numbered=numbered and method.acts)
        blocks.append(f"Question: {exemplar.question}\n{lines}\n")
    prefill = label_of(method.shows[0], 1 if numbered and method.acts else None)
    return "".join(blocks) + f"Question: {question}\n{prefill}"


def react_prompt(
    question: str, exemplars: Iterable[Exemplar], *, numbered: bool = True
) -> str:
    r"""Return a prompt whose exemplars show thoughts, actions and observations.

    >>> react_prompt("1+1?", [])
    'Question: 1+1?\nThought 1:'
    """
    return render_prompt(REACT, question, exemplars, numbered=numbered)


def parse_bracket_action(text: str) -> tuple[str, str] | None:
    """Read `Search[Kyoto]`: return the verb in lower case and the argument, or None.

    The argument ends at the bracket that closes the first one; what follows is ignored.

    >>> parse_bracket_action("SEARCH[list [of] cities] and then")
    ('search', 'list [of] cities')
    >>> parse_bracket_action("Search Kyoto") is None
    True
    """
    verb, _, rest = text.partition("[")
    if not verb.strip().isidentifier():
        return None
    depth = 1
    for bracket in re.finditer(r"[\[\]]", rest):
        depth += 1 if bracket[0] == "[" else -1
        if depth == 0:
            return verb.strip().lower(), rest[: bracket.start()].strip()
    return None


def label_of(field: str, number: int | None = None) -> str:
    """Return a field's label, such as `Thought 1:`; CoT's reasoning is a thought."""
    name = "Thought" if field == "reasoning" else field.title()
    return f"{name}:" if number is None else f"{name} {number}:"
