"""`evaluate`: every task once, whoever runs it, whatever the agent or a worker does."""

import json
import multiprocessing
import os
import random
import signal
import sys
import threading
from collections import Counter
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace

import pytest
from filelock import FileLock

from workbook.environments.catalogue import builtin_tools
from workbook.evaluation import evaluate as module
from workbook.evaluation.evaluate import bar, evaluate, run_job
from workbook.evaluation.results import Job
from workbook.evaluation.tasks import tasks
from workbook.fsm.limits import Spent
from workbook.fsm.machine import Machine, RunResult
from workbook.models.script import Script
from workbook.tools.registry import ToolRegistry
from workbook.traces.writer import TraceWriter

FIRST = tasks()[0]
PAY = 'Thought: I pay.\nAction: Pay\nAction Input: {"payee": "Ann", "amount": 5}'


def many(number):
    """Return so many tasks that differ in their names alone."""
    return [replace(FIRST, slug=f"task {n}") for n in range(number)]


def play(turns, task, folder, name="run_1"):
    with TraceWriter(folder / f"{name}.jsonl") as told:
        tools = ToolRegistry(builtin_tools(task.tools))
        return Machine(Script(list(turns)), tools, hook=told).run(task.question)


def by_script(task, folder):
    """Note that it has begun, and play the expert's script."""
    with (folder.parent / "begun.txt").open("a") as file:
        file.write(f"{task.slug}\n")
    return play(task.expert, task, folder)


def deadly(task, folder):
    if task.slug in ("task 3", "task 7"):
        os._exit(1)
    return by_script(task, folder)


def begun(out):
    """Return how often each task was begun."""
    path = out / "begun.txt"
    return Counter(path.read_text().splitlines() if path.exists() else [])


def finished(out):
    """Return the tasks that have a result."""
    return {path.parent.name for path in out.glob("*/result.json")}


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
    ("agent", "state", "answer", "failure", "error"),
    [
        (lambda task, folder: "Warsaw", "DONE", "Warsaw", "none", ""),
        (lambda task, folder: "Paris", "DONE", "Paris", "wrong answer", ""),
        (lambda task, folder: None, "NO_ANSWER", None, "no answer", ""),
        (lambda task, folder: 3, "ERROR", None, "error", "3"),
        (lambda task, folder: 1 / 0, "ERROR", None, "error", "ZeroDivisionError"),
        (lambda task, folder: sys.exit("enough"), "ERROR", None, "error", "enough"),
        (
            lambda task, folder: RunResult("STUCK", "repeated", None, Spent(), ""),
            "STUCK", None, "no answer", "",
        ),
    ],
)  # fmt: skip
def test_whatever_an_agent_does_is_a_result(
    tmp_path, agent, state, answer, failure, error
):
    """An Exit, a text, nothing, or an exception: each is a result, and no end."""
    result, _ = evaluate(many(2), agent, out=tmp_path)
    assert (result.state, result.answer, result.failure) == (state, answer, failure)
    assert error in result.error
    assert bool(result.error) == bool(error)
    assert result.right == (answer == "Warsaw")
    assert (result.tokens, result.model_calls, result.tool_calls) == (0, 0, 0)


def test_the_figures_are_those_of_the_traces(tmp_path):
    """Calls and tokens of all runs are added up; what is no trace counts as nothing."""
    paying = replace(FIRST, tools=("Pay",), shortest=0)

    def agent(task, folder):
        play([PAY, PAY.replace("I pay", "Again"), task.expert[-1]], task, folder)
        end = play([PAY], task, folder, "run_2")  # and the script has run out
        (folder / "run_3.jsonl").write_bytes(
            (folder / "run_1.jsonl").read_bytes()[:500]
        )
        (folder / "notes.jsonl").write_text('{"not": "a trace"}\n')
        (folder / "run_4.jsonl").write_text('{"trace_id" is damaged\n')
        return end

    (result,) = evaluate([paying], agent, out=tmp_path)
    assert (result.state, result.model_calls, result.tool_calls) == ("ERROR", 5, 3)
    assert (result.wasted, result.doubled, result.failure) == (3, 2, "error")
    assert result.tokens > 100
    assert 0 < result.seconds < 10


