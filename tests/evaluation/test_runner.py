"""`evaluate`: every task once, whoever runs it, whatever the agent or a worker does."""

import json
import os
import signal
import sys
import threading
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace

import pytest

from workbook.environments.catalogue import builtin_tools
from workbook.evaluation.runner import evaluate
from workbook.evaluation.tasks import tasks
from workbook.runtime.ledger import Make
from workbook.runtime.machine import Machine, RunResult
from workbook.runtime.script import Script

FIRST = tasks()[0]
PAY = 'Thought: I pay.\nAction: Pay\nAction Input: {"payee": "Ann", "amount": 5}'


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
    """Return how often each task was begun."""
    path = out / "begun.txt"
    return Counter(path.read_text().splitlines() if path.exists() else [])


def finished(out):
    """Return how often each task that has a result was begun."""
    done = {path.parent.name for path in out.glob("*/result.json")}
    return {task: times for task, times in begun(out).items() if task in done}


def timeless(results):
    return [replace(result, seconds=0.0) for result in results]


@pytest.mark.parametrize(
    "pool",
    [nullcontext, lambda: ThreadPoolExecutor(2), lambda: ProcessPoolExecutor(2)],
    ids=["here", "threads", "processes"],
)
def test_each_task_has_its_result_in_order(tmp_path, pool):
    """The results stand in the order of the tasks, whoever ran them."""
    with pool() as executor:
        results = evaluate(tasks(), by_script, executor=executor, out=tmp_path)
    assert [result.task for result in results] == [task.slug for task in tasks()]
    assert all(result.right and not result.wasted for result in results)
    assert set(begun(tmp_path).values()) == {1}


@pytest.mark.parametrize(
    ("agent", "state", "answer", "error"),
    [
        (lambda task, folder: "Warsaw", "DONE", "Warsaw", ""),
        (lambda task, folder: "Paris \ud800", "DONE", "Paris \ud800", ""),
        (lambda task, folder: None, "NO_ANSWER", None, ""),
        (lambda task, folder: 3, "ERROR", None, "3"),
        (lambda task, folder: 1 / 0, "ERROR", None, "ZeroDivisionError"),
        (lambda task, folder: sys.exit("enough"), "ERROR", None, "enough"),
        (
            lambda task, folder: RunResult("STUCK", "", None, "again", None),
            "STUCK", None, "",
        ),
        (
            lambda task, folder: RunResult("ERROR", "", None, "no line", None),
            "ERROR", None, "no line",
        ),
    ],
)  # fmt: skip
def test_whatever_an_agent_does_is_a_result(tmp_path, agent, state, answer, error):
    """An Exit, a text, nothing, or an exception: each is a result, and no end."""
    result, _ = evaluate(many(2), agent, out=tmp_path)
    assert (result.state, result.answer) == (state, answer)
    assert error in result.error
    assert bool(result.error) == bool(error)
    assert result.right == (answer == "Warsaw")
    assert (result.tokens, result.model_calls, result.tool_calls) == (0, 0, 0)


def test_the_figures_are_those_of_the_traces(tmp_path):
    """Calls, tokens and seconds of all runs are added up, also of one cut off."""
    paying = replace(FIRST, tools=("Pay",), shortest=0)

    def agent(task, folder):
        play([PAY, PAY.replace("I pay", "Again"), task.expert[-1]], task, folder)
        end = play([PAY], task, folder, "run_2")  # and the script has run out
        first, second, *_ = (folder / "run_1.jsonl").read_bytes().splitlines(True)
        (folder / "run_3.jsonl").write_bytes(first + second[:20])
        return end

    (result,) = evaluate([paying], agent, out=tmp_path)
    assert (result.state, result.model_calls, result.tool_calls) == ("ERROR", 5, 3)
    assert (result.wasted, result.doubled) == (3, 2)
    assert result.tokens > 100
    lines = [(tmp_path / FIRST.slug / f"run_{n}.jsonl").read_text().splitlines()
             for n in (1, 2, 3)]  # fmt: skip
    whole = lines[0][-1], lines[1][-1], lines[2][-2]  # of run_3 the last line is cut
    seconds = sum(json.loads(line)["at_s"] for line in whole)
    assert result.seconds == pytest.approx(seconds)  # the runs' own


def test_what_is_there_is_not_run_again(tmp_path):
    """A task with a result is skipped; progress is told of the others alone."""
    before, told = evaluate(many(2), by_script, out=tmp_path), []
    progress = lambda *each: told.append(each[1:])  # noqa: E731
    after = evaluate(many(4), by_script, out=tmp_path, progress=progress)
    assert after[:2] == before
    assert set(begun(tmp_path).values()) == {1}
    assert told == [(3, 4), (4, 4)]
    with pytest.raises(ValueError, match=r"by_script.*play"):  # a folder is its own
        evaluate(many(1), play, out=tmp_path)


def test_a_damaged_result_is_none(tmp_path):
    """What cannot be read is made again; traces of the first time do not count."""
    first = evaluate(many(1), by_script, out=tmp_path)
    (tmp_path / "task 0" / "result.json").write_text('{"task"')
    play([PAY], FIRST, tmp_path / "task 0", "run_2")
    (tmp_path / "task 0" / "mine.txt").write_text("what nobody may delete")
    assert timeless(evaluate(many(1), by_script, out=tmp_path)) == timeless(first)
    assert (tmp_path / "task 0" / "mine.txt").exists()


@pytest.mark.parametrize("how", ["CANCELLED", "raised", "on an executor"])
def test_ctrl_c_keeps_what_is_finished(tmp_path, how):
    """An interrupt ends the evaluation, also one that a machine took for itself."""
    stops, over = [True], threading.Event()

    def agent(task, folder):
        if task.slug == "task 2" and stops:
            stops.clear()
            if how == "CANCELLED":
                return RunResult(how, "cancel", None, "", None)
            raise KeyboardInterrupt
        if not stops:  # the only thread is kept until the evaluation has ended
            over.wait(60)
        return by_script(task, folder)

    with ThreadPoolExecutor(1) if "executor" in how else nullcontext() as pool:
        with pytest.raises(KeyboardInterrupt):
            evaluate(many(6), agent, executor=pool, out=tmp_path)
        over.set()
    assert (
        {"task 0", "task 1"} <= {*finished(tmp_path)} <= {"task 0", "task 1", "task 3"}
    )
    assert all(result.right for result in evaluate(many(6), agent, out=tmp_path))
    assert set(begun(tmp_path).values()) == {1}


def test_a_cluster_survives_the_death_of_a_worker(tmp_path):
    """The same call on a Dask cluster: an agent made here travels, a worker may die."""
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    known = {}

    def agent(task, folder):  # not a module's, as in a notebook
        return by_script(task, folder)

    with LocalCluster(**options) as cluster, Client(cluster) as client:
        pid = next(iter(client.run(os.getpid).values()))

        def kill_one(result, done, of):
            if done == 10:
                os.kill(pid, signal.SIGKILL)
                known.update(finished(tmp_path))

        more = {"executor": client.get_executor(retries=2), "progress": kill_one}
        results = evaluate(many(50), agent, out=tmp_path, **more)
    assert [each.task for each in results if each.right] == [t.slug for t in many(50)]
    assert len(known) >= 10
    assert known.items() <= begun(tmp_path).items()  # once each, also after the death
