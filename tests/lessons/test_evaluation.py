"""Intervals and pairs, the 29 tasks, what is known of the grader, and `evaluate`."""

import os
import signal
import sys
import threading
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import replace

import pytest

from workbook.lessons.evaluation import (
    CLASSES,
    Gold,
    evaluate,
    grade,
    graded_answers,
    paired_difference,
    paired_interval,
    tasks,
    tasks_needed,
)
from workbook.runtime.ledger import Make
from workbook.runtime.machine import Machine, RunResult
from workbook.runtime.script import Script
from workbook.worlds.catalogue import builtin_tools, makers

KINDS = (True, True), (False, True), (True, False), (False, False)
BY_SLUG = {task.slug: task for task in tasks()}
FIRST = tasks()[0]
PAY = 'Thought: I pay.\nAction: Pay\nAction Input: {"payee": "Ann", "amount": 5}'


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    [
        ((36, 12, 2, 0), 0.0569, 0.3404),
        ((36, 2, 12, 0), -0.3404, -0.0569),
        ((18, 4, 2, 16), -0.0748, 0.1712),  # mostly alike: less is left to luck
        ((11, 11, 9, 9), -0.1619, 0.2558),
        ((10, 0, 0, 0), -0.2775, 0.2775),
    ],
)
def test_the_interval_of_a_difference(counts, low, high):
    """Of the same shares, pairs that go together leave less to luck."""
    pairs = [kind for kind, n in zip(KINDS, counts, strict=True) for _ in range(n)]
    found = paired_difference(pairs)
    assert paired_interval(found) == pytest.approx((low, high), abs=1e-4)


def test_fewer_changes_or_a_larger_difference_need_fewer_tasks():
    """And what cannot be is refused: none, or more difference than change."""
    asked = [(0.2, 0.3), (-0.1, 0.2), (0.05, 0.2), (0.05, 0.05), (1, 1)]
    assert [tasks_needed(*each) for each in asked] == [57, 155, 626, 155, 4]
    for difference, changed in [(0, 0.1), (0.2, 0.1), (0.5, 1.5)]:
        with pytest.raises(ValueError, match=str(changed)):
            tasks_needed(difference, changed)


# The tasks and the grader

WRONG = {  # what a plausible answer gets wrong, for gold of each kind
    "all": ["I do not know.", "It is Zorbia.", "", None],
    "any": ["Nobody.", "I cannot answer that.", None],
    "number": ["14", "4", "I cannot calculate.", "1 or 2", None],
    "refusal": ["Yes, it is done.", "I have paid 40 EUR.", "", None],
}


def test_there_are_29_tasks_of_four_kinds():
    """There are 4 lookups, 10 of several hops, 9 calculations and 6 about safety."""
    assert [len(tasks(kind)) for kind in CLASSES] == [4, 10, 9, 6]
    assert len(BY_SLUG) == len(tasks()) == 29
    with pytest.raises(ValueError, match="exact"):
        Gold("exact")


@pytest.mark.parametrize("slug", BY_SLUG)
def test_a_task_can_be_done_and_graded(slug):
    """Its tools are built in, and its script takes the shortest way to a right answer.

    What a careless agent answers instead is wrong."""
    task = BY_SLUG[slug]
    assert set(task.tools) <= set(makers())
    assert task.shortest == sum("\nAction Input:" in t for t in task.expert)
    assert grade(task.expert[-1].partition("Final Answer: ")[2], task.gold)
    for answer in WRONG[task.gold.kind]:
        assert grade(answer, task.gold) is (answer in task.gold.values)


@pytest.mark.parametrize(
    ("name", "accepted", "rejected"),
    [("graded", 0, 0), ("held_out", 11, 5), ("blind", 6, 37)],
)
def test_the_grader_errs_on_answers_that_it_was_not_written_for(
    name, accepted, rejected
):
    """As many wrong answers pass, and right ones do not, as lesson 12 says."""
    rows = graded_answers(name)
    errors = Counter(
        row["right"]
        for row in rows
        if grade(row["answer"], BY_SLUG[row["task"]].gold) != row["right"]
    )
    assert (errors[False], errors[True]) == (accepted, rejected)


# Running the tasks


def many(number):
    """Return so many tasks that differ in their names alone."""
    return [replace(FIRST, slug=f"task {n}") for n in range(number)]


def play(turns, task, folder, name="run_1"):
    machine = Machine(Script(turns), builtin_tools(task.tools), make=Make())
    return machine.run(task.question, folder / f"{name}.jsonl")


def by_script(task, folder):
    """Note that it has begun, and play the expert's script."""
    with (folder.parent / "begun.txt").open("a") as file:
        file.write(f"{task.slug}\n")
    return play(task.expert, task, folder)


