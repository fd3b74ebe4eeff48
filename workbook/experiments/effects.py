"""What a guard is worth, counted in the world: payments that were made, files written.

The experiments of lesson 07. Each plays a scripted scenario with chosen guards and
looks at the account or the folder, and never at what the answer says.
"""

from __future__ import annotations

import runpy
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from workbook.checks.display import show
from workbook.environments.payment import Payments
from workbook.environments.workspace import Workspace
from workbook.paths import DATA
from workbook.runtime import permission
from workbook.runtime.budget import Budget
from workbook.runtime.guards import all_guards
from workbook.runtime.ledger import Claim, Ledger, Make, Once
from workbook.runtime.machine import Machine
from workbook.runtime.script import Script
from workbook.runtime.trace import Trace
from workbook.stage.engines import play
from workbook.stage.machines import Given
from workbook.stage.scenarios import load
from workbook.stage.shown import Diff
from workbook.wait import waiting

if TYPE_CHECKING:
    import pandas as pd

PAYING = DATA / "lessons/07/paying.py"  # an agent that pays, as a program
EXAMPLE = DATA / "lessons/07/mend_example.txt"

MALLORY = "call_id_used_again"
CASES: dict[str, dict[str, Any]] = {
    "the call is made again": {"slug": "payment_twice"},
    "the bank answers too late": {"slug": "payment_twice", "slow": True},
    "three spellings": {"slug": "payment_other_call_id"},
    "the whole run again the next day": {"slug": "payment_twice", "days": 2},
    "then 2500 to Mallory": {"slug": MALLORY},
    "the same, under one call_id": {"slug": MALLORY, "chat": True},
}
"""Six ways in which more than one payment is made, where one is right."""


def careful() -> permission.Person:
    """Return a person who knows the question, and what they have allowed today."""
    allowed: list[str] = []

    def look(request: permission.Request) -> permission.Answer:
        payee = request.call.arguments["payee"].strip()
        if payee != "bookshop" or payee in allowed:
            return permission.Reject("nobody asked for that")
        allowed.append(payee)
        return permission.yes(request)

    return look


ANYTHING = {"rules": [permission.PolicyRule(permission.Verdict.ALLOW)]}
GUARDS: dict[str, dict[str, Any]] = {
    "nothing": ANYTHING,
    "a policy": {"rules": [permission.PolicyRule(permission.Verdict.DENY, tool="pay")]},
    "who says yes to all": {},
    "who looks": {"person": careful},
    "a key": {"key": True, **ANYTHING},
    "who looks, and a key": {"person": careful, "key": True},
}


def six_cases() -> pd.DataFrame:
    """Return how many payments are made: a row for each case, a column for a guard."""
    import pandas as pd

    counts = {
        guard: [_paid(**case, **options) for case in CASES.values()]
        for guard, options in GUARDS.items()
    }
    return pd.DataFrame(counts, index=[*CASES])


def _paid(
    slug: str,
    slow: bool = False,
    days: int = 1,
    chat: bool = False,
    person: Callable[[], permission.Person] = lambda: permission.yes,
    key: bool = False,
    rules: Sequence[permission.PolicyRule] = permission.POLICY,
) -> int:
    account, scenario = Payments(), load(slug)
    tool = replace(account.slow_tool(), name="Pay") if slow else account.tool()
    make = Once(new_ledger()) if key else Make()
    for _ in range(days):  # each day is a run, with a person who remembers that day
        guards = all_guards(person=person(), rules=rules)
        machine = Machine(scenario.script(), [tool], guards, chat=chat, make=make)
        machine.run(scenario.question)
    return len(account.made)


def afternoon(morning: permission.Approve, parts: Given) -> str:
    """Return what is paid to Mallory if a yes of the morning is the answer."""
    turns = [load(MALLORY).turns[1], "Final Answer: done"]
    return _pays(turns, lambda _: morning, parts)


def spellings(parts: Given) -> str:
    """Return what is paid for one payment in three spellings, with a yes to each."""
    return _pays(load("payment_other_call_id").turns, permission.yes, parts)


def _pays(turns: Sequence[Any], person: permission.Person, parts: Given) -> str:
    account, guards = Payments(), all_guards(person=person)
    make = Once(new_ledger())
    machine = Machine(Script(turns), [account.tool()], guards, parts=parts, make=make)
    machine.run("Pay 25 euros to the bookshop.")
    made = [f"{each.cents / 100:g} to {each.payee}" for each in account.made]
    return ", ".join(made) or "nothing"


def new_folder() -> Path:
    """Return a new folder, for a trace and what stands beside it."""
    return Path(mkdtemp())


def new_ledger() -> Ledger:
    """Return a new ledger, in a folder of its own."""
    return Ledger(new_folder() / "ledger.db")


