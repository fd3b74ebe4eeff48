"""The ledger: whatever happens between claim and settle, one effect at most."""

import sqlite3
import subprocess
import sys
from dataclasses import replace

import pytest

from tests import exercise_rules
from workbook.environments.payment import Payments
from workbook.exercises.catalogue import exercises
from workbook.exercises.report import Outcome
from workbook.guardrails.ledger import (
    Claim,
    Ledger,
    LedgerError,
    claim,
    forget,
    once,
    settle,
)
from workbook.tools.calls import Effect, ToolCall, ToolFailure
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import Tool

PAY = {"payee": "bookshop", "amount": 25, "currency": "EUR"}


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.db")


def call(call_id="call_1", tool="Pay", **arguments):
    return ToolCall(tool, arguments or PAY, call_id)


def payer(ledger, tool, run_id="run_1"):
    """Return what makes calls of a tool once."""
    tools = ToolRegistry([tool])
    return once(ledger, tools, run_id, tools.run)


RING = call(tool="Ring", times=1)


class Bell:
    """A tool that rings, and may fail before or after it."""

    def __init__(self, *ends, **fields):
        self.rings, self.ends = 0, list(ends)
        about = {"timeout_s": None, "effect": Effect.WRITE, **fields}
        schema = {"properties": {"times": {"type": "integer", "default": 1}}}
        self.tool = Tool("Ring", "Rings the bell.", schema, self.ring, **about)

    def ring(self, times=1):
        end = self.ends.pop(0) if self.ends else {"rung": times}
        if isinstance(end, ToolFailure) and end.error.kind != "timeout":
            raise end
        self.rings += 1
        if isinstance(end, BaseException):
            raise end
        return end


# what is the same, and what is not


@pytest.mark.parametrize("run_id", ["run_1", "run_2"])
def test_another_call_id_is_no_other_payment(ledger, run_id):
    """with another call_id, in other clothes or in another run, it is paid once"""
    account = Payments()
    payer(ledger, account.tool())(call())
    clothes = {"amount": 25.0, "payee": " ｂｏｏｋｓｈｏｐ "}  # EUR is the default
    again = payer(ledger, account.tool(), run_id)(call("call_2", **clothes))
    assert len(account.made) == 1
    assert again.result["payment_id"] == "pay_1"
    assert "not done again" in again.text()
    other = payer(ledger, account.tool(), "run_3")(call(payee="Ada", amount=5))
    assert (other.ok, len(account.made)) == (True, 2)  # a call_id is of one run


def test_a_call_id_stands_for_one_call(ledger):
    """a call_id that comes again with other arguments is refused before the effect"""
    account = Payments()
    pay = payer(ledger, account.tool())
    pay(call())
    refused = pay(call(payee="Mallory", amount=25))
    assert (refused.ok, refused.error.kind) == (False, "denied")
    assert "call_1" in refused.error.message
    assert len(account.made) == 1
    assert pay(call("call_2", payee="Mallory", amount=25)).ok


def test_a_reference_names_the_payment(ledger):
    """two invoices of one amount are two payments; one invoice is never two"""
    account = Payments()
    pay = payer(ledger, account.tool())
    for number, reference in enumerate(["INV-7", "INV-8", "INV-7"]):
        assert pay(call(f"call_{number}", **PAY, reference=reference)).ok
    assert [paid.reference for paid in account.made] == ["INV-7", "INV-8"]
    other = pay(call("call_9", **{**PAY, "amount": 99}, reference="INV-8"))
    assert (other.ok, len(account.made)) == (False, 2)


@pytest.mark.parametrize(
    ("about", "rings"), [({"effect": Effect.READ}, 3), ({"repeatable": True}, 2)]
)
def test_what_may_be_done_again_is_done_again(ledger, about, rings):
    """a READ is made each time; a WRITE that does no harm again, once a call_id"""
    bell = Bell(**about)
    ring = payer(ledger, bell.tool)
    for call_id in ("call_1", "call_2", "call_2"):
        assert ring(call(call_id, "Ring", times=1)).ok
    assert bell.rings == rings


