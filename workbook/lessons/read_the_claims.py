"""Lesson 13: claims of others in figures and code, and how each can be checked.

`data/lessons/13/claims.toml` has the sources, their figures as printed, and the claims
in our words, without verdicts. The two listings are rebuilt in our words with the same
branches: what their authors do not catch, they do not catch either.
"""

import json
import time
import tomllib
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation
from enum import StrEnum
from typing import Any, NamedTuple

from workbook.paths import DATA

Figures = Mapping[str, Mapping[str, str]]
"""A table as it is printed: by row, then by column. "–" is no figure."""
Tools = Mapping[str, Callable[..., Any]]


class ClaimVerdict(StrEnum):
    """What can come of comparing a claim with its source."""

    RIGHT = "right"
    WRONG = "wrong"
    ELSEWHERE = "elsewhere"  # the figure is there, in another row or column
    NOT_REPORTED = "not reported"  # it may be so; this source does not say it
    NOT_COMPARABLE = "not comparable"  # the two were not measured on the same things


class Compared(NamedTuple):
    """A claimed figure beside a table's."""

    verdict: ClaimVerdict
    truth: str | None  # as printed where the claim points; None if nothing is there
    places: list[tuple[str, str]]  # row and column of all other equal figures


class Cited(NamedTuple):
    """A verdict, and the evidence by which somebody else can check it."""

    verdict: ClaimVerdict
    evidence: Any


def claims() -> dict[str, Any]:
    """Return the sources by key (`source`) and the claims (`claim`)."""
    return tomllib.loads((DATA / "lessons/13/claims.toml").read_text("utf-8"))


def right_if(holds: bool, alike: bool = True) -> ClaimVerdict:
    """Return the verdict on what holds or not, measured on the same things or not."""
    if not alike:
        return ClaimVerdict.NOT_COMPARABLE
    return ClaimVerdict.RIGHT if holds else ClaimVerdict.WRONG


def roundings(value: Decimal | str, decimals: int) -> set[Decimal]:
    """Return what a figure may be printed as: rounded half up, and half to even."""
    place, ways = Decimal(1).scaleb(-decimals), (ROUND_HALF_UP, ROUND_HALF_EVEN)
    try:
        return {Decimal(value).quantize(place, way) for way in ways}
    except InvalidOperation:  # a dash
        return set()


def decimals_of(figure: str) -> int:
    """Return how many decimals a figure is printed with: 2 of "96.15", 0 of "37"."""
    return len(figure.partition(".")[2])


def implied_denominator(
    percent: float, decimals: int = 2, most: int = 30
) -> list[tuple[int, int]]:
    """Return the fractions, successes and n, of which a rate can be the rounding."""
    printed = Decimal(str(percent))
    return [
        (successes, n)
        for n in range(1, most + 1)
        for successes in range(n + 1)
        if printed in roundings(Decimal(100 * successes) / n, decimals)
    ]


def compare_claim(claimed: str, row: str, column: str, table: Figures) -> Compared:
    """Return whether a figure is what a table has at that place, or at which others."""
    figure, decimals = Decimal(claimed), decimals_of(claimed)
    fits = {
        (method, benchmark)
        for method, figures in table.items()
        for benchmark, printed in figures.items()
        if figure in roundings(printed, decimals)
    }
    truth = table.get(row, {}).get(column, "–")
    places = sorted(fits - {(row, column)})
    if truth == "–":
        return Compared(ClaimVerdict.NOT_REPORTED, None, places)
    if (row, column) in fits:
        return Compared(ClaimVerdict.RIGHT, truth, places)
    verdict = ClaimVerdict.ELSEWHERE if places else ClaimVerdict.WRONG
    return Compared(verdict, truth, places)


def my_verdicts() -> dict[str, Cited]:
    """Return our verdicts on the open claims of the lesson, with their evidence."""
    places = [("ReAct", "ALFWorld"), ("imitation", "ALFWorld")]
    off = ("planner", "web search", "calculator")
    rows = [f"Qwen-Turbo, K = 3, no {tool}" for tool in off]
    return {
        "own_gain": Cited(ClaimVerdict.WRONG, places),
        "ablation": Cited(ClaimVerdict.NOT_REPORTED, rows),
        "tool_errors": Cited(ClaimVerdict.WRONG, [lambda: 1 / 0, lambda: {4}]),
    }