def test_called_again_it_runs_what_is_missing_or_has_changed(tmp_path):
    """A task with a result is not run again, one that was changed is."""
    before = evaluate(many(3), by_script, out=tmp_path)
    told = []
    again = [*many(2), replace(many(3)[2], question="Where was Marie Curie born?")]
    again += many(4)[3:]
    after = evaluate(
        again, by_script, out=tmp_path, progress=lambda *each: told.append(each[1:])
    )
    assert after[:2] == before[:2]
    assert begun(tmp_path) == {"task 0": 1, "task 1": 1, "task 2": 2, "task 3": 1}
    assert told == [(3, 4), (4, 4)]


def test_a_damaged_result_is_none(tmp_path):
    """A result that cannot be read is made again, in a folder that is empty."""
    evaluate(many(1), by_script, out=tmp_path)
    (tmp_path / "task 0" / "old").mkdir()
    (tmp_path / "task 0" / "result.json").write_text('{"key"')
    (result,) = evaluate(many(1), by_script, out=tmp_path)
    assert result.right
    assert not (tmp_path / "task 0" / "old").exists()


def test_a_folder_is_one_agents_alone(tmp_path):
    """Another agent's folder is refused by both names, and a folder of other things."""
    evaluate(many(1), by_script, out=tmp_path / "out")
    with pytest.raises(ValueError, match=r"by_script.*deadly"):
        evaluate(many(1), deadly, out=tmp_path / "out")
    (tmp_path / "mine" / "task 0").mkdir(parents=True)
    with pytest.raises(ValueError, match="task 0"):
        evaluate(many(1), by_script, out=tmp_path / "mine")


def test_two_evaluations_of_one_folder_are_not_at_work_at_once(tmp_path, monkeypatch):
    """The second one is told, in words, which folder is taken."""
    monkeypatch.setattr(module, "WAIT_S", 0)
    with (
        FileLock(tmp_path / ".lock"),
        pytest.raises(RuntimeError, match=tmp_path.name),
    ):
        evaluate(many(1), by_script, out=tmp_path)


@pytest.mark.parametrize(
    "slugs", [[], ["a", "A"], ["../a"], ["a/b"], [".."], [""], ["x" * 101], ["a\n"]]
)
def test_slugs_must_do_as_folders(tmp_path, slugs):
    """No tasks, two of one name, and names that no folder can have are refused."""
    some = [replace(FIRST, slug="a") for _ in slugs]
    for task, slug in zip(some, slugs, strict=True):
        object.__setattr__(task, "slug", slug)
    with pytest.raises(ValueError, match=r"task|slug"):
        evaluate(some, by_script, out=tmp_path)
    assert not list(tmp_path.iterdir())


def test_an_agent_that_no_process_can_know_is_told_in_words(tmp_path, monkeypatch):
    """A lambda, or a function changed since the pool was made, is not run wrongly."""
    with ProcessPoolExecutor(1) as pool:
        pool.submit(int).result()
        with pytest.raises(ValueError, match=r"lambda.*threads"):
            evaluate(many(1), lambda t, f: None, executor=pool, out=tmp_path / "a")
        deadly.__name__ = deadly.__qualname__ = "by_script"
        monkeypatch.setattr(sys.modules[__name__], "by_script", deadly)
        with pytest.raises(ValueError, match=r"by_script.*threads"):
            evaluate(many(1), deadly, executor=pool, out=tmp_path / "b")
    deadly.__name__ = deadly.__qualname__ = "deadly"


