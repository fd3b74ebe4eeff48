"""Claiming a key: of all who ask, one alone may have the effect."""

import itertools
import sqlite3
import subprocess
import sys

import pytest

from workbook.runtime.ledger import Claim

OTHER_PROCESS = """
import sqlite3, sys
for path in sys.stdin:
    db = sqlite3.connect(path.strip(), timeout=0, isolation_level=None)
    try:
        db.execute("BEGIN IMMEDIATE")
        free = db.execute("SELECT 1 FROM claims WHERE key = 'k'").fetchone() is None
        if free:
            db.execute("INSERT INTO claims (key, digest) VALUES ('k', 'd')")
        db.execute("COMMIT")
        print("run" if free else "unknown", flush=True)
    except sqlite3.OperationalError:
        print("wait", flush=True)
    db.close()
"""


@pytest.fixture(scope="module")
def other_process():
    """Return a function by which another process claims the key k of a ledger."""
    command = [sys.executable, "-I", "-S", "-c", OTHER_PROCESS]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:

        def claims(path):
            process.stdin.write(f"{path}\n")
            process.stdin.flush()
            return process.stdout.readline().strip()

        yield claims


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


@pytest.fixture
def db(path):
    """Return a connection to a new ledger."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = OFF")  # no test cuts the power
    db.execute("CREATE TABLE claims (key TEXT PRIMARY KEY, digest TEXT, result TEXT)")
    yield db
    db.close()


def assert_rows(db, *expected):
    """Compare the whole table with what it should be."""
    rows = "SELECT key, digest, result FROM claims ORDER BY key"
    found = db.execute(rows).fetchall()
    assert found == [*expected], f"the table should hold {expected}; it holds {found}"


def test_a_new_key_is_yours(claim, db):
    """a key that nobody has claimed is "run", and is claimed with its digest now"""
    assert claim(db, "k", "d") == Claim("run")
    assert_rows(db, ("k", "d", None))
    assert claim(db, "k2", "d") == Claim("run")
    assert_rows(db, ("k", "d", None), ("k2", "d", None))


def test_what_was_never_settled_is_unknown(claim, db):
    """a claimed key without a result is "unknown", even to whoever claimed it"""
    claim(db, "k", "d")
    assert claim(db, "k", "d") == Claim("unknown")


@pytest.mark.parametrize(
    ("text", "result"),
    [('{"payment_id": "pay_1"}', {"payment_id": "pay_1"}), ("{}", {})],
)
def test_what_was_settled_is_done(claim, db, text, result):
    """a key with a result is "done", with the result read from its JSON"""
    db.execute("INSERT INTO claims VALUES ('k', 'd', ?)", (text,))
    assert claim(db, "k", "d") == Claim("done", result)


@pytest.mark.parametrize("result", [None, '{"payment_id": "pay_1"}'])
def test_a_key_with_another_digest_is_another_calls(claim, db, result):
    """a key claimed with another digest is always "other", and its row stays"""
    db.execute("INSERT INTO claims VALUES ('k', 'd', ?)", (result,))
    assert claim(db, "k", "another") == Claim("other")
    assert_rows(db, ("k", "d", result))


def test_another_process_sees_the_claim(claim, db, path, other_process):
    """when claim returns, other processes see the row, and no transaction is open"""
    claim(db, "k", "d")
    theirs = other_process(path)
    why = {"wait": "has to wait: a transaction is open", "run": "sees no row"}
    assert theirs == "unknown", f"another process {why.get(theirs, theirs)}"
    claim(db, "k", "d")
    assert not db.in_transaction, "a transaction is still open"


@pytest.mark.parametrize("moment", [1, 2, 3, 4])
def test_of_two_processes_one_runs(claim, db, path, other_process, moment):
    """only one gets "run" if two processes claim a key at the same moment"""
    theirs, statement = [], itertools.count(1)

    def meanwhile(sql):
        if next(statement) == moment:
            theirs.append(other_process(path))

    db.set_trace_callback(meanwhile)
    ours = claim(db, "k", "d").verdict
    db.set_trace_callback(None)
    if "run" not in (ours, *theirs) or "wait" in theirs:
        theirs.append(other_process(path))
    why = f"before your SQL statement {moment} another process claimed it and got"
    why += f" {' and then '.join(theirs)}; claim returned {ours}"
    assert [ours, *theirs].count("run") == 1, why
