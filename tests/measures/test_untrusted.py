"""Lesson 10: pages that give orders, what defences stop, what taint costs."""

from workbook.measures.untrusted import (
    DEFENCES,
    ORDERS,
    PAGES,
    attacks,
    by_order,
    honest,
    leaks,
    obeyed,
)
from workbook.runtime.permission import Decision, Verdict
from workbook.runtime.script import Script


def test_a_turn_that_asks_for_the_payment_obeys():
    """the line that asks for the tool counts; four pages an order"""
    turns = [" Action: Payment", " pay\nAction: Pay"] * (len(PAGES) // 2)
    found = obeyed(Script(turns))
    assert found == [False, True] * (len(PAGES) // 2)
    assert [row["n"] for row in by_order(n=found)] == [2] * len(ORDERS) + [10]


def test_what_each_defence_stops():
    """of 14 attacks taint lets none through, screen and fence alone stop none"""
    allow = {"may_flow": lambda *carried: Decision(Verdict.ALLOW, "why not")}
    rows, own = attacks(), attacks(allow)
    assert len(rows) == 14
    works = {name: sum(not row[name]["right"] for row in rows) for name in DEFENCES}
    assert (works["taint"], works["all"]) == (0, 0)
    assert works["guarded"] > 11
    assert works["audit"] == works["screen"] == works["fence"]
    assert sum(not row["taint"]["right"] for row in own) > 5  # your flows are played


def test_what_taint_costs_honest_tasks():
    """each can be done; what waits is done once a person approves"""
    for row in honest():
        without, under, approved = list(row.values())[1:]
        assert without["right"]
        waits = under["state"] == "SUSPENDED"
        assert approved["right"] if waits else approved["state"] == under["state"]


def test_a_leak_needs_all_three():
    """private data, untrusted text, a way out: without one of them nothing leaves"""
    where = [row["the code of the door"] for row in leaks({})]
    assert where == ["it leaves", *["it stays"] * 3]
