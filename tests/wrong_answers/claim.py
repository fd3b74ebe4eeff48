"""Plausible wrong answers to `claim`, each with the test that must catch it."""

import json

from workbook.guardrails.ledger import Claim

ASKED = "SELECT digest, result FROM claims WHERE key = ?"
INSERT = "INSERT INTO claims (key, digest) VALUES (?, ?)"


def read(row, digest):
    if row[0] != digest:
        return Claim("other")
    return Claim("unknown") if row[1] is None else Claim("done", json.loads(row[1]))


def looks_first_and_writes_later(db, key, digest):
    row = db.execute(ASKED, (key,)).fetchone()
    if row is None:
        db.execute(INSERT.replace("INSERT", "INSERT OR IGNORE"), (key, digest))
        return Claim("run")
    return read(row, digest)


def begins_without_a_lock(db, key, digest):
    with db:
        db.execute("BEGIN")
        row = db.execute(ASKED, (key,)).fetchone()
        if row is None:
            db.execute(INSERT, (key, digest))
            return Claim("run")
    return read(row, digest)


def runs_what_is_unknown(db, key, digest):
    with db:
        db.execute("BEGIN IMMEDIATE")
        row = db.execute(ASKED, (key,)).fetchone()
        if row is None:
            db.execute(INSERT, (key, digest))
    if row is None or row[1] is None:
        return Claim("run")
    return read(row, digest)


def takes_an_empty_result_for_none(db, key, digest):
    with db:
        db.execute("BEGIN IMMEDIATE")
        row = db.execute(ASKED, (key,)).fetchone()
        if row is None:
            db.execute(INSERT, (key, digest))
            return Claim("run")
    if row[0] != digest:
        return Claim("other")
    result = json.loads(row[1] or "{}")
    return Claim("done", result) if result else Claim("unknown")


def forgets_to_commit(db, key, digest):
    db.execute("BEGIN IMMEDIATE")
    row = db.execute(ASKED, (key,)).fetchone()
    if row is None:
        db.execute(INSERT, (key, digest))
        return Claim("run")
    db.execute("COMMIT")
    return read(row, digest)


def trusts_the_key(db, key, digest):
    with db:
        db.execute("BEGIN IMMEDIATE")
        row = db.execute(ASKED, (key,)).fetchone()
        if row is None:
            db.execute(INSERT, (key, digest))
            return Claim("run")
    return read(row, row[0])


WRONG = {
    looks_first_and_writes_later: "test_of_two_processes_one_runs",
    begins_without_a_lock: "test_of_two_processes_one_runs",
    runs_what_is_unknown: "test_what_was_never_settled_is_unknown",
    takes_an_empty_result_for_none: "test_what_was_settled_is_done",
    forgets_to_commit: "test_another_process_sees_the_claim",
    trusts_the_key: "test_a_key_with_another_digest_is_another_calls",
}
