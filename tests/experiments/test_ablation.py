"""Agents with some guards off: experts are right, and adversaries show the guards."""

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import pytest

from workbook.evaluation.grader import grade
from workbook.evaluation.report import table
from workbook.evaluation.runner import evaluate
from workbook.evaluation.tasks import tasks
from workbook.experiments.ablation import Agent, damage, guard_table, without
from workbook.experiments.adversaries import KINDS, adversary
from workbook.models.script import Script

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
    agent, some = Agent(f"adversary:{kind}"), tasks()[::4]
    right, _, doubled = counts(agent, some, tmp_path / "all")
    assert (right, doubled) == (len(some), 0)
    unprotected = replace(agent, guards=(), grounding=False)
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


def test_what_is_off_is_off():
    """Guards and the grounding are switched off by name, the others stay."""
    agent = without(EXPERT, "policy", "grounding")
    assert {*EXPERT.guards} - {*agent.guards} == {"policy"}
    assert not agent.grounding


def test_a_row_has_the_damage_of_each_adversary():
    """What differs from the first row is marked."""
    rows = {"all": (), "all again": (), "no stuck": ("stuck",)}
    shown = guard_table(rows, SOME[:1])
    column = shown.data["repeats: calls wasted"]
    assert column["no stuck"] > column["all"]
    assert shown.to_html().count("ffe082") == 1


def test_an_agent_travels(tmp_path):
    """In a process that was spawned the same agent ends as it does here."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        there = pool.submit(EXPERT, TOWERS, tmp_path / "there").result()
    here = EXPERT(TOWERS, tmp_path / "here")
    same = {"trace_id": "", "spent": None}
    assert replace(there, **same) == replace(here, **same)
    assert there.spent.steps == here.spent.steps == len(TOWERS.expert)
    assert pickle.loads(pickle.dumps(EXPERT)) == EXPERT


def test_a_refused_run_says_so(tmp_path, monkeypatch):
    """Where the runtime refuses, the answer says it and why, and is no silence."""
    insists = Script(["Final Answer: It is 900 m high [w999]."], repeat_last=True)
    ours = "workbook.experiments.ablation.get_text_model"
    monkeypatch.setattr(ours, lambda *name, **options: insists)
    end = Agent("insists")(TOWERS, tmp_path)
    assert end.state == "REFUSED"
    assert end.answer.startswith("I cannot answer that: the documents")


def test_no_question_is_refused_for_its_words(tmp_path):
    """A question that gives orders is the model's to refuse, and it does so."""
    task = BY_SLUG["orders_in_question"]
    end = EXPERT(task, tmp_path)
    assert end.state == "DONE"
    assert grade(end.answer, task.gold)


def test_what_there_is_not_is_refused():
    """An unknown guard or adversary is a ValueError that names it."""
    with pytest.raises(ValueError, match="luck"):
        replace(EXPERT, guards=("luck",))
    for make in (
        lambda kind: Agent(f"adversary:{kind}"),
        lambda k: adversary(TOWERS, k),
    ):
        with pytest.raises(ValueError, match="sings"):
            make("sings")
