"""K runs of one question, and a model that reads their traces as a verifier."""

import signal
import threading

import pytest

from workbook.lessons.self_consistency import ask_k, consensus, model_verifier
from workbook.runtime.machine import Machine
from workbook.runtime.script import Script
from workbook.worlds.calculator import calculator

SUM = 'Action: Calculator\nAction Input: {"expression": "8 * 11"}'


def machine(*turns):
    return Machine(Script(turns), [calculator()])


def test_k_runs_in_the_order_of_their_seeds():
    """Each run's trace has its seed; one that raises is its exception."""

    def make(seed):
        if seed == 2:
            raise OSError(f"no model for {seed}")
        made = machine(f"Final Answer: city {seed}")
        made.about = {"temperature": 0.7}
        return made

    runs = ask_k(make, "Where?", 4)
    assert isinstance(failed := runs.pop(1), OSError)
    begun = [each.trace.of("run_started")[0] for each in runs]
    seeds = [(event["seed"], event["temperature"]) for event in begun]
    assert seeds == [(1, 0.7), (3, 0.7), (4, 0.7)]
    assert [each.answer for each in runs] == ["city 1", "city 3", "city 4"]
    assert consensus([*runs, failed]).tally[1:] == (0, 1, True)


def test_ctrl_c_begins_no_other_run():
    """An interrupt that a machine took for itself ends them all."""
    begun = []

    def press_ctrl_c(seen):
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        return "Final Answer: Rome"

    def make(seed):
        begun.append(seed)
        return machine(press_ctrl_c if seed == 2 else "Final Answer: Rome")

    with pytest.raises(KeyboardInterrupt):
        ask_k(make, "Where?", 9)
    assert begun == [1, 2]


def test_a_verifiers_answer_is_the_runs_in_any_spelling():
    """What it names counts as first given; a bare 5 beside two units is itself."""
    assert consensus(["$88.00", "90"], lambda runs: "88 dollars").answer == "$88.00"
    assert consensus(["5 m", "5 km", "5"], lambda runs: "5").answer == "5"


@pytest.mark.parametrize(
    ("reply", "answer"),
    [("2", "88"), (" Run 1.", "90"), ("none", None), ("1 or 2", None), ("7", None),
     ("3", None)],
)  # fmt: skip
def test_a_model_as_verifier_reads_answers_and_traces(reply, answer):
    """It names one run with an answer; otherwise nothing is chosen."""
    turns = {1: ["Final Answer: 90"], 2: [SUM, "Final Answer: 88"], 3: [OSError("no")]}
    runs = ask_k(lambda seed: machine(*turns[seed]), "8 tickets at 11?", 3)
    prompts = []
    model = Script([lambda seen: prompts.append(seen) or reply])
    assert model_verifier(model)(runs) == answer
    (prompt,) = prompts
    assert "Run 2\n" + SUM in prompt
    assert "\nObservation: 88\n" in prompt
    assert "Run 3\nAnswer: OSError: no" in prompt
