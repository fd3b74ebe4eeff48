"""Self-consistency, and what to do when one method gives up.

CoT-SC asks k times and takes the answer that most samples give (Wang et al., ICLR
2023). The ReAct paper combines it with ReAct in two orders, section 3.2: each method
has its own sign that it is at a loss, and then the other one answers.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum

from workbook.loop.answers import normalize_answer


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
    undecided = winner is None or count < len(votes) / 2
    return react_answer if undecided else winner


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
