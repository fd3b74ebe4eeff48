"""Several runs of one question: their votes, and the answer that they carry together.

Self-consistency (Wang et al., ICLR 2023): ask k times, take what most runs say. That
runs agree is a sign that an answer is right, and no proof: they share one model.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import NamedTuple

from workbook.grounding.comparison import UNITS
from workbook.loop.answers import normalize_answer
from workbook.runtime.calls import clip
from workbook.runtime.machine import RunResult
from workbook.runtime.table import State
from workbook.runtime.waiting import call_with_timeout

VERIFY_S = 30.0  # the most seconds that a verifier may take
MONEY = {"$": "dollar", "usd": "dollar", "€": "euro", "eur": "euro", "£": "pound",
         "¥": "yen", "円": "yen", "元": "yuan"}  # fmt: skip
TIMES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9,
         "万": 10**4, "億": 10**8, "亿": 10**8}  # fmt: skip
NUMBER = r"[+-]?\d*\.?\d+"
AMOUNT = re.compile(rf"({NUMBER})[ -]?({'|'.join(TIMES)})?(\D*)")

Given = str | Exception | None  # an answer, what was raised, or no answer
Ends = Sequence[RunResult | Given]  # of `ask_k`, with their traces; or plain answers
Verify = Callable[[Ends], str | None]  # it returns one of the answers, or None


class Meaning(NamedTuple):
    """What an answer says, to be compared: a number with its unit, or plain words."""

    what: Decimal | str
    unit: str = ""  # of a number: "km" of "5 kilometres"; "" where it has none


class Tally(NamedTuple):
    """The votes of several runs."""

    votes: tuple[tuple[str, int], ...]  # each answer as first given, most votes first
    abstained: int  # ended without an answer
    failed: int  # raised, or ended in ERROR
    tied: bool  # two or more answers have the most votes

    def __str__(self) -> str:
        """Return a tally in words."""
        shown = [f"{count} × {clip(answer, 40)}" for answer, count in self.votes]
        tie = " (a tie)" if self.tied else ""
        rest = f"; {self.abstained} abstained, {self.failed} failed"
        return (", ".join(shown) or "no votes") + tie + rest


counted = Tally.__str__


class Agreed(NamedTuple):
    """What several runs say together, and how that was found."""

    answer: str | None
    how: str  # "unanimous", "verifier", "majority" or "none"
    why: str
    tally: Tally


def meaning(answer: str) -> Meaning | None:
    """Return what an answer says: a number, or words with the numbers in them.

    None where it says nothing, as "" and "…" do.

    >>> meaning("$1,692.00") == meaning("１６９２ dollars")
    True
    >>> meaning("5 kilometres"), meaning("The Nile.")
    (Meaning(what=Decimal('5'), unit='km'), Meaning(what='nile', unit=''))
    """
    text = unicodedata.normalize("NFKC", answer).replace("−", "-").casefold()
    text = " ".join(text.split()).strip("*_`\"'“”「」()[]= ").rstrip(".,;:!。 ")
    text = re.sub(r"^([+-]?)([$€£¥]) ?(.*)$", r"\1\3 \2", text)  # $5 becomes 5 $
    text = re.sub(r"(?<=\d)[ ,](?=\d{3}(?!\d))", "", text)  # 1,692 becomes 1692
    if found := AMOUNT.fullmatch(text):
        number, times, unit = found.groups()
        unit = unit.strip(" .-")
        words = normalize_answer(unit.replace("/", " per "))  # m/s is not ms
        unit = UNITS.get(unit) or MONEY.get(unit) or words
        unit = unit.removesuffix("s") if len(unit) > 2 else unit
        return Meaning(Decimal(number) * TIMES.get(times, 1), unit)
    words = normalize_answer(text)
    numbers = [str(Decimal(each).normalize()) for each in re.findall(NUMBER, text)]
    return Meaning(" ".join([words, *numbers])) if words else None


def vote(answers: Sequence[Given]) -> Tally:
    """Return the votes of several answers, compared by what they mean.

    A number without a unit joins the same number with one, if only one unit was given
    with it; otherwise it is an answer of its own.

    >>> vote(["$88", "88.0", "90", None, "88 dollars"]).votes
    (('$88', 3), ('90', 1))
    """
    given = [(a, said) for a in answers if isinstance(a, str) and (said := meaning(a))]
    failed = sum(isinstance(each, Exception) for each in answers)
    units = defaultdict[Decimal | str, set[str]](set)
    for _, (what, unit) in given:
        units[what] |= {unit} - {""}
    same = defaultdict[Meaning, list[str]](list)
    for answer, said in given:
        if not said.unit and len(units[said.what]) == 1:
            said = Meaning(said.what, *units[said.what])
        same[said].append(answer)
    counts = [(each[0], len(each)) for each in same.values()]
    votes = tuple(sorted(counts, key=lambda vote: -vote[1]))
    tied = len(votes) > 1 and votes[0][1] == votes[1][1]
    return Tally(votes, len(answers) - len(given) - failed, failed, tied)


def consensus(
    exits: Ends, verify: Verify | None = None, within_s: float = VERIFY_S
) -> Agreed:
    """Return what several runs say together, how that was found, and why.

    What all runs say, else what the verifier chooses, else what more than half of ALL
    runs say, those without an answer with them; else there is no answer.
    """
    tally = vote([answer_of(each) for each in exits])
    if not tally.votes:
        return Agreed(None, "none", f"nobody answered: {counted(tally)}", tally)
    top, most = tally.votes[0]
    if most == len(exits):
        return Agreed(top, "unanimous", f"all runs say so: {counted(tally)}", tally)
    chosen, why = ask_verifier(verify, exits, tally, within_s)
    why = f"{why}; {counted(tally)}"
    if chosen is not None:
        return Agreed(chosen, "verifier", why, tally)
    if 2 * most > len(exits):
        return Agreed(top, "majority", f"more than half of all runs; {why}", tally)
    return Agreed(None, "none", f"no answer of more than half; {why}", tally)


def answer_of(end: RunResult | Given) -> Given:
    """Return what a run gives to a vote: its answer, None, or how it failed."""
    if not isinstance(end, RunResult):
        return end  # a plain answer is one, too
    return RuntimeError(end.message) if end.state == State.ERROR else end.answer


def ask_verifier(
    verify: Verify | None, exits: Ends, tally: Tally, within_s: float
) -> tuple[str | None, str]:
    """Return the answer that a verifier chose, or None, and what is to be said of it.

    None, too, where it raises, is late, or says what none of the runs did.
    """
    if verify is None:
        return None, "no verifier"
    try:
        said = call_with_timeout(lambda: verify(exits), within_s)
    except (Exception, SystemExit) as error:  # TimedOut, too
        return None, clip(f"the verifier raised {type(error).__name__}: {error}", 99)
    if said is None:
        return None, "the verifier is inconclusive"
    answers = [answer for answer, _ in tally.votes]
    same = [each for each in answers if vote([each, said]).votes[0][1] == 2]
    if said in answers or len(same) == 1:
        return (said if said in answers else same[0]), "the verifier chose it"
    return None, f"the verifier said {said!r:.60}, which is none of the answers"
