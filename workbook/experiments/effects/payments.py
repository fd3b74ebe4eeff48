"""Payments that are made twice, and what each guard makes of it, in one process."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from workbook.environments.payment import Payments
from workbook.fsm.adapters import FunctionCalls
from workbook.guardrails.handlers import Ask
from workbook.guardrails.ledger import Claim, Ledger
from workbook.guardrails.machine import guarded
from workbook.guardrails.permission import (
    Answer,
    Approve,
    PolicyRule,
    Reject,
    Request,
    Verdict,
    yes,
)
from workbook.models.base import ToolRequest
from workbook.models.script import Script
from workbook.playground.machines import Given
from workbook.playground.scenarios import load
from workbook.traces import TraceWriter

if TYPE_CHECKING:
    import pandas as pd

Claiming = Callable[[sqlite3.Connection, str, str], Claim]

CASES: dict[str, dict[str, Any]] = {
    "the call is made again": {"slug": "payment_twice"},
    "the bank answers too late": {"slug": "payment_twice", "slow": True},
    "three spellings": {"slug": "payment_other_call_id"},
    "the whole run again the next day": {"slug": "payment_twice", "days": 2},
    "then 2500 to Mallory": {"slug": "call_id_used_again"},
    "the same, under one call_id": {
        "slug": "call_id_used_again",
        "adapter": FunctionCalls,
    },
}
"""Six ways in which more than one payment is made, where one is right."""

ANYTHING = {"rules": [PolicyRule(Verdict.ALLOW)]}
NO_PAYING = {"rules": [PolicyRule(Verdict.DENY, tool="pay")]}


def careful() -> Ask:
    """Return a person who knows the question, and what they have allowed today."""
    allowed: list[str] = []

    def look(request: Request) -> Answer:
        payee = request.call.arguments["payee"].strip()
        if payee != "bookshop" or payee in allowed:
            return Reject("nobody asked for that")
        allowed.append(payee)
        return yes(request)

    return look


GUARDS: dict[str, dict[str, Any]] = {
    "nothing": ANYTHING,
    "a policy": NO_PAYING,
    "who says yes to all": {},
    "who looks": {"person": careful},
    "a key": {"key": True, **ANYTHING},
    "who looks, and a key": {"person": careful, "key": True},
}


def six_cases() -> pd.DataFrame:
    """Return how many payments are made: a row for each case, a column for a guard."""
    import pandas as pd

    return pd.DataFrame(
        {
            guard: {case: _paid(**CASES[case], **GUARDS[guard]) for case in CASES}
            for guard in GUARDS
        }
    )


def _paid(
    slug: str,
    slow: bool = False,
    days: int = 1,
    person: Callable[[], Ask] = lambda: yes,
    key: bool = False,
    **more: Any,
) -> int:
    account, scenario = Payments(), load(slug)
    tool = replace(account.slow_tool(), name="Pay") if slow else account.tool()
    if key:
        more["ledger"] = a_ledger()
    for _ in range(days):  # each day is a run, with a person who remembers that day
        guarded(scenario.script(), [tool], ask=person(), **more).run(scenario.question)
    return len(account.made)


def afternoon(morning: Approve, parts: Given) -> None:
    """Let Mallory's payment be asked for, and answer with a yes of the morning."""
    account, mallory = Payments(), load("call_id_used_again").turns[1]
    model = Script([mallory, "Final Answer: done"])
    tools, question = [account.tool()], "Pay 25 euros to the bookshop."
    guarded(model, tools, ask=lambda _: morning, parts=parts).run(question)
    print("paid:", _list(account))


def spellings(parts: Given) -> None:
    """Print what is paid if a payment is asked for in three spellings."""
    account, scenario = Payments(), load("payment_other_call_id")
    more: Any = {"ask": yes, "ledger": a_ledger(), "parts": parts}
    guarded(scenario.script(), [account.tool()], **more).run(scenario.question)
    print(f"of three spellings, {len(account.made)} paid")


def _list(account: Payments) -> str:
    made = [f"{each.cents / 100:g} to {each.payee}" for each in account.made]
    return ", ".join(made) or "nothing"


def a_ledger() -> Ledger:
    """Return a new ledger, in a folder of its own."""
    return Ledger(Path(mkdtemp()) / "ledger.db")


@contextmanager
def new_ledger() -> Iterator[sqlite3.Connection]:
    """Yield a connection to a new ledger."""
    with a_ledger().connection() as db:
        yield db


def two_at_once(claim: Claiming) -> None:
    """Let a second process claim between two statements of the first; print payments.

    Both pay if they are told "run". Which of them is first does not matter.
    """
    account, ledger, told = Payments(), a_ledger(), []
    with ledger.connection() as one, ledger.connection() as two:
        two.execute("PRAGMA busy_timeout = 0")
        statements = iter(["first"])

        def ask(db: sqlite3.Connection) -> None:
            verdict = claim(db, "pay 25", "digest").verdict
            told.append(verdict)
            if verdict == "run":
                account.pay("bookshop", 25)

        def between(sql: str) -> None:
            if next(statements, None) is None and len(told) == 0:
                with suppress(sqlite3.OperationalError):  # it is locked: later
                    ask(two)

        one.set_trace_callback(between)
        ask(one)
        one.set_trace_callback(None)
        if len(told) == 1:
            ask(two)
    print(f"they were told {' and '.join(told)}: {len(account.made)} paid")


def stopped(parts: Given) -> None:
    """Stop a run while the bank works on the second of three payments; run it again."""
    account, ledger = Payments(), a_ledger()
    three = [
        ToolRequest("Pay", {"payee": payee, "amount": 5}, f"call_{payee}")
        for payee in ("Ada", "Bob", "Eve")
    ]

    def bank(**arguments: Any) -> dict[str, Any]:
        receipt = account.pay(**arguments)
        if arguments["payee"] == "Bob":
            raise KeyboardInterrupt  # the money is gone, and no answer came
        return receipt

    banks: dict[str, Callable[..., dict[str, Any]]]
    banks = {"stopped": bank, "a new run": account.pay}
    for what, pay in banks.items():
        tool, emit = replace(account.tool(), run=pay), TraceWriter()
        options: Any = {"ask": yes, "ledger": ledger, "hook": emit, "parts": parts}
        machine = guarded(
            Script([three, "done"]), [tool], adapter=FunctionCalls, **options
        )
        ended = machine.run("Pay all three.")
        print(f"\n{what}: {ended.state}; paid so far: {_list(account)}")
        for event in emit.trace().of("observation"):
            print(f"    {event['call_id']}: {' '.join(event['text'].split())}")
