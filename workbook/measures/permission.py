"""Lesson 07: what a guard is worth, counted in the world: payments made, files written.

Each measure plays a scripted scenario and looks at the account or the folder, never at
what the answer says.
"""

import runpy
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor as Threads
from itertools import repeat
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from workbook.paths import DATA
from workbook.runtime.guard import Guard
from workbook.runtime.guards import all_guards
from workbook.runtime.ledger import Ledger, Make, Once
from workbook.runtime.machine import Machine
from workbook.runtime.permission import POLICY, Person, PolicyRule, Reject, Verdict, yes
from workbook.runtime.script import Script
from workbook.runtime.trace import Trace
from workbook.stage.machines import ALLOW_ALL, Given
from workbook.stage.scenarios import load
from workbook.wait import waiting
from workbook.worlds.payment import Payments
from workbook.worlds.workspace import Workspace

Row = dict[str, Any]
PAYING = DATA / "lessons/07/paying.py"  # an agent that pays, as a program
EXAMPLE = (DATA / "lessons/07/fix_example.txt").read_text("utf-8")
CASES = {  # scenarios with more than one payment where one is right, and the days
    "the call is made again": ("payment_twice", 1),
    "three spellings": ("payment_other_call_id", 1),
    "the whole run again the next day": ("payment_twice", 2),
    "then 2500 to Mallory": ("call_id_used_again", 1),
}


def _careful() -> Person:  # who knows the question, and what they have allowed today
    left = ["bookshop"]

    def look(request: Any) -> Any:
        payee = request.call.arguments["payee"].strip()
        if payee not in left:
            return Reject("nobody asked for that")
        left.remove(payee)
        return yes(request)

    return look


GUARDS: dict[str, tuple[Any, Any, str]] = {  # a person, rules, where the keys are
    "nothing": (None, ALLOW_ALL, ""),
    "a policy": (None, [PolicyRule(Verdict.DENY, tool="pay")], ""),
    "a person who looks": (_careful, POLICY, ""),
    "a key in memory": (None, ALLOW_ALL, "memory"),
    "a key in a file": (None, ALLOW_ALL, "file"),
    "a person, and a key in a file": (_careful, POLICY, "file"),
}


def paid_with_guards() -> Iterator[Row]:
    """Yield how many payments are made: a row a case, a column a guard."""
    for name, (slug, days) in CASES.items():
        row, scenario = Row(case=name), load(slug)
        for guard, (person, rules, key) in GUARDS.items():
            account, ledger = Payments(), new_ledger()
            for _ in range(days):  # a process each, and a person who remembers that day
                make = {"": Make(), "memory": Once(), "file": Once(ledger)}[key]
                guards = all_guards(person=person and person(), rules=rules)
                options: Any = {"guards": guards, "make": make}
                machine = Machine(scenario.script(), [account.tool()], **options)
                machine.run(scenario.question)
            row[guard] = len(account.made)
        yield row


def pays(turns: Sequence[Any], parts: Given, person: Person = yes) -> str:
    """Return what an agent with these parts and a ledger pays for a model's turns."""
    account, guards = Payments(), all_guards(person=person)
    options: Any = {"parts": parts, "make": Once(new_ledger())}
    Machine(Script(turns), [account.tool()], guards, **options).run("Pay the bookshop.")
    made = [f"{each.cents / 100:g} to {each.payee}" for each in account.made]
    return ", ".join(made) or "nothing"


def in_the_folder(
    slug: str, guards: Sequence[Guard] = (), model: Any = None, **options: Any
) -> Row:
    """Play a scenario in a workspace; return its end, and what the folder is then."""
    place, scenario = Workspace(), load(slug)
    before = place.read_file("price.py")
    options["make"] = Once() if guards else Make()
    machine = Machine(model or scenario.script(), place.tools(), guards, **options)
    trace = machine.run(scenario.question).trace
    same, tests = place.read_file("price.py") == before, place.run_tests()
    return {"ends": trace, "file as it was": same, "tests pass": tests["passed"]}


def new_ledger() -> Ledger:
    """Return a new ledger, in a folder of its own."""
    return Ledger(Path(mkdtemp()) / "ledger.db")


def agent(path: Path, answers: str = "", dies_at: object = "") -> str:
    """Run the program PAYING, which prints what it gets; return what it prints."""
    command = [sys.executable, str(PAYING), str(path), answers, str(dies_at)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr.strip().rpartition("\n")[2]


def in_the_world(path: Path) -> Row:
    """Return what the agent of this trace has paid, and its ledger's row for that."""
    made = Payments(path.with_name("payments.db")).made
    with Ledger(path.with_name("ledger.db")).connection() as db:
        found = db.execute("SELECT result FROM claims WHERE key LIKE '[\"Pay%'")
        row = found.fetchone() or ("no row",)
    return {"paid": len(made), "result in the ledger": row[0] or "NULL"}


def killed_everywhere(only: Sequence[object] = ()) -> Iterator[Row]:
    """Kill your agent's process at each event or `only` some, and go on in this one."""
    goes_on, whole = runpy.run_path(str(PAYING))["work"], Path(mkdtemp()) / "run.jsonl"
    print(agent(whole, "yes,yes").partition("\n")[2])  # whose parts run
    places = only or [*range(len(Trace.read(whole)) - 1), "claimed", "paid"]
    paths = [Path(mkdtemp()) / "run.jsonl" for _ in places]
    with waiting("killing the agent", len(places)) as tick, Threads(2) as threads:
        jobs = paths, repeat("yes,yes"), places
        # The map has no name: where the loop ends, what is left of it is cancelled.
        for place, path, _ in zip(
            places, paths, threads.map(agent, *jobs), strict=True
        ):
            row = {"killed at": place, **in_the_world(path)}
            row["answer"] = goes_on(path, "yes,yes").answer
            tick()
            yield row | {"paid in the end": in_the_world(path)["paid"]}
