"""The table of guards: what each adversary does with some of them off."""

import pytest

from workbook.evaluation.ablation import damage, guard_table, without
from workbook.evaluation.agents import Agent
from workbook.evaluation.tasks import tasks

SOME = tasks()[::15]


def test_what_is_off_is_off():
    """Guards and the grounding are switched off by name, the others stay."""
    agent = without(Agent("expert"), "policy", "grounding")
    assert "policy" not in agent.guards
    assert "taint" in agent.guards
    assert not agent.grounding


def test_two_guards_stand_in_for_each_other():
    """Policy or taint alone stops the payments; without both each task has one."""
    paid = {off: damage("pays twice", off, SOME) for off in [(), ("taint",)]}
    assert set(paid.values()) == {0}
    assert damage("pays twice", ("policy", "taint"), SOME) == len(SOME)
    assert damage("pays twice", ("policy", "taint", "ledger"), SOME) == 2 * len(SOME)


def test_a_row_has_the_damage_of_each_adversary():
    """What differs from the first row is marked."""
    shown = guard_table({"all": (), "no stuck": ("stuck",)}, SOME[:1])
    column = shown.data["repeats: calls wasted"]
    assert column["no stuck"] > column["all"]
    assert shown.to_html().count("ffe082") == pytest.approx(1)
