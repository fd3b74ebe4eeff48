"""Effects are counted in the world: with each guard, and at each kill."""

import sqlite3

import pytest

from tests import learner
from workbook.experiments import effects
from workbook.runtime.calls import ToolCall
from workbook.runtime.ledger import Claim, claim, idempotency_key
from workbook.runtime.permission import Approve, Reject, approve, digest_of_call, yes
from workbook.stage.scenarios import outcome

PAY = ToolCall("Pay", {"payee": "bookshop", "amount": 25}, "call_1")


def looks_first(db, key, digest):
    if db.execute("SELECT * FROM claims WHERE key = ?", (key,)).fetchone():
        return Claim("unknown")
    db.execute("INSERT OR IGNORE INTO claims VALUES (?, ?, NULL)", (key, digest))
    return Claim("run")


def under_a_lock(db, key, digest):
    with db:
        db.execute("BEGIN IMMEDIATE")
        return looks_first(db, key, digest)


def test_only_a_person_and_a_key_together_bring_one_payment_in_all_cases():
    """each guard alone pays twice, or not at all, in one case at least"""
    counted = effects.six_cases()
    right = [guard for guard in counted if (counted[guard] == 1).all()]
    assert (right, len(counted)) == (["who looks, and a key"], 6)


@pytest.mark.parametrize(
    ("way", "paid"), [(looks_first, 2), (claim, 1), (under_a_lock, 1)]
)
def test_two_claims_at_once_pay_once_where_one_is_told_run(way, paid):
    """a second claim comes between two statements of the first, or waits for a lock"""
    found = effects.two_at_once(way)
    assert (found["payments"], found["verdicts"].count("run")) == (paid, paid)


def test_what_another_claim_raises_is_not_hidden():
    """only a lock is waited for: a wrong statement of the reader's is raised"""

    def wrong(db, key, digest):
        db.execute("SELECT * FROM no_such_table")

    with pytest.raises(Exception, match="no_such_table") as raised:
        effects.two_at_once(wrong)
    assert isinstance(raised.value.__cause__, sqlite3.OperationalError)


@pytest.mark.parametrize(
    ("way", "paid"),
    [(lambda call, answer, problems: call, "2500 to Mallory"), (approve, "nothing")],
)
def test_a_yes_of_the_morning_pays_nobody_else(way, paid):
    """a yes that is compared by its number pays Mallory; by its digest, nobody"""
    morning = Approve("call_1", digest_of_call(PAY))
    assert effects.afternoon(morning, {"approve": way}) == paid


@pytest.mark.parametrize(
    ("key", "paid"), [(lambda call, names=(): str(call.arguments), 2),
                      (idempotency_key, 1)],
)  # fmt: skip
def test_spellings_of_a_payment_are_one(key, paid):
    """the text of a call is another one for another spelling; the key is not"""
    found = effects.spellings({"idempotency_key": key})
    assert found.count("25 to bookshop") == paid


def test_a_run_waits_overnight_and_another_goes_on(own_data, tmp_path):
    """nothing is paid before the answer, and no turn is asked for twice"""
    path = tmp_path / "run.jsonl"
    night = effects.in_a_process(path)
    morning = effects.in_a_process(path, "yes,no")
    states = [outcome(row["ends"])["state"] for row in (night, morning)]
    assert states == ["SUSPENDED", "DONE"]
    assert [row["paid"] for row in (night, morning)] == [0, 1]
    assert morning["model turns in the file"] == 3
    decided = effects.decisions(path)
    night, morning = ["ask", "later"], ["resumed", "approve", "ask", "reject"]
    assert [*decided["what"]] == night + morning


def test_wherever_it_is_killed_it_pays_at_most_once(own_data, capsys):
    """your functions run in a process that dies before, in and after the payment"""
    learner.solve("claim")
    kills = effects.killed_everywhere([0, 8, "claimed", "paid", 9])
    assert "yours: claim; ours: " in capsys.readouterr().out
    assert kills["killed"].all()
    assert [*kills["paid when it died"]] == [0, 0, 0, 1, 1]
    assert [*kills["paid in the end"]] == [1, 1, 0, 1, 1]
    assert "not known" in kills["answer"]["claimed"]


def test_a_claim_that_always_runs_is_found_by_the_kills(own_data):
    """a claim that forgets pays again and again, and the table shows it"""
    learner.spoil("claim", ALWAYS)
    kills = effects.killed_everywhere(["paid"])
    assert [*kills["paid in the end"]] == [3]  # it died, went on, and was asked again


ALWAYS = """from workbook.runtime.ledger import Claim

def claim(db, key, digest):
    return Claim("run")
"""


@pytest.mark.parametrize(
    ("mode", "person", "passes"),
    [("plan", yes, False), ("build", yes, True),
     ("build", lambda request: Reject("no"), False)],
)  # fmt: skip
def test_the_failing_test_is_mended_after_a_yes(mode, person, passes):
    """on the files of a folder: in build mode, and where the person says yes"""
    found = effects.in_the_folder("mend_the_test", mode=mode, person=person)
    assert (found["file as it was"], found["tests pass"]) == (not passes, passes)
    assert found["ends"].end["state"] == "DONE"
