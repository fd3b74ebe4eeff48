"""Lesson 11: ask several times, count the votes, and say when they are an answer.

That runs agree is a sign that an answer is right, and no proof: they share one model
(self-consistency, Wang et al., ICLR 2023, arXiv:2203.11171).
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Sequence
from decimal import Decimal
from math import comb
from typing import NamedTuple

from workbook.lessons.matcher import UNITS
from workbook.lessons.react_prompting import normalize_answer
from workbook.runtime.calls import clip
from workbook.runtime.machine import Machine, RunResult
from workbook.runtime.model import Model
from workbook.runtime.table import State
from workbook.runtime.waiting import call_with_timeout

MONEY = {"$": "dollar", "usd": "dollar", "€": "euro", "eur": "euro", "円": "yen"}
TIMES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "万": 10**4}
NUMBER = r"[+-]?\d*\.?\d+"
AMOUNT = re.compile(rf"({NUMBER})[ -]?({'|'.join(TIMES)})?(\D*)")
WHICH = "Which run's answer follows from what it has seen? A number, or none."

Given = str | Exception | None  # an answer, what was raised, or no answer
Meaning = tuple[Decimal | str, str]  # a number and its unit, or plain words and ""
Ends = Sequence[RunResult | Given]  # of `ask_k`, with their traces; or plain answers
Verify = Callable[[Ends], str | None]  # it returns one of the answers, or None


class Tally(NamedTuple):
    """The votes of several runs."""

    votes: tuple[tuple[str, int], ...]  # each answer as first given, most votes first
    abstained: int  # ended without an answer
    failed: int  # raised, or ended in ERROR
    tied: bool  # two or more answers have the most votes

    def __str__(self) -> str:
        shown = [f"{count} × {clip(answer, 40)}" for answer, count in self.votes]
        tie = " (a tie)" if self.tied else ""
        rest = f"; {self.abstained} abstained, {self.failed} failed"
        return (", ".join(shown) or "no votes") + tie + rest


class Agreed(NamedTuple):
    """What several runs say together, and how that was found."""

    answer: str | None
    how: str  # "unanimous", "verifier", "majority" or "none"
    why: str
    tally: Tally


def meaning(answer: str) -> Meaning | None:
    """Return the number or the words of an answer; None for "" and "…"."""
    text = unicodedata.normalize("NFKC", answer).replace("−", "-").casefold()
    text = " ".join(text.split()).strip("*_`\"'“”「」()[]= ").rstrip(".,;:!。 ")
    text = re.sub(r"^([+-]?)([$€]) ?(.*)$", r"\1\3 \2", text)  # $5 becomes 5 $
    text = re.sub(r"(?<=\d)[ ,](?=\d{3}(?!\d))", "", text)  # 1,692 becomes 1692
    if found := AMOUNT.fullmatch(text):
        number, times, unit = found.groups()
        unit = unit.strip(" .-")
        words = normalize_answer(unit.replace("/", " per "))  # m/s is not ms
        unit = UNITS.get(unit) or MONEY.get(unit) or words
        unit = unit.removesuffix("s") if len(unit) > 2 else unit
        return Decimal(number) * TIMES.get(times, 1), unit
    words = normalize_answer(text)
    numbers = [str(Decimal(each).normalize()) for each in re.findall(NUMBER, text)]
    return (" ".join([words, *numbers]), "") if words else None


def vote(answers: Sequence[Given]) -> Tally:
    """Return the votes of several answers, compared by what they mean."""
    given = [(a, read) for a in answers if isinstance(a, str) and (read := meaning(a))]
    failed = sum(isinstance(each, Exception) for each in answers)
    units = defaultdict[Decimal | str, set[str]](set)
    for _, (what, unit) in given:
        units[what] |= {unit} - {""}
    same = defaultdict[Meaning, list[str]](list)
    for answer, (what, unit) in given:
        joined = len(units[what]) == 1 and not unit
        same[what, min(units[what]) if joined else unit].append(answer)
    counts = [(each[0], len(each)) for each in same.values()]
    votes = tuple(sorted(counts, key=lambda vote: -vote[1]))
    tied = len(votes) > 1 and votes[0][1] == votes[1][1]
    return Tally(votes, len(answers) - len(given) - failed, failed, tied)


def consensus(
    exits: Ends, verify: Verify | None = None, within_s: float = 30.0
) -> Agreed:
    """Return what several runs say together, how that was found, and why."""
    tally = vote([answer_of(each) for each in exits])
    if not tally.votes:
        return Agreed(None, "none", f"no run has an answer: {tally}", tally)
    top, most = tally.votes[0]
    if most == len(exits):
        return Agreed(top, "unanimous", f"all runs say so: {tally}", tally)
    chosen, why = ask_verifier(verify, exits, tally, within_s)
    answer, how = (top, "majority") if 2 * most > len(exits) else (None, "none")
    if chosen is not None:
        answer, how = chosen, "verifier"
    return Agreed(answer, how, f"{why}; {tally}", tally)


def answer_of(end: RunResult | Given) -> Given:
    """Return what a run gives to a vote: its answer, None, or how it failed."""
    if not isinstance(end, RunResult):
        return end
    return RuntimeError(end.message) if end.state == State.ERROR else end.answer


def ask_verifier(
    verify: Verify | None, exits: Ends, tally: Tally, within_s: float
) -> tuple[str | None, str]:
    """Return the answer that a verifier chose, or None, and the reason."""
    if verify is None:
        return None, "no verifier"
    try:
        named = call_with_timeout(lambda: verify(exits), within_s)
    except (Exception, SystemExit) as error:  # TimedOut, too
        return None, clip(f"the verifier raised {type(error).__name__}: {error}", 99)
    if named is None:
        return None, "the verifier is inconclusive"
    answers = [answer for answer, _ in tally.votes]
    same = [each for each in answers if vote([each, named]).votes[0][1] == 2]
    same = [named] if named in answers else same
    if len(same) == 1:
        return same[0], "the verifier chose it"
    return None, f"the verifier returned {named!r:.60}, which no run answered"


def model_verifier(model: Model) -> Verify:
    """Return a verifier: a model reads answers and traces, and names one or none."""

    def verify(exits: Ends) -> str | None:
        asked, begin = "", {"model_turn": "", "observation": "Observation: "}
        for n, end in enumerate(exits, 1):
            asked += f"Run {n}\n"
            for event in end.trace if isinstance(end, RunResult) else ():
                if event["kind"] in begin:
                    asked += f"{begin[event['kind']]}{event['text']}\n"
            asked += f"Answer: {answer_of(end)}\n\n"
        reply = model.complete(f"{asked}{WHICH}\nRun:", stop=["\n"]).text
        named = re.findall(r"\d+", reply)
        runs = [answer_of(end) for n, end in enumerate(exits, 1) if [str(n)] == named]
        return runs[0] if runs and isinstance(runs[0], str) else None

    return verify


def ask_k(
    make: Callable[[int], Machine], question: str, k: int
) -> list[RunResult | Exception]:
    """Run a question with the seeds 1 to k; what a run raises stands in its place."""
    ends: list[RunResult | Exception] = []
    for seed in range(1, k + 1):
        try:
            machine = make(seed)
            machine.about["seed"] = seed
            ends.append(machine.run(question))
        except Exception as error:
            ends.append(error)
        if getattr(ends[-1], "state", "") == State.CANCELLED:  # by Ctrl-C
            raise KeyboardInterrupt
    return ends


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the chance that one of k is right; c of n are (arXiv:2107.03374)."""
    if not (0 <= c <= n and 1 <= k <= n):
        raise ValueError(f"c = {c} right and k = {k} drawn, of n = {n} runs")
    return 1 - comb(n - c, k) / comb(n, k)


def look_again(
    attempt: Callable[[list[str]], str | None],
    objection: Callable[[str | None], str | None],
    attempts: int = 2,
) -> str | None:
    """Return the first answer without an objection; an objection is the next note."""
    if attempts < 1:
        raise ValueError(f"attempts is {attempts}: one attempt is the least")
    notes: list[str] = []
    for _ in range(attempts):
        answer = attempt([*notes])
        note = objection(answer)
        if note is None:
            return answer
        notes.append(note)
    return None
