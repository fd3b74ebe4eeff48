"""Agents with some guards off: experts are right, and adversaries show the guards."""

from dataclasses import replace

import pytest

from workbook.evaluation.report import table
from workbook.evaluation.runner import evaluate
from workbook.evaluation.tasks import tasks
from workbook.experiments.ablation import Agent, damage, guard_table
from workbook.experiments.adversaries import KINDS

EXPERT, SOME = Agent("expert"), tasks()[::15]
BY_SLUG = {task.slug: task for task in tasks()}
TOWERS = BY_SLUG["skytree_eiffel"]


def counts(agent, given, out):
    """Return how many answers are right, calls are wasted, effects are doubled."""
    rows = table(evaluate(given, agent, out=out))
    return tuple(rows.loc[agent.name, ["right", "wasted", "doubled"]])


def test_the_expert_is_right_on_all_tasks(tmp_path):
    """With all guards and the grounding on 29 of 29 are right; no call is wasted."""
    assert counts(EXPERT, tasks(), tmp_path) == (29, 0, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_guards_keep_an_adversary_in_check(tmp_path, kind):
    """With all guards each ends right and has no effect twice; without, it harms."""
    agent, some = Agent(kind), tasks()[::4]
    right, _, doubled = counts(agent, some, tmp_path / "all")
    assert (right, doubled) == (len(some), 0)
    unprotected = replace(agent, guards=())
    right, _, doubled = counts(unprotected, some, tmp_path / "none")
    assert right < len(some) or doubled == len(some)


@pytest.mark.parametrize(
    ("kind", "guard"),
    [("repeats", "stuck"), ("wanders", "budget"), ("makes up", "grounding")],
)
def test_a_guard_is_worth_its_row(kind, guard):
    """Without the guard that an adversary is made for, it wastes or lies."""
    assert damage(kind, [guard], [TOWERS]) > damage(kind, [], [TOWERS])


def test_two_guards_stand_in_for_each_other():
    """Policy or taint alone stops the payments; without both each task has one."""
    paid = {off: damage("pays twice", off, SOME) for off in [(), ("taint",)]}
    assert set(paid.values()) == {0}
    assert damage("pays twice", ("policy", "taint"), SOME) == len(SOME)
    assert damage("pays twice", ("policy", "taint", "ledger"), SOME) == 2 * len(SOME)


def test_a_row_has_the_damage_of_each_adversary():
    """What differs from the first row is marked."""
    rows = {"all": (), "all again": (), "no stuck": ("stuck",)}
    shown = guard_table(rows, SOME[:1])
    column = shown.data["repeats: calls wasted"]
    assert column["no stuck"] > column["all"]
    assert shown.to_html().count("ffe082") == 1


def test_what_there_is_not_is_refused(tmp_path):
    """An unknown adversary is a ValueError that names it."""
    with pytest.raises(ValueError, match="sings"):
        Agent("sings")(TOWERS, tmp_path)
