"""The tables of lesson 10: what each defence stops, what it costs, and what passes."""

import pytest

from workbook.experiments.attacks import (
    ATTACKS,
    address_table,
    attack_table,
    honest_table,
)
from workbook.runtime.permission import Decision, Verdict


@pytest.fixture(scope="module")
def attacks():
    return attack_table()


@pytest.fixture(scope="module")
def honest():
    return honest_table()


def test_no_attack_has_an_effect_under_taint(attacks):
    """of 14 attacks most work elsewhere; screen and fence alone stop none of them"""
    assert len(attacks) == len(ATTACKS) + 1 == 15
    counts = attacks.loc["effects"].to_dict()
    assert (counts["taint"], counts["all"]) == ("0", "0")
    assert int(counts["guarded"]) > 11
    assert counts["audit"] == counts["screen"] == counts["fence"]


def test_your_flows_are_played():
    """a may_flow that allows everything stops nothing"""
    allow = {"may_flow": lambda *carried: Decision(Verdict.ALLOW, "why not")}
    counts = attack_table(allow).loc["effects"]
    assert counts["taint"] == counts["audit"]


def test_each_honest_task_can_be_done_without_taint(honest):
    """what taint costs is seen beside what would be done without it"""
    assert len(honest) >= 10
    assert set(honest["without taint"]) == {"done"}
    assert set(honest["with taint"]) == {"done", "waits", "refused"}


def test_what_waits_is_done_with_a_yes(honest):
    """a yes does what was asked for; only what is denied is not done"""
    waits = honest["with taint"] == "waits"
    assert set(honest["and a person says yes"][waits]) == {"done"}
    same = honest[~waits]
    assert same["with taint"].equals(same["and a person says yes"])
    assert (same["with taint"] == "refused").sum() <= 2


def test_the_address_of_the_museum_waits(honest):
    """an address that was asked for is a person's to allow"""
    assert honest["with taint"]["Which address has the museum?"] == "waits"


def test_what_passes_is_said():
    """of the forms of an address some are held, and those that pass are in the table"""
    found = address_table().set_index("form")["under taint"]
    assert found["a bare IP address"] == found["the dot spelled out"] == "held"
    assert found["a telephone number"] == found["a host alone"] == "passes"
