"""The paper's four prompts, its actions, when an answer is right, and sums to ask.

Standard, CoT, Act and ReAct show different parts of the same worked examples (Yao et
al., ICLR 2023, arXiv:2210.03629, section 3.2 and appendix C). `paper_agent` asks.
"""

import random
import re
import string
import tomllib
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple
from unicodedata import category, normalize

from workbook.paths import DATA
from workbook.worlds.calculator import safe_eval
from workbook.worlds.text_world import ToolWorld, rows_of


class PaperStep(NamedTuple):
    """One step of a transcript; a thought changes nothing in the world."""

    thought: str = ""
    action: str = ""  # `Verb[argument]`, or a world's own words
    observation: str = ""  # empty until the world has answered


class Exemplar(NamedTuple):
    """A question that was worked out by hand, for a prompt to show."""

    question: str
    answer: str
    reasoning: str  # the way to the answer without any action, for CoT
    steps: tuple[PaperStep, ...]  # the way with actions; the last one finishes


Shows = tuple[str, ...]
"""What a method shows of an exemplar; the label of the first ends the prompt."""
METHODS: dict[str, Shows] = {
    "standard": ("answer",),
    "cot": ("reasoning", "answer"),
    "act": ("action", "observation"),
    "react": ("thought", "action", "observation"),
}
# "\nQuestion:" is ours: after its last step a model would go on with a next question.
STOPS: dict[str, tuple[str, ...]] = {
    "standard": ("\n",),
    "cot": ("\nQuestion:",),
    "act": ("\n",),
    "react": ("\nObservation:", "\nQuestion:"),
}


def load_exemplars(name: str) -> tuple[Exemplar, ...]:
    """Return the exemplars of one set: `arithmetic` or `wiki`."""
    sets = tomllib.loads((DATA / "exemplars.toml").read_text(encoding="utf-8"))
    return tuple(
        Exemplar(steps=tuple(PaperStep(**step) for step in row.pop("step")), **row)
        for row in sets[name]
    )


def render_prompt(
    shows: Shows, question: str, exemplars: Iterable[Exemplar], *, numbered: bool = True
) -> str:
    """Return the exemplars, the question, and the label at which the model goes on."""
    acts, text = "action" in shows, ""
    for exemplar in exemplars:
        worked = exemplar.steps if acts else [exemplar]
        lines = render_steps(shows, worked, numbered=numbered and acts)
        text += f"Question: {exemplar.question}\n{lines}\n"
    prefill = label_of(shows[0], 1 if numbered and acts else None)
    return f"{text}Question: {question}\n{prefill}"


def react_prompt(
    question: str, exemplars: Iterable[Exemplar], *, numbered: bool = True
) -> str:
    r"""Return a prompt whose exemplars show thoughts, actions and observations.

    >>> react_prompt("1+1?", [])
    'Question: 1+1?\nThought 1:'
    """
    return render_prompt(METHODS["react"], question, exemplars, numbered=numbered)


def render_steps(
    shows: Shows, steps: Iterable[PaperStep | Exemplar], *, numbered: bool
) -> str:
    """Return steps as a method shows them, a line a field."""
    return "".join(
        f"{label_of(field, n if numbered else None)} {value}\n"
        for n, step in enumerate(steps, start=1)
        for field in shows
        if (value := getattr(step, field))
    )


def label_of(field: str, number: int | None = None) -> str:
    """Return the label of a field, such as `Thought 1:`."""
    name = "Thought" if field == "reasoning" else field.title()
    return f"{name}:" if number is None else f"{name} {number}:"


def parse_bracket_action(text: str) -> tuple[str, str] | None:
    """Read `Search[Kyoto]`: return the verb in lower case and the argument, or None.

    >>> parse_bracket_action("SEARCH[list [of] cities] and then")
    ('search', 'list [of] cities')
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


_ARTICLES = {"a", "an", "the"}
_NUMBER = re.compile(r"(?<![\d.])-?(?:\d+(?:\.\d+)?|\.\d+)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


def normalize_answer(text: str) -> str:
    """Return an answer in small letters, without punctuation and articles.

    As HotpotQA's and SQuAD's scripts do it, in which "-3.5" becomes "35"; besides,
    full-width letters become half-width, and one word alone is no article.

    >>> normalize_answer("  The Eiffel-Tower, Paris. ")
    'eiffeltower paris'
    """
    narrow = normalize("NFKC", text).lower()
    marks = {*string.punctuation, *(c for c in narrow if category(c)[0] == "P")}
    words = narrow.translate(dict.fromkeys(map(ord, marks))).split()
    kept = [word for word in words if word not in _ARTICLES]
    return " ".join(kept if len(words) > 1 else words)


def exact_match(answer: str, gold: str) -> bool:
    """Return whether two answers are the same once normalised."""
    return normalize_answer(answer) == normalize_answer(gold)


def f1_score(answer: str, gold: str) -> float:
    """Return SQuAD's F1 of the words of two answers, from 0 to 1.

    >>> f1_score("the Nile in Egypt", "Nile")
    0.5
    """
    given, wanted = (normalize_answer(each).split() for each in (answer, gold))
    shared = sum((Counter(given) & Counter(wanted)).values())
    return 2 * shared / max(len(given) + len(wanted), 1)


def numbers_in(text: str) -> list[Decimal]:
    """Return the numbers that a text names, as they stand: 1,692 and １６９２ are one.

    >>> numbers_in("1,692 m, −3 at night")
    [Decimal('1692'), Decimal('-3')]
    """
    narrow = normalize("NFKC", text).replace("−", "-")
    return [Decimal(n) for n in _NUMBER.findall(_THOUSANDS.sub("", narrow))]


def same_number(answer: str, gold: str) -> bool:
    """Return whether `answer` names one number, and that number is `gold`.

    >>> same_number("$1,692.00", "1692"), same_number("16.92", "1692")
    (True, False)
    """
    return numbers_in(answer) == [Decimal(gold)]


class ArithmeticQuestion(NamedTuple):
    """A small sum in words."""

    slug: str
    text: str
    answers: tuple[str, ...]


def arithmetic_questions() -> tuple[ArithmeticQuestion, ...]:
    """Read the twenty questions: fourteen of one calculation, six of two."""
    return rows_of("arithmetic.jsonl", ArithmeticQuestion)


def drawn_sums(number: int, seed: int = 12) -> tuple[ArithmeticQuestion, ...]:
    """Return so many sums of one calculation: eight forms, with numbers that are drawn.

    A longer list begins with the shorter one of the same seed.
    """
    forms = tomllib.loads((DATA / "lessons/12/sums.toml").read_text("utf-8"))["form"]
    dice, found = random.Random(seed), []
    for n in range(number):
        sign, text = forms[n % len(forms)]["sign"], forms[n % len(forms)]["text"]
        b, a = dice.randint(12, 49), dice.randint(51, 99)
        if sign == "-":
            a = dice.randint(120, 900)
        if sign == "/":
            a = b * dice.randint(13, 60)
        right = str(int(safe_eval(f"{a} {sign} {b}")))
        slug, text = f"sum{n + 1:03}", text.format(a=a, b=b)
        found.append(ArithmeticQuestion(slug, text, (right,)))
    return tuple(found)


def calculator_world(question: ArithmeticQuestion) -> ToolWorld:
    """Return a world with a calculator, the same for every question."""

    def calculate(expression: str) -> str:
        value = safe_eval(expression)
        # Six digits of a fraction: a small model would copy all sixteen.
        return f"{value:.6g}" if isinstance(value, float) else str(value)

    return ToolWorld({"Calculator": calculate})
