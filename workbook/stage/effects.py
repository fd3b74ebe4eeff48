"""What a guard is worth, counted in the world: payments that were made, files written.

The experiments of lesson 07. Each plays a scripted scenario on a machine with chosen
guards and looks at the account or the folder, and never at what the answer says.
"""

from __future__ import annotations

import runpy
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from workbook.environments.payment import Payments
from workbook.environments.workspace import Workspace
from workbook.fsm.adapters import FunctionCalls
from workbook.fsm.machine import Machine
from workbook.guardrails.budget import Budget
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
from workbook.models.prompts import clip
from workbook.models.script import Script
from workbook.paths import DATA
from workbook.stage.engines import play
from workbook.stage.scenarios import load
from workbook.tools import ToolRegistry
from workbook.traces import Trace, TraceWriter
from workbook.wait import waiting

if TYPE_CHECKING:
    import pandas as pd

Ask = Callable[[Request], Answer]
Parts = Mapping[str, Callable[..., Any]]
Claiming = Callable[[sqlite3.Connection, str, str], Claim]

LESSON = DATA / "lessons/07"
PAYING = LESSON / "paying.py"
"""An agent that pays, as a program of its own."""

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
        more["ledger"] = _ledger()
    for _ in range(days):  # each day is a run, with a person who remembers that day
        guarded(scenario.script(), [tool], ask=person(), **more).run(scenario.question)
    return len(account.made)


def story(slug: str, engine: str) -> None:
    """Print what model and tools said in a scenario, and how it ended."""
    trace = play(slug, engine)
    assert trace.end is not None
    for event in trace.of("model_turn", "observation"):
        print(_line(event["text"]))
    print(f"{trace.end['state']}: {trace.end['answer']}")


def in_the_folder(slug: str, *, unprotected: bool = False, **options: Any) -> None:
    """Play a scenario in a workspace; print what was refused, and if a file changed."""
    place, scenario, emit = Workspace.sample(), load(slug), TraceWriter()
    before, model = place.read_file("price.py"), scenario.script()
    machine: Machine
    if unprotected:
        machine = Machine(model, ToolRegistry(place.tools()), hook=emit)
    else:
        machine = guarded(model, place.tools(), hook=emit, **options)
    answer = machine.run(scenario.question).answer
    print(f"\n{slug}: {answer}")
    for event in emit.trace().of("observation"):
        print(f"    {event['tool']:10} {_line(event['text'], 75)}")
    print("the file is as it was:", place.read_file("price.py") == before)


def as_table(rules: Sequence[PolicyRule]) -> pd.DataFrame:
    """Return a policy, a rule a row."""
    import pandas as pd

    return pd.DataFrame(rules)


def afternoon(morning: Approve, parts: Parts) -> None:
    """Let Mallory's payment be asked for, and answer with a yes of the morning."""
    account, mallory = Payments(), load("call_id_used_again").turns[1]
    model = Script([mallory, "Final Answer: done"])
    tools, question = [account.tool()], "Pay 25 euros to the bookshop."
    guarded(model, tools, ask=lambda _: morning, parts=parts).run(question)
    print("paid:", _list(account))


def spellings(parts: Parts) -> None:
    """Print what is paid if a payment is asked for in three spellings."""
    account, scenario = Payments(), load("payment_other_call_id")
    more: Any = {"ask": yes, "ledger": _ledger(), "parts": parts}
    guarded(scenario.script(), [account.tool()], **more).run(scenario.question)
    print(f"of three spellings, {len(account.made)} paid")


def _line(text: str, most: int = 88) -> str:
    """Return a text as one line that a narrow window shows."""
    return clip(" ".join(text.split()), most)


def _list(account: Payments) -> str:
    made = [f"{each.cents / 100:g} to {each.payee}" for each in account.made]
    return ", ".join(made) or "nothing"


def _ledger() -> Ledger:
    return Ledger(Path(mkdtemp()) / "ledger.db")


@contextmanager
def new_ledger() -> Iterator[sqlite3.Connection]:
    """Yield a connection to a new ledger."""
    with _ledger().connection() as db:
        yield db


def two_at_once(claim: Claiming) -> None:
    """Let a second process claim between two statements of the first; print payments.

    Both pay if they are told "run". Which of them is first does not matter.
    """
    account, ledger, told = Payments(), _ledger(), []
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


