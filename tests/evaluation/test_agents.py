"""Agents: descriptions that travel, experts that are right, adversaries in check."""

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import pytest

from workbook.evaluation.adversaries import KINDS, adversary
from workbook.evaluation.agents import GUARDS, Agent
from workbook.evaluation.diagnosis import effects_doubled, steps_wasted
from workbook.evaluation.grader import grade
from workbook.evaluation.tasks import tasks
from workbook.models.script import Script
from workbook.tools.calculator import safe_eval
from workbook.traces.trace import Trace

EXPERT = Agent("expert")
BY_SLUG = {task.slug: task for task in tasks()}
TOWERS = BY_SLUG["skytree_eiffel"]


def tally(agent, folder, given=None):
    """Return how many answers are right, calls are wasted, effects are doubled."""
    right = wasted = doubled = 0
    for task in given or tasks():
        end = agent(task, folder / task.slug)
        trace = Trace.read(folder / task.slug / "run_1.jsonl")
        right += grade(end.answer, task.gold)
        wasted += steps_wasted(trace, task.shortest)
        doubled += effects_doubled(trace)
    return right, wasted, doubled


def test_the_expert_is_right_on_all_tasks(tmp_path):
    """With all guards and the grounding on 29 of 29 are right; no call is wasted."""
    assert tally(EXPERT, tmp_path) == (29, 0, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_guards_keep_an_adversary_in_check(tmp_path, kind):
    """With all guards each ends right and has no effect twice; without, it harms."""
    name, some = f"adversary:{kind}", tasks()[::4]
    right, _, doubled = tally(Agent(name), tmp_path / "all", some)
    assert (right, doubled) == (len(some), 0)
    bare = Agent(name, guards=(), grounding=False)
    right, _, doubled = tally(bare, tmp_path / "none", some)
    assert right < len(some) or doubled == len(some)


@pytest.mark.parametrize(
    ("kind", "off", "approves"),
    [
        ("repeats", "stuck", False),
        ("wanders", "budget", False),
        ("pays twice", "ledger", True),
        ("makes up", "grounding", False),
    ],
)
def test_a_guard_is_worth_its_row(tmp_path, kind, off, approves):
    """Without the guard that an adversary is made for, it wastes, doubles or lies."""
    whole = Agent(f"adversary:{kind}", approves=approves)
    left = tuple(guard for guard in GUARDS if guard != off)
    without = replace(whole, guards=left, grounding=off != "grounding")
    right, wasted, doubled = tally(whole, tmp_path / "with", [TOWERS])
    assert (right, doubled) == (1, 0)
    worse = tally(without, tmp_path / "without", [TOWERS])
    assert worse[0] < right or worse[1] > wasted or worse[2] > doubled


def two(expression):
    """Return 2, whatever is asked."""
    return 2


@pytest.mark.parametrize(
    "agent",
    [
        EXPERT,
        Agent("adversary:repeats"),
        replace(EXPERT, parts={"safe_eval": safe_eval}),
    ],
    ids=["expert", "adversary", "parts"],
)
def test_an_agent_travels(agent):
    """What was pickled is the same agent."""
    assert pickle.loads(pickle.dumps(agent)) == agent


def test_another_process_gives_the_same_result(tmp_path):
    """In a process that was spawned the same agent ends as it does here."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        there = pool.submit(EXPERT, TOWERS, tmp_path / "there").result()
    here = EXPERT(TOWERS, tmp_path / "here")
    same = {"trace_id": "", "spent": None}
    assert replace(there, **same) == replace(here, **same)
    assert there.spent.steps == here.spent.steps == len(TOWERS.expert)


def test_a_part_that_cannot_travel_is_named():
    """A part that no other process could find is refused, with its name."""
    with pytest.raises(Exception, match="lambda"):
        pickle.dumps(replace(EXPERT, parts={"safe_eval": lambda text: 2}))


def test_a_part_of_the_learner_is_used(tmp_path):
    """The calculator of the tasks goes by the learner's function."""
    end = replace(EXPERT, parts={"safe_eval": two})(TOWERS, tmp_path)
    assert not grade(end.answer, TOWERS.gold)
    assert '"result":2' in (tmp_path / "run_1.jsonl").read_text()


def test_a_refused_run_says_so(tmp_path, monkeypatch):
    """Where the runtime refuses, the answer says it and why, and is no silence."""
    insists = Script(["Final Answer: It is 900 m high [w999]."], repeat_last=True)
    ours = "workbook.evaluation.agents.get_text_model"
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


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"guards": ("luck",)}, "luck"),
        ({"model": "adversary:sings"}, "sings"),
    ],
)
def test_what_there_is_not_is_refused(change, named):
    """An unknown guard or adversary is a ValueError that names it."""
    with pytest.raises(ValueError, match=named):
        replace(EXPERT, **change)


def test_there_are_no_other_adversaries():
    """An unknown kind of script is a ValueError that names it."""
    with pytest.raises(ValueError, match="sings"):
        adversary(TOWERS, "sings")