def two_at_once(claim: Callable[..., Claim]) -> dict[str, Any]:
    """Let a second process claim between two statements of the first; return payments.

    Both pay if they get "run". Which of them is first does not matter.
    """
    account, ledger, verdicts = Payments(), new_ledger(), list[str]()
    with ledger.connection() as one, ledger.connection() as two:
        two.execute("PRAGMA busy_timeout = 0")
        statements = list[str]()

        def ask(db: sqlite3.Connection) -> None:
            verdicts.append(claim(db, "pay 25", "digest").verdict)
            if verdicts[-1] == "run":
                account.pay("bookshop", 25)

        def between(sql: str) -> None:
            statements.append(sql)
            if len(statements) == 2:
                with suppress(sqlite3.OperationalError):  # it is locked: later
                    ask(two)

        one.set_trace_callback(between)
        ask(one)
        one.set_trace_callback(None)
        if len(verdicts) == 1:
            ask(two)
    return {"verdicts": " and ".join(verdicts), "payments": len(account.made)}


def agent(path: Path, answers: str = "", dies_at: object = "") -> str:
    """Run the paying agent on a trace, in a process of its own; return what it prints.

    It begins the run, or goes on with it. `answers` are a person's, such as "yes,no";
    without one the run waits. `dies_at` is the place where it is killed.
    """
    command = [sys.executable, str(PAYING), str(path), answers, str(dies_at)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode in (-9, 9):  # killed, on POSIX and on Windows
        return f"killed at {dies_at}"
    return done.stdout.strip() or done.stderr.strip().rpartition("\n")[2]


def in_a_process(path: Path, answers: str = "") -> dict[str, Any]:
    """Run the paying agent as `agent` does; return how it ends, and what is paid."""
    agent(path, answers)
    trace = Trace.read(path)
    turns = len(trace.of("model_turn"))
    return {"ends": trace, "paid": paid(path), "model turns in the file": turns}


def paid(path: Path) -> int:
    """Return how many payments the agent of this trace has made."""
    return len(Payments(path.with_name("payments.jsonl")).made)


def decisions(path: Path) -> pd.DataFrame:
    """Return who decided what in a run."""
    import pandas as pd

    columns = ["who", "what", "call_id", "why"]
    return pd.DataFrame(Trace.read(path).of("decision"), columns=columns).fillna("")


def killed_everywhere(only: Sequence[object] = ()) -> pd.DataFrame:
    """Kill your agent at each event of a payment, and inside the bank; then go on.

    Each run is a process of its own that is killed (`kill -9`). This process then goes
    on with the run from its trace.

    Args:
        only: these places, numbers of events or "claimed" or "paid"; without any, all.

    Returns:
        a row for each place: payments when it died and in the end, and the answer.
    """
    import pandas as pd

    folder = new_folder()
    goes_on = runpy.run_path(str(PAYING))["work"]
    whole = folder / "whole" / "run.jsonl"
    print(agent(whole, "yes,yes").partition("\n")[2])  # whose parts run
    places: dict[object, str] = {
        e["seq"]: " ".join(e[key] for key in ("kind", "event", "what") if e.get(key))
        for e in list(Trace.read(whole))[:-1]
    }
    places |= {"claimed": "the key is claimed", "paid": "the bank has paid"}

    def kill(place: object) -> dict[str, Any]:
        path = folder / f"at {place}" / "run.jsonl"
        killed = agent(path, "yes,yes", place) == f"killed at {place}"
        before = paid(path)
        try:
            answer = goes_on(path, "yes,yes").answer
        except Exception as error:  # of a part of the reader's
            answer = f"{type(error).__name__}: {error}"
        found = {"at": place, "killed after": places[place], "killed": killed}
        found |= {"paid when it died": before, "paid in the end": paid(path)}
        return found | {"answer": answer}

    rows, total = [], len(only or places)
    with ThreadPoolExecutor(2) as pool, waiting("killing the agent", total) as tick:
        for row in pool.map(kill, only or places):
            rows.append(row)
            tick()
    return pd.DataFrame(rows).set_index("at")


def story(slug: str, engine: str) -> Trace:
    """Return the trace of a scenario on an engine, without a part of the reader's."""
    return play(slug, engine)


def in_the_folder(
    slug: str,
    model: Any = None,
    *,
    protected: bool = True,
    mode: str = permission.Mode.BUILD,
    person: permission.Person | None = None,
    parts: Given | None = None,
) -> dict[str, Any]:
    """Play a scenario in a workspace; return how it ends, and what the folder is then.

    Args:
        model: a real one, with at most six steps and an example; None is the script.
        protected: whether the machine has guards.
    """
    place, scenario = Workspace.sample(), load(slug)
    before = place.read_file("price.py")
    limits, example = Budget(), None
    if model is not None:
        limits, example = Budget(steps=6), EXAMPLE.read_text("utf-8")
    guards = all_guards(limits, person, mode) if protected else []
    asked, make = model or scenario.script(), Once() if protected else Make()
    options: Any = {"parts": parts, "preamble": example, "make": make}
    machine = Machine(asked, place.tools(), guards, **options)
    trace = machine.run(scenario.question).trace
    is_same = place.read_file("price.py") == before
    now = {"file as it was": is_same, "tests pass": place.run_tests()["passed"]}
    return {"ends": trace, **now}


def show_change(request: permission.Request) -> None:
    """Show what a call would change, in colours."""
    show(Diff(request.preview))