# what comes of a failure


def test_what_was_refused_may_be_tried_again(ledger):
    """a tool that says no before the effect gives its key back"""
    bell = Bell(ToolFailure("no_rope", "the rope is away", True))
    ring = payer(ledger, bell.tool)
    assert ring(RING).error.kind == "no_rope"
    assert ring(RING).ok
    assert bell.rings == 1


@pytest.mark.parametrize(
    ("end", "look_up"),
    [
        (ToolFailure("timeout", "late"), None),
        (OSError("the line is dead"), lambda times: None),
        ("not a dict", lambda times: 1 / 0),
    ],
    ids=range(3),
)
@pytest.mark.parametrize("call_id", ["call_1", "call_2"])
def test_what_is_unknown_is_never_done_again(ledger, end, look_up, call_id):
    """after a time-out, an exception or a bad answer, nobody rings again: a person

    A look-up that finds nothing, or raises, does not say that nothing was done.
    """
    bell = Bell(end, look_up=look_up)
    ring = payer(ledger, bell.tool)
    assert not ring(RING).ok
    again = ring(call(call_id, "Ring", times=1))
    assert again.error.kind == "needs_person"
    assert again.error.message.startswith("unknown: ")
    assert bell.rings == 1


def test_what_the_tool_finds_is_done(ledger):
    """a payment whose answer was late is looked up, and its receipt is the result"""
    account, asked = Payments(), []
    slow = account.slow_tool()

    def look_up(**arguments):
        asked.append(arguments)
        return slow.look_up(**arguments)

    pay = payer(ledger, replace(slow, look_up=look_up))
    late = pay(call(tool="PaySlowly"))
    found = [pay(call(each, "PaySlowly")) for each in ("call_1", "call_2", "call_3")]
    assert late.error.kind == "timeout"
    assert [seen.result["payment_id"] for seen in found] == ["pay_1"] * 3
    assert (len(account.made), len(asked)) == (1, 1)  # what was found is settled


def test_a_person_says_what_became_of_it(ledger):
    """a person who has found out forgets the claim, or settles it"""
    bell = Bell(OSError("dead"), OSError("dead"))
    ring = payer(ledger, bell.tool)
    ring(RING)
    with ledger.connection() as db:
        keys = [key for (key,) in db.execute("SELECT key FROM claims")]
        for key in keys:
            forget(db, key)
    ring(RING)
    assert bell.rings == 2
    with ledger.connection() as db:
        for key in keys:
            settle(db, key, {"rung": 1})
            forget(db, key)
    assert (ring(RING).result, bell.rings) == ({"rung": 1}, 2)


def test_the_keys_of_a_call_are_settled_together(ledger, monkeypatch):
    """a process that ends between the two keys of a call has settled neither"""

    def settle_and_end(db, key, result):
        settle(db, key, result)
        raise KeyboardInterrupt

    monkeypatch.setattr("workbook.guardrails.ledger.settle", settle_and_end)
    with pytest.raises(KeyboardInterrupt):
        payer(ledger, Bell().tool)(RING)
    with ledger.connection() as db:
        results = db.execute("SELECT result FROM claims").fetchall()
    assert results == [(None,), (None,)]


# another process

PAYER = """
import sys
from workbook.guardrails.ledger import Ledger, once
from workbook.environments.payment import Payments
from workbook.tools.calls import ToolCall
from workbook.tools.registry import ToolRegistry

folder, run_id = sys.argv[1:]
tools = ToolRegistry([Payments(folder + "/payments.jsonl").tool()])
pay = once(Ledger(folder + "/ledger.db"), tools, run_id, tools.run)
for payee in sys.stdin:
    arguments = {"payee": payee.strip(), "amount": 25, "currency": "EUR"}
    seen = pay(ToolCall("Pay", arguments, "call of " + payee.strip()))
    print(seen.error.kind if seen.error else "ok", flush=True)
"""