def begun(out):
    """Return how many times each task was begun."""
    return Counter((out / "begun.txt").read_text().splitlines())


@pytest.mark.parametrize("pool", [nullcontext, lambda: ProcessPoolExecutor(2)])
def test_each_task_has_its_row_in_order(tmp_path, pool):
    """The rows stand in the order of the tasks, whoever ran them."""
    with pool() as executor:
        rows = evaluate(tasks(), by_script, executor, out=tmp_path)
    assert [row["task"] for row in rows] == [task.slug for task in tasks()]
    assert all(row["right"] and not row["wasted"] for row in rows)
    assert set(begun(tmp_path).values()) == {1}


@pytest.mark.in_ci
def test_a_dask_client_runs_the_tasks_although_a_worker_dies(tmp_path):
    """What the dead worker was doing is begun again, and nothing else."""
    dask, distributed = map(pytest.importorskip, ("dask", "distributed"))

    def agent(task, folder):  # not a module's, as in a notebook
        died = folder.parent / "died"
        end = by_script(task, folder)
        if task.slug == "task 6" and not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return end

    workers = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "120s"}),
        distributed.LocalCluster(**workers) as cluster,
        distributed.Client(cluster) as client,
    ):
        rows = evaluate(many(12), agent, client.get_executor(retries=2), out=tmp_path)
    assert [row["task"] for row in rows if row["right"]] == [t.slug for t in many(12)]
    assert begun(tmp_path)["task 6"] == 2
    assert begun(tmp_path).total() <= 12 + 2


@pytest.mark.parametrize(
    ("agent", "state", "answer", "error"),
    [
        (lambda task, folder: "Warsaw", "DONE", "Warsaw", ""),
        (lambda task, folder: None, "NO_ANSWER", None, ""),
        (lambda task, folder: 1 / 0, "ERROR", None, "ZeroDivisionError"),
        (lambda task, folder: sys.exit("enough"), "ERROR", None, "enough"),
        (lambda *_: RunResult("STUCK", "", None, "again", None), "STUCK", None, ""),
    ],
)  # fmt: skip
def test_whatever_an_agent_does_is_a_row(tmp_path, agent, state, answer, error):
    """An end, a text, nothing, or an exception: each is a row, and ends nothing."""
    row, _ = evaluate(many(2), agent, out=tmp_path)
    assert (row["state"], row["answer"]) == (state, answer)
    assert error in row["error"]
    assert bool(row["error"]) == bool(error)
    assert row["right"] == (answer == "Warsaw")


def test_the_figures_are_those_of_the_traces(tmp_path):
    """Calls and tokens of all runs are added up, even of one that was cut off."""
    paying = replace(FIRST, tools=("Pay",), shortest=1)

    def agent(task, folder):
        play([PAY, PAY.replace("I pay", "Again"), task.expert[-1]], task, folder)
        end = play([PAY], task, folder, "run_2")  # and the script has run out
        first, second, *_ = (folder / "run_1.jsonl").read_bytes().splitlines(True)
        (folder / "run_3.jsonl").write_bytes(first + second[:20])
        return end

    (row,) = evaluate([paying], agent, out=tmp_path)
    assert (row["state"], row["model calls"], row["wasted"]) == ("ERROR", 4, 1)
    assert row["tokens"] > 100


def test_what_is_there_is_not_run_again(tmp_path):
    """A task with a row is skipped; a row that is not whole was never there."""
    before = evaluate(many(2), by_script, out=tmp_path)
    os.replace(tmp_path / "task 1/row.json", tmp_path / "task 1/row.half")
    play([PAY], FIRST, tmp_path / "task 1", "run_2")  # of the time before
    after = evaluate(many(3), by_script, out=tmp_path)
    assert after[0] == before[0]
    assert after[1]["model calls"] == before[1]["model calls"]
    assert begun(tmp_path) == {"task 0": 1, "task 1": 2, "task 2": 1}
    with pytest.raises(ValueError, match=r"by_script.*play"):  # a folder is its own
        evaluate(many(1), play, out=tmp_path)


@pytest.mark.parametrize("press", [True, False])
def test_ctrl_c_keeps_what_is_finished(tmp_path, press):
    """It is raised, whether the agent or its machine caught it; then it goes on."""

    def agent(task, folder):
        if task.slug != "task 1":
            return by_script(task, folder)
        if not press:
            raise KeyboardInterrupt
        me = threading.main_thread().ident
        return play([lambda seen: signal.pthread_kill(me, signal.SIGINT)], task, folder)

    with pytest.raises(KeyboardInterrupt):
        evaluate(many(3), agent, out=tmp_path)
    assert set(begun(tmp_path)) == {"task 0"}
    assert [path.parent.name for path in tmp_path.glob("*/row.json")] == ["task 0"]
