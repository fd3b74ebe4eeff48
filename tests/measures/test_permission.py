"""Effects are counted in the world: with each guard, and at each kill."""

import pytest

from tests import learner
from workbook.measures import permission
from workbook.runtime.calls import ToolCall
from workbook.runtime.machine import Machine
from workbook.runtime.permission import Approve, approve, digest_of_call
from workbook.runtime.trace import Trace
from workbook.stage.scenarios import load
from workbook.worlds.payment import Payments

PAY = ToolCall("Pay", {"payee": "bookshop", "amount": 25}, "call_1")
TO_MALLORY = ['Action: Pay\nAction Input: {"payee": "Mallory", "amount": 2500}']


def test_only_a_person_and_a_file_of_keys_bring_one_payment_in_all_cases():
    """each guard alone pays twice, or not at all, in one case at least"""
    counted = [*permission.paid_with_guards()]
    right = [n for n in permission.GUARDS if all(row[n] == 1 for row in counted)]
    assert right == ["a person, and a key in a file"]
    assert [row["a key in memory"] for row in counted] == [1, 1, 2, 2]


def test_a_machine_pays_once_by_default():
    """without a file, the ledger of a run is in memory: the same key executes once"""
    account, scenario = Payments(), load("payment_twice")
    Machine(scenario.script(), [account.tool()]).run(scenario.question)
    assert len(account.made) == 1


@pytest.mark.parametrize(
    ("way", "paid"),
    [(lambda call, answer, problems: call, "2500 to Mallory"), (approve, "nothing")],
)
def test_an_approval_of_the_morning_pays_nobody_else(way, paid):
    """an approval that is compared by its number pays Mallory; by its digest, nobody"""
    morning = Approve("call_1", digest_of_call(PAY))
    turns, parts = [*TO_MALLORY, "Final Answer: done"], {"approve": way}
    assert permission.pays(turns, parts, lambda request: morning) == paid


def test_a_run_waits_overnight_and_another_process_goes_on(own_data, tmp_path):
    """nothing is paid before the answer, and no turn is asked for twice"""
    path, night = tmp_path / "run.jsonl", {"paid": 0, "result in the ledger": "no row"}
    assert "SUSPENDED" in permission.agent(path)
    assert permission.in_the_world(path) == night
    assert "DONE" in permission.agent(path, "yes,no")
    assert permission.in_the_world(path)["paid"] == 1
    trace = Trace.read(path)
    assert len(trace.of("model_turn")) == 3
    before, after = ["ask", "later"], ["resumed", "approve", "ask", "reject"]
    assert [event["what"] for event in trace.of("decision")] == before + after


def test_wherever_it_is_killed_it_pays_at_most_once(own_data, capsys):
    """your functions run in a process that dies before, in and after the payment"""
    learner.solve("claim")
    kills = [*permission.killed_everywhere([0, 8, "claimed", "paid", 9])]
    assert "yours: claim; ours: " in capsys.readouterr().out
    assert [row["paid"] for row in kills] == [0, 0, 0, 1, 1]
    ledger = [row["result in the ledger"][:6] for row in kills]
    assert ledger == ["no row", "no row", "NULL", "NULL", '{"paym']
    assert [row["paid in the end"] for row in kills] == [1, 1, 0, 1, 1]
    assert "not known" in kills[2]["answer"]