def agent(path: Path, answers: str = "", dies_at: object = "") -> str:
    """Run the paying agent on a trace, in a process of its own; return what it prints.

    It begins the run, or goes on with it. `answers` are a person's, such as "yes,no";
    without one the run waits. `dies_at` is the place where it is killed.
    """
    command = [sys.executable, str(PAYING), str(path), answers, str(dies_at)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or f"killed at {dies_at}"


def new_folder() -> Path:
    """Return a new folder, for a trace and what stands beside it."""
    return Path(mkdtemp())


def turns(path: Path) -> int:
    """Return how many turns of the model this trace has."""
    return len(Trace.read(path).of("model_turn"))


def paid(path: Path) -> int:
    """Return how many payments the agent of this trace has made."""
    return len(Payments(path.with_name("payments.jsonl")).made)


def decisions(path: Path) -> pd.DataFrame:
    """Return who decided what in a run, with the second of the run."""
    import pandas as pd

    found = pd.DataFrame(Trace.read(path).of("decision"))
    return found[["at_s", "who", "what", "call_id", "why"]].round(3)


def two_processes(times: int = 3) -> None:
    """Let two processes at once make the same payment with one ledger; print both."""
    folder = Path(mkdtemp())

    def one(path: Path) -> str:
        return agent(path, "yes,yes").splitlines()[0].partition("), ")[2]

    with ThreadPoolExecutor(2) as pool, waiting("two processes", times) as tick:
        for n in range(times):
            both = [folder / f"{n}" / f"run{name}.jsonl" for name in "12"]
            answers = list(pool.map(one, both))
            print(f"{paid(both[0])} paid; they say:", *answers)
            tick()


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

    folder = Path(mkdtemp())
    goes_on = runpy.run_path(str(PAYING))["work"]
    print(agent(whole := folder / "whole" / "run.jsonl", "yes,yes").splitlines()[-1])
    events = list(Trace.read(whole))[:-1]
    places: dict[object, str] = {e["seq"]: _about(e) for e in events}
    places |= {"claimed": "the key is claimed", "paid": "the bank has paid"}
    places = {place: places[place] for place in only or places}

    def kill(place: object) -> dict[str, Any]:
        path = folder / f"at {place}" / "run.jsonl"
        killed = agent(path, "yes,yes", place) == f"killed at {place}"
        before = paid(path)
        answer = goes_on(path, "yes,yes").answer
        found = {"killed": killed, "paid when it died": before}
        return found | {"paid in the end": paid(path), "answer": answer}

    rows = {}
    with (
        ThreadPoolExecutor(2) as pool,
        waiting("killing the agent", len(places)) as tick,
    ):
        for place, row in zip(places, pool.map(kill, places), strict=True):
            rows[place] = {"killed after": places[place], **row}
            tick()
    return pd.DataFrame(rows).T.rename_axis("at")


def _about(event: Mapping[str, Any]) -> str:
    words = [event["kind"]]
    words += [event[k] for k in ("event", "what") if event.get(k)]
    return " ".join(words)


def stopped(parts: Parts) -> None:
    """Stop a run while the bank works on the second of three payments; run it again."""
    account, ledger = Payments(), _ledger()
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


def mends(model: Any, mode: str, ask: Ask, parts: Parts, **more: Any) -> str:
    """Let an agent mend the failing test of a workspace, and print what it does.

    The tests then run on the files of its folder. Without a model the script plays, and
    in plan mode it stops before the write.
    """
    task, place, emit = load("mend_the_test"), Workspace.sample(), TraceWriter()
    question = task.question
    if model is None and mode == "plan":
        plan = "Final Answer: Take the second percentage of the lower price."
        model, question = Script([*task.turns[:3], plan]), f"{question} Only plan."
    options: Any = {"mode": mode, "ask": ask, "ledger": _ledger(), "parts": parts}
    machine = guarded(
        model or task.script(), place.tools(), hook=emit, **options, **more
    )
    ended = machine.run(question)
    for event in emit.trace().of("decision", "observation"):
        if event["kind"] == "observation":
            print(f"    {event['tool']:10} {_line(event['text'], 75)}")
        else:
            print(f"  {event['who']}: {event['what']} {event['why']}")
    said = ended.answer or ended.message
    passed = place.run_tests()["passed"]
    return f"{mode}: {ended.state}, {said}\nthe tests pass: {passed}"


def mends_on(model: Any, ask: Ask, parts: Parts) -> str:
    """Let a real model try, in build mode, with at most six steps and an example."""
    example = (LESSON / "mend_example.txt").read_text("utf-8")
    return mends(model, "build", ask, parts, budget=Budget(steps=6), preamble=example)