@pytest.mark.parametrize("state", ["CANCELLED", "raised"])
def test_ctrl_c_keeps_what_is_finished(tmp_path, state):
    """An interrupt ends the evaluation, also one that a machine took for itself."""
    stops = [True]

    def agent(task, folder):
        if task.slug == "task 2" and stops:
            stops.clear()
            if state == "raised":
                raise KeyboardInterrupt
            return RunResult(state, "cancel", None, Spent(), "")
        return by_script(task, folder)

    with pytest.raises(KeyboardInterrupt):
        evaluate(many(4), agent, out=tmp_path)
    assert finished(tmp_path) == {"task 0", "task 1"}
    assert all(result.right for result in evaluate(many(4), agent, out=tmp_path))
    assert set(begun(tmp_path).values()) == {1}


def test_a_task_that_kills_its_worker_keeps_no_other_from_finishing(tmp_path):
    """A dead worker is told in words; called again, all but the deadly are finished."""
    evaluate(many(1), deadly, out=tmp_path)
    for slug in ("task 3", "task 4", "task 5"):  # begun before, and cut off
        (tmp_path / slug).mkdir()
        (tmp_path / slug / ".lock").touch()
    results, told = [], []
    while not results and len(told) < 5:
        with ProcessPoolExecutor(2) as pool:
            try:
                results = evaluate(many(20), deadly, executor=pool, out=tmp_path)
            except RuntimeError as error:
                told.append(str(error))
    assert told
    assert all("again" in words and str(tmp_path) in words for words in told)
    assert [r.task for r in results if not r.right] == ["task 3", "task 7"]
    assert "died" in results[3].error
    assert evaluate(many(20), deadly, out=tmp_path) == results


KilledWorker = type("KilledWorker", (Exception,), {})  # as Dask names it


class Cluster(Executor):
    """Loses, with the worker, each job of which it is told."""

    def __init__(self, *, lost):
        self.lost = lost

    def submit(self, function, job):
        future = Future()
        if self.lost and self.lost[0] == job.task.slug:
            future.set_exception(KilledWorker(self.lost.pop(0)))
        else:
            future.set_result(function(job))
        return future


def test_a_cluster_that_gives_a_task_up_is_asked_once_more(tmp_path):
    """Who was near when a worker died is run again, alone; who dies alone is known."""
    cluster = Cluster(lost=["task 1", "task 3", "task 3"])
    results = evaluate(many(5), by_script, executor=cluster, out=tmp_path)
    assert [result.task for result in results if not result.right] == ["task 3"]
    assert "died" in results[3].error


@dataclass(frozen=True)
class Assembled:
    """An agent that is a description, as the workbook's own are."""

    parts: dict
    name: str = "assembled"

    def __call__(self, task, folder):
        return self.parts["answer"]()


def test_an_agent_with_another_part_is_another_agent(tmp_path):
    """A part that was written anew, under its old name, makes old results another's."""

    def answer():
        return "Paris"

    before = Assembled({"answer": answer})
    assert not evaluate(many(1), before, out=tmp_path)[0].right

    def answer():
        return "Warsaw"

    with pytest.raises(ValueError, match=r"assembled.*assembled"):
        evaluate(many(1), Assembled({"answer": answer}), out=tmp_path)


class Elsewhere(Executor):
    """Runs jobs on a disk of its own, four at a time."""

    def __init__(self, disk):
        self.disk, self.waiting, self.submitted = disk, [], 0

    def submit(self, function, job):
        future = Future()
        self.waiting.append((future, job._replace(folder=self.disk / job.task.slug)))
        self.submitted += 1
        if len(self.waiting) == 4:
            for each, there in self.waiting:
                each.set_result(function(there))
            self.waiting.clear()
        return future


def test_few_tasks_wait_and_results_travel(tmp_path, monkeypatch):
    """No more than a window is handed out; a result from another disk is kept here."""
    monkeypatch.setattr(module, "WINDOW", 7)
    executor, gaps = Elsewhere(tmp_path / "there"), []

    def progress(result, done, of):
        gaps.append(executor.submitted - done)

    options = {"executor": executor, "progress": progress}
    evaluate(many(40), by_script, out=tmp_path / "here", **options)
    assert max(gaps) == 6
    assert finished(tmp_path / "here") == finished(tmp_path / "there")


