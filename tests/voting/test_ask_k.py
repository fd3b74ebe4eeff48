"""K runs of one question, one by one."""

import signal
import threading

import pytest

from workbook.runtime.machine import Machine
from workbook.runtime.script import Script
from workbook.voting.consensus import consensus
from workbook.voting.samples import ask_k


def machine_that_says(turn):
    machine = Machine(Script([turn]), [])
    machine.about = {"temperature": 0.7}
    return machine


def test_k_runs_in_the_order_of_their_seeds():
    """Each run has its seed, also in its trace; one that raises is its exception."""

    def make(seed):
        if seed == 2:
            raise OSError(f"no model for {seed}")
        return machine_that_says(f"Final Answer: city {seed}")

    runs = ask_k(make, "Where?", 4)
    failed = runs.pop(1)
    assert isinstance(failed, OSError)
    begun = [each.trace.of("run_started")[0] for each in runs]
    told = [(event["seed"], event["temperature"]) for event in begun]
    assert told == [(1, 0.7), (3, 0.7), (4, 0.7)]
    said = [(each.seed, each.answer) for each in runs]
    assert said == [(1, "city 1"), (3, "city 3"), (4, "city 4")]
    assert consensus([*runs, failed]).tally[1:] == (0, 1, True)


def test_ctrl_c_begins_no_other_run():
    """An interrupt that a machine took for itself ends them all."""
    begun = []

    def press_ctrl_c(seen):
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        return "Final Answer: Rome"

    def make(seed):
        begun.append(seed)
        return machine_that_says(press_ctrl_c if seed == 2 else "Final Answer: Rome")

    with pytest.raises(KeyboardInterrupt):
        ask_k(make, "Where?", 9)
    assert begun == [1, 2]
