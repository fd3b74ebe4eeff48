"""K runs of one question, one by one and on any executor."""

import signal
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial

import pytest

from workbook.fsm.machine import Machine
from workbook.models.base import ignore
from workbook.models.script import Script
from workbook.tools.registry import ToolRegistry
from workbook.voting.consensus import consensus
from workbook.voting.samples import ask_k


def make(seed, raises=()):
    """Return a machine that answers its seed; at module level, so that it pickles."""
    if seed in raises:
        raise OSError(f"no model for {seed}")
    script = Script([f"Final Answer: city {seed}"])
    return Machine(script, ToolRegistry([]), about={"temperature": 0.7})


@pytest.mark.parametrize("pool", [None, ThreadPoolExecutor, ProcessPoolExecutor])
def test_k_runs_in_the_order_of_their_seeds(pool):
    """On any executor runs come in the order of seeds, and a trace says its seed."""
    job = partial(make, raises=(2,))
    with pool(2) if pool else nullcontext() as executor:
        runs = ask_k(job, "Where?", 4, executor=executor)
    failed = runs.pop(1)
    assert isinstance(failed, OSError)
    begun = [each.trace.of("run_started")[0] for each in runs]
    told = [(event["seed"], event["temperature"]) for event in begun]
    assert told == [(1, 0.7), (3, 0.7), (4, 0.7)]
    said = [(each.seed, each.answer) for each in runs]
    assert said == [(1, "city 1"), (3, "city 3"), (4, "city 4")]
    assert consensus([*runs, failed]).tally[1:] == (0, 1, True)


def test_one_machine_for_all_runs():
    """One machine that is handed out K times has a trace a run, and stays as it was."""
    script = Script(["Final Answer: Rome"], repeat_last=True)
    machine = Machine(script, ToolRegistry([]), about={"temperature": 0.7})
    runs = ask_k(lambda seed: machine, "Where?", 3)
    begun = [[event["seed"] for event in each.trace.of("run_started")] for each in runs]
    assert begun == [[1], [2], [3]]
    assert (machine.hook, machine.about) == (ignore, {"temperature": 0.7})


def press_ctrl_c(seen):
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    return "Final Answer: Rome"


@pytest.mark.parametrize("at_once", [False, True], ids=["one by one", "an executor"])
def test_ctrl_c_begins_no_other_run(at_once):
    """What is at work comes to its end on an executor, and nothing else begins"""
    begun, all_are_there, stopped = [], threading.Event(), threading.Event()

    class Pool(ThreadPoolExecutor):
        def submit(self, job, seed):
            future = super().submit(job, seed)
            if seed == 9:
                all_are_there.set()
            return future

    def make(seed):
        begun.append(seed)
        if at_once:
            all_are_there.wait(60)
        if seed > 2:  # the only thread is kept until Ctrl-C has come
            stopped.wait(60)
        turn = press_ctrl_c if seed == 2 else "Final Answer: Rome"
        return Machine(Script([turn]), ToolRegistry([]))

    with Pool(1) if at_once else nullcontext() as executor:
        with pytest.raises(KeyboardInterrupt):
            ask_k(make, "Where?", 9, executor=executor)
        stopped.set()
    assert begun in ([1, 2], [1, 2, 3] if at_once else [])


def test_at_least_once():
    """No runs at all are refused, with what was given."""
    with pytest.raises(ValueError, match="0"):
        ask_k(make, "Where?", 0)
