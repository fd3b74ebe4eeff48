"""Plausible wrong answers to `claim`, each with the test that must catch it."""

import json

from workbook.runtime.ledger import Claim

ASKED = "SELECT digest, result FROM claims WHERE key = ?"
INSERT = "INSERT OR IGNORE INTO claims (key, digest) VALUES (?, ?)"


def read(row, digest):
    if row[0] != digest:
        return Claim("other")
    return Claim("unknown") if row[1] is None else Claim("done", json.loads(row[1]))


def claimed(db, key, digest, read=read):
    with db:
        db.execute("BEGIN IMMEDIATE")
        row = db.execute(ASKED, (key,)).fetchone()
        if row is None:
            db.execute(INSERT, (key, digest))
            return Claim("run")
    return read(row, digest)


def looks_first_and_writes_later(db, key, digest):
    row = db.execute(ASKED, (key,)).fetchone()
    if row is None:
        db.execute(INSERT, (key, digest))
        return Claim("run")
    return read(row, digest)


def does_not_look_whether_it_has_inserted(db, key, digest):
    db.execute(INSERT, (key, digest))
    found = read(db.execute(ASKED, (key,)).fetchone(), digest)
    return Claim("run") if found.verdict == "unknown" else found


def takes_a_claim_for_a_result(db, key, digest):
    found = claimed(db, key, digest)
    return Claim("done") if found.verdict == "unknown" else found


def claims_without_its_digest(db, key, digest):
    found = claimed(db, key, digest, read=lambda row, d: read((row[0] or d, row[1]), d))
    if found.verdict == "run":
        db.execute("UPDATE claims SET digest = NULL WHERE key = ?", (key,))
    return found


def replaces_the_claim(db, key, digest):
    found = claimed(db, key, digest)
    if found.verdict == "other":
        db.execute("UPDATE claims SET digest = ? WHERE key = ?", (digest, key))
    return found


def takes_an_empty_result_for_none(db, key, digest):
    found = claimed(db, key, digest)
    return found if found.result or found.verdict != "done" else Claim("unknown")


def commits_only_what_it_has_inserted(db, key, digest):
    db.execute("BEGIN IMMEDIATE")
    row = db.execute(ASKED, (key,)).fetchone()
    if row is None:
        db.execute(INSERT, (key, digest))
        db.execute("COMMIT")
        return Claim("run")
    return read(row, digest)


def trusts_the_key(db, key, digest):
    return claimed(db, key, digest, read=lambda row, digest: read(row, row[0]))


WRONG = {
    looks_first_and_writes_later: "test_of_two_processes_one_runs",
    does_not_look_whether_it_has_inserted: "test_what_was_never_settled_is_unknown",
    replaces_the_claim: "test_a_key_with_another_digest_is_another_calls",
    takes_an_empty_result_for_none: "test_what_was_settled_is_done",
    takes_a_claim_for_a_result: "test_what_was_never_settled_is_unknown",
    claims_without_its_digest: "test_a_new_key_is_yours",
    commits_only_what_it_has_inserted: "test_another_process_sees_the_claim",
    trusts_the_key: "test_a_key_with_another_digest_is_another_calls",
}