# The controlled machine: rebuilt from xushun, "Effective AI Agent", item 6 (2026-01-05)


class Reply(NamedTuple):
    """One turn of the model: a final text, a call of a tool, or neither."""

    final_text: str | None = None
    call: tuple[str, dict[str, Any]] | None = None


def controlled_machine(
    model: Callable[[list[str]], Reply],
    tools: Tools,
    hook: Callable[[str], None],
    steps: int = 20,
    calls: int = 10,
    seconds: float = 60,
    clock: Callable[[], float] = time.monotonic,
) -> str:
    """Run a ReAct loop of five states; `hook` receives each state that is entered."""
    state, step, called, began = "THINK", 0, 0, clock()
    observed: list[str] = []
    while True:
        if clock() - began > seconds:
            return "[stopped] out of time"
        if step >= steps:
            return "[stopped] out of steps"
        if state == "THINK":
            reply = model(observed)
            if reply.final_text is not None:
                hook("DONE")
                return reply.final_text
            if reply.call is None:
                hook("ERROR")
                return "[error] neither text nor call"
            if called >= calls:
                return "[stopped] out of tool calls"
            state = "EXECUTE_TOOL"
        elif state == "EXECUTE_TOOL" and reply.call:
            called += 1
            name, arguments = reply.call
            try:
                result = {"ok": True, "result": tools[name](**arguments)}
            except Exception as error:
                result = {"ok": False, "error": f"{type(error).__name__}: {error}"}
            state = "OBSERVE"
        else:
            observed.append(json.dumps(result))
            state = "THINK"
            step += 1
        hook(state)


def ending(
    model: Callable[[list[str]], Reply], tools: Tools, **limits: Any
) -> tuple[str, str]:
    """Return the last state that the hook received, and what the machine returned."""
    entered = ["THINK"]
    text = controlled_machine(model, tools, entered.append, **limits)
    return entered[-1], text


# The executor: rebuilt from "LangChain tool recognition: technical details and
# measures" (Japanese, no author given)
RULES = {"prime_factorization": ("number", 2, 1_000_000), "factorial": ("n", 0, 20)}
FORBIDDEN = {"prime_factorization": ("numbers", "list", "array"), "factorial": ()}
ALIASES = {
    "prime_factorization": ("n", "num", "value"),
    "factorial": ("number", "num", "value"),
}


class Executor:
    """Calls tools: it validates, repairs, tries again, and hands over to a person."""

    def __init__(self, tools: Tools, attempts: int = 3) -> None:
        self.tools, self.attempts = tools, attempts

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """Return the result, or a hand-over."""
        for attempt in range(1, self.attempts + 1):
            try:
                if problem := self.problem(tool, arguments):
                    better = self.repaired(tool, arguments)
                    if better == arguments:
                        raise ValueError(problem)
                    arguments = better
                    continue
                return self.tools[tool](**arguments)
            except Exception as error:
                if attempt == self.attempts:
                    return {"hand_over": tool, "tried": arguments, "why": str(error)}
                adjust = self.adjust_arguments_for_retry  # type: ignore[attr-defined]
                arguments = adjust(tool, arguments, error)
        return None

    def problem(self, tool: str, arguments: dict[str, Any]) -> str:
        """Return the first rule that arguments break; "" if they break none."""
        if tool not in RULES:
            return ""
        name, low, high = RULES[tool]
        if name not in arguments:
            return f"missing: {name}"
        if found := [other for other in FORBIDDEN[tool] if other in arguments]:
            return f"forbidden: {found[0]}"
        if not isinstance(arguments[name], int):
            return f"{name} is no integer"
        return "" if low <= arguments[name] <= high else f"{name} is out of range"

    def repaired(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return arguments with a list of one unpacked, and other names replaced."""
        name, better = RULES[tool][0], dict(arguments)
        match tool, better.get("numbers"):
            case "prime_factorization", [only]:
                better = {**better, name: only}
                del better["numbers"]
        for alias in ALIASES[tool]:
            if alias in better and name not in better:
                better[name] = better.pop(alias)
        return better