def test_one_task_is_never_run_by_two_at_once(tmp_path):
    """Whoever comes while a worker that was given up is at it takes its result."""
    called, twice, go_on = threading.Event(), threading.Event(), threading.Event()

    def agent(task, folder):
        (twice if called.is_set() else called).set()
        go_on.wait(10)
        return "Warsaw"

    job = Job(FIRST, agent, "agent", "key", tmp_path / "task")
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(run_job, job)
        called.wait(10)
        second = pool.submit(run_job, job)
        assert not twice.wait(0.1)
        go_on.set()
        assert first.result() == second.result()
    assert not twice.is_set()


def test_progress_is_drawn_for_people_alone(tmp_path, capsys, monkeypatch):
    """The bar is silent in a file, and in a terminal it ends with all of them."""
    results = evaluate(many(2), by_script, out=tmp_path)
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for done in range(1, 402):
        bar(results[0], done, 401)
    assert capsys.readouterr().out.endswith("401 of 401\n")
    for done in range(1, 9):
        bar(replace(results[0], error="TypeError: é"), done, 8)
    assert 0 < capsys.readouterr().out.count("TypeError: é") < 8


def test_what_cannot_be_called_is_no_agent(tmp_path):
    """an agent that is no function is refused at once, with what it is"""
    with pytest.raises(TypeError, match="'expert'"):
        evaluate(tasks(), "expert", out=tmp_path)


def killed_at_random(out, number, moments):
    """Begin an evaluation in a process of its own, and kill it somewhere on its way."""

    def run():
        os.setsid()
        with ProcessPoolExecutor(2) if number % 2 else nullcontext() as executor:
            evaluate(many(300), by_script, executor=executor, out=out, progress=None)

    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    enough = begun(out).total() + moments.randint(1, 20)
    while process.is_alive() and begun(out).total() < enough:
        process.join(0.001)
    process.join(moments.uniform(0, 0.005))
    process.kill()
    process.join()
    return process.pid


def test_killed_at_ten_moments_it_ends_as_if_it_had_not_been(tmp_path):
    """The same table as of one that was never killed; nothing finished is run twice."""
    moments, groups, known = random.Random(13), [], Counter()
    out = tmp_path / "killed"
    try:
        for number in range(10):
            groups.append(killed_at_random(out, number, moments))
            done, counts = finished(out), begun(out)
            assert all(counts[task] == known[task] for task in known)
            known = Counter({task: counts[task] for task in done})
        assert 0 < len(known) < 300
        results = evaluate(many(300), by_script, out=out)
    finally:
        for group in groups:  # the workers of whoever was killed
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
    assert all(begun(out)[task] == known[task] for task in known)
    whole = evaluate(many(300), by_script, out=tmp_path / "whole")
    assert timeless(results) == timeless(whole)


def test_a_cluster_survives_the_death_of_a_worker(tmp_path):
    """The same call on a Dask cluster: an agent made here travels, a worker may die."""
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    known = Counter()

    def agent(task, folder):  # not a module's, as in a notebook
        return by_script(task, folder)

    with LocalCluster(**options) as cluster, Client(cluster) as client:
        pids = list(client.run(os.getpid).values())

        def kill_one(result, done, of):
            if done == 10:
                os.kill(pids[0], signal.SIGKILL)
                known.update(
                    {task: begun(tmp_path)[task] for task in finished(tmp_path)}
                )

        results = evaluate(
            many(50),
            agent,
            executor=client.get_executor(),
            out=tmp_path,
            progress=kill_one,
        )
    whole = evaluate(many(50), agent, out=tmp_path / "whole")
    assert timeless(results) == timeless(whole)
    assert len(known) >= 10
    assert all(begun(tmp_path)[task] == known[task] for task in known)


def test_results_are_read_as_they_were_written(tmp_path):
    """What stands in a file is the result, also with half a character in it."""
    (result,) = evaluate(many(1), lambda task, folder: "\ud800 Warsaw", out=tmp_path)
    row = json.loads((tmp_path / "task 0" / "result.json").read_text())
    assert row["answer"] == result.answer == "\ud800 Warsaw"
