"""One budget for several runs, in threads and in processes."""

import subprocess
import sys
import threading

import pytest

from workbook.guardrails.budget import Budget, NextCall
from workbook.guardrails.machine import guarded
from workbook.guardrails.shared_budget import SharedBudget, SharedBudgetError
from workbook.models.base import MAX_TOKENS, Completion, Usage
from workbook.models.script import Script

CALL = NextCall("model", 60, 40)


def run(model, shared, **options):
    work = {"THINK": shared.think}
    return guarded(model, [], handlers=work, converge=False, **options).run("?")


@pytest.mark.parametrize("name", [None, "shared.json"])
def test_what_is_reserved_counts_as_spent_until_it_is_settled(tmp_path, name):
    """of three calls at once one is too many; what was not needed is given back"""
    shared = SharedBudget(Budget(tokens=250, steps=5), name and tmp_path / name)
    assert [shared.reserve(CALL) for _ in range(3)] == [None, None, "out_of_tokens"]
    assert shared.spent().usage == Usage(120, 80)
    assert shared.room(input_tokens=20) == 30
    shared.settle(CALL, Usage(60, 5, 50))
    shared.settle(CALL)  # it was not made: a step, and no tokens
    assert shared.spent().usage == Usage(60, 5, 50)
    assert (shared.spent().steps, shared.reserve(CALL)) == (2, None)


CODE = """
import sys
from threading import Thread
from workbook.guardrails.budget import Budget, NextCall
from workbook.guardrails.shared_budget import SharedBudget

shared, granted = SharedBudget(Budget(tokens=1000, steps=99), sys.argv[1]), []

def reserve():
    for _ in range(30):
        granted.append(shared.reserve(NextCall("model", 6, 4)) is None)

threads = [Thread(target=reserve) for _ in range(3)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(sum(granted))
"""


def test_threads_and_processes_share_it(tmp_path):
    """whoever asks at once, they get no more than there is, and it stays spent"""
    path = tmp_path / "shared.json"
    command = [sys.executable, "-c", CODE, str(path)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    granted = [int(process.communicate(timeout=60)[0]) for process in both]
    after = SharedBudget(Budget(tokens=1000, steps=200), path)
    assert sum(granted) == after.spent().steps == 99
    assert after.spent().usage == Usage(594, 396)
    assert after.reserve(NextCall("model", 10, 1)) == "out_of_tokens"


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"steps": -1, "usage": {}}',
        '{"steps": 1, "usage": {"input": true}}',
        "[" * 100_000,
    ],
    ids=range(5),
)
def test_a_damaged_file_is_said_and_spends_nothing(text, tmp_path):
    """what is not as it was written ends in a sentence with the file and what to do"""
    path = tmp_path / "shared.json"
    path.write_text(text)
    shared = SharedBudget(Budget(tokens=250), path)
    said = r"shared\.json cannot be read .* Mend it"
    with pytest.raises(SharedBudgetError, match=said):
        shared.reserve(CALL)
    end = run(Script(["x"]), shared)
    assert (end.state, end.spent.steps) == ("ERROR", 0)
    assert path.read_text() == text


def test_a_call_that_nobody_heard_of_again_counts_whole():
    """a call that timed out may have cost all that was reserved: somebody pays it"""
    shared = SharedBudget(Budget(tokens=5000))
    hung = Script([lambda seen: threading.Event().wait(30)])
    run(hung, shared, budget=Budget(model_s=0.05))
    assert shared.spent().usage.output == MAX_TOKENS
    assert shared.spent().usage.input > 0


class Uncapped:
    """A model that takes no max_tokens."""

    name = "uncapped"

    def complete(self, prompt, *, stop=()):
        return Completion("Final Answer: 7", Usage(9, 5))


def test_a_model_without_a_cap_shares_steps_and_no_tokens():
    """what nothing keeps within tokens is not asked; any model can share steps"""
    tokens, steps = SharedBudget(Budget(tokens=5000)), SharedBudget(Budget(steps=1))
    end = run(Uncapped(), tokens)
    assert end.message.startswith("ValueError: uncapped takes no max_tokens")
    assert tokens.spent().steps == 0
    reasons = [run(Uncapped(), steps).reason for _ in range(2)]
    assert reasons == ["final_answer", "out_of_steps"]
    with pytest.raises(ValueError, match=r"uncapped takes no max_tokens"):
        guarded(Uncapped(), []).with_limits(tokens=5000)