def test_of_two_processes_one_pays(tmp_path):
    """two processes that pay the same at once, 50 times, pay once each time"""
    payees = sorted(f"payee {number}" for number in range(50))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", PAYER, tmp_path]
    both = [subprocess.Popen([*command, run], **pipes) for run in ("run_1", "run_2")]
    for process in both:
        process.stdin.write("\n".join(payees) + "\n")
        process.stdin.flush()
    said = [word for process in both for word in process.communicate()[0].split()]
    paid = [payment.payee for payment in Payments(tmp_path / "payments.jsonl").made]
    assert sorted(paid) == payees
    assert (len(said), set(said) <= {"ok", "needs_person"}) == (100, True)


# what a claim may look like

INSERT = "(key, digest) VALUES (?, ?)', (key, digest))"
READS = """
    asked = 'SELECT digest, result FROM claims WHERE key = ?'
    row = db.execute(asked, (key,)).fetchone()
"""
SAYS = """
    if row[0] != digest:
        return Claim("other")
    return Claim("unknown") if row[1] is None else Claim("done", json.loads(row[1]))
"""
BY_AN_ERROR = f"""
    try:
        db.execute('INSERT INTO claims {INSERT}
        return Claim("run")
    except sqlite3.IntegrityError:
        pass
{READS}{SAYS}"""
UNDER_A_LOCK = f"""
    db.execute("BEGIN IMMEDIATE")
{READS}
    if row is None:
        db.execute('INSERT INTO claims {INSERT}
    db.execute("COMMIT")
    if row is None:
        return Claim("run")
{SAYS}"""


@pytest.mark.parametrize("body", [BY_AN_ERROR, UNDER_A_LOCK])
def test_a_claim_needs_no_lock(body):
    """an insert that may fail is as right as a transaction in which nobody writes"""
    imports = "import json, sqlite3\nfrom workbook.guardrails.ledger import Claim\n"
    text = f"{imports}\ndef claim(db, key, digest):{body}"
    report = exercise_rules.tested(exercises()["claim"], text)
    assert report.outcome is Outcome.PASSED, report


def test_a_claim_that_is_given_back_meanwhile_is_yours(ledger):
    """its row is there for the first statement and gone for the second"""
    with ledger.connection() as db, ledger.connection() as other:
        claim(other, "k", "d")
        db.set_trace_callback(lambda sql: "SELECT" in sql and forget(other, "k"))
        assert claim(db, "k", "d") == Claim("run")


# a file that is no ledger


def other_table(path):
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE claims (name TEXT)")


@pytest.mark.parametrize(
    "damage",
    [lambda path: path.write_text("no ledger " * 100), lambda path: path.mkdir(),
     other_table],
    ids=["text", "folder", "another table"],
)  # fmt: skip
def test_a_file_that_is_no_ledger_is_told(tmp_path, damage):
    """a damaged ledger is named, with what to do; nothing is paid without it"""
    path, account = tmp_path / "ledger.db", Payments()
    damage(path)
    with pytest.raises(LedgerError, match=r"ledger\.db cannot be .*restore a copy"):
        payer(Ledger(path), account.tool())(call())
    assert account.made == []


@pytest.mark.parametrize(("business_key", "rings"), [((), 2), (("times",), 1)])
def test_a_ledger_of_single_runs_knows_another_run_by_a_business_key(
    tmp_path, business_key, rings
):
    """twice in a run is once; in another run it is done again, but for such a key"""
    bell = Bell(business_key=business_key)
    ledger = Ledger(tmp_path / "ledger.db", across_runs=False)
    for run_id in ("run_1", "run_2"):
        make = payer(ledger, bell.tool, run_id)
        assert make(RING).ok
        assert make(replace(RING, call_id="again")).ok
    assert bell.rings == rings
