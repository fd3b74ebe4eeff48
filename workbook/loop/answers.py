"""When two answers are the same, which one most samples give, and who gives way.

Answers are normalised as HotpotQA's and SQuAD's official scripts do it (Yang et al.,
EMNLP 2018; Rajpurkar et al., EMNLP 2016); besides, full-width letters and digits are
made half-width. Self-consistency, CoT-SC, asks k times and takes the answer that most
samples give (Wang et al., ICLR 2023). The ReAct paper combines it with ReAct in two
orders (section 3.2): when the first method is at a loss, the other one answers.
"""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from enum import StrEnum

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NUMBER = re.compile(r"(?<![\d.])-?(?:\d+(?:\.\d+)?|\.\d+)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


def normalize_answer(text: str) -> str:
    """Return the answer in small letters, without punctuation, articles, extra space.

    Full-width characters become half-width first (Unicode's NFKC). As in the official
    scripts, the sign of a number and its decimal point are punctuation too: "-3.5"
    becomes "35". Compare numbers as numbers where that matters.

    >>> normalize_answer("  The Eiffel-Tower, Paris. ")
    'eiffeltower paris'
    >>> normalize_answer("「東京 タワー」（１９５８）")
    '東京 タワー1958'
    """
    narrow = unicodedata.normalize("NFKC", text).lower()
    category = unicodedata.category
    marks = {*string.punctuation, *(m for m in narrow if category(m)[0] == "P")}
    plain = "".join(m for m in narrow if m not in marks)
    return " ".join(_ARTICLES.sub(" ", plain).split())


def exact_match(answer: str, gold: str) -> bool:
    """Return whether two answers are the same once normalised."""
    return normalize_answer(answer) == normalize_answer(gold)


def same_number(answer: str, gold: str) -> bool:
    """Return whether `answer` names one number, and that number is `gold`.

    Words around it are no fault ("144 boxes"), a second number is ("12 * 12 = 144").
    Where `gold` is not a number, it raises ValueError.

    >>> same_number("$1,692.00", "1692"), same_number("16.92", "1692")
    (True, False)
    """
    wanted = numbers_in(gold)
    if len(wanted) != 1:
        raise ValueError(f"the right answer must be one number, not {gold!r}")
    return numbers_in(answer) == wanted


def matches_any(
    answer: str | None,
    golds: Iterable[str],
    is_right: Callable[[str, str], bool] = exact_match,
) -> bool:
    """Return whether an answer was given and is one of the accepted ones.

    >>> matches_any("cervantes", ["Miguel de Cervantes", "Cervantes"])
    True
    """
    return bool(answer) and any(is_right(answer or "", gold) for gold in golds)


def numbers_in(text: str) -> list[Decimal]:
    """Return the numbers that a text names, as they stand: 1,692 and １６９２ are one.

    >>> numbers_in("1,692 m, −3 at night")
    [Decimal('1692'), Decimal('-3')]
    """
    narrow = unicodedata.normalize("NFKC", text).replace("−", "-")
    return [Decimal(n) for n in _NUMBER.findall(_THOUSANDS.sub("", narrow))]


class Order(StrEnum):
    """Which method answers first."""

    REACT_TO_COT_SC = "ReAct → CoT-SC"
    COT_SC_TO_REACT = "CoT-SC → ReAct"


def majority(votes: Iterable[str | None]) -> tuple[str | None, int]:
    """Return the answer that most samples give, as it was first given, and how many.

    Answers are compared normalised. None and the empty answer are no vote; of answers
    with equally many votes the one that was given first wins.

    >>> majority(["Kyoto", "Nara", "kyoto.", None])
    ('Kyoto', 2)
    """
    given = [vote for vote in votes if vote and normalize_answer(vote)]
    counts = Counter(map(normalize_answer, given))
    if not counts:
        return None, 0
    winner, count = counts.most_common(1)[0]  # in the order in which they were met
    return next(vote for vote in given if normalize_answer(vote) == winner), count


def back_off(
    order: Order, react_answer: str | None, votes: Sequence[str | None]
) -> str | None:
    """Return the answer that the two methods give together.

    ReAct gives way when it has no answer. CoT-SC gives way when its most frequent
    answer occurs in fewer than half of all samples, those without an answer included.

    >>> back_off(Order.REACT_TO_COT_SC, None, ["88", "88", "90"])
    '88'
    >>> back_off(Order.COT_SC_TO_REACT, "88", ["90", "91", "92"])
    '88'
    """
    winner, count = majority(votes)
    if order is Order.REACT_TO_COT_SC:
        return winner if react_answer is None else react_answer
    return react_answer if winner is None or count < len(votes) / 2 else winner


def run_back_off(
    order: Order,
    react: Callable[[], str | None],
    cot_sc: Callable[[], Sequence[str | None]],
    back_off: Callable[..., str | None] = back_off,
) -> str | None:
    """Answer with the first method; ask the second one only when the first gives way.

    `react` returns an answer, `cot_sc` the votes; `back_off` decides.
    """
    if order is Order.REACT_TO_COT_SC:
        answer = react()
        return answer if answer is not None else back_off(order, None, cot_sc())
    certain = back_off(order, None, cot_sc())
    return certain if certain is not None else react()
