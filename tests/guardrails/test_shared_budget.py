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


@pytest.fixture(params=["in memory", "in a file"])
def shared(request, tmp_path):
    path = tmp_path / "shared.json" if request.param == "in a file" else None
    return SharedBudget(Budget(tokens=250, steps=5), path)


def test_what_is_reserved_counts_as_spent_until_it_is_settled(shared):
    """of three calls at once one is too many; what was not needed is given back"""
    assert [shared.reserve(CALL) for _ in range(3)] == [None, None, "out_of_tokens"]
    assert shared.spent().usage == Usage(120, 80)
    assert shared.room(input_tokens=20) == 30
    shared.settle(CALL, Usage(60, 5, 50))
    shared.settle(CALL)  # it was not made: a step, and no tokens
    assert shared.spent().usage == Usage(60, 5, 50)
    assert (shared.spent().steps, shared.reserve(CALL)) == (2, None)


def test_threads_share_it(shared):
    """of twenty threads that ask at once, two get a promise"""
    words = []
    threads = [
        threading.Thread(target=lambda: words.append(shared.reserve(CALL)))
        for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(words, key=str).count(None) == 2


def test_another_process_finds_what_was_spent(tmp_path):
    """two processes that ask at once get no more than there is, and it stays spent"""
    path = tmp_path / "shared.json"
    code = (
        "import sys\n"
        "from workbook.guardrails.budget import Budget, NextCall\n"
        "from workbook.guardrails.shared_budget import SharedBudget\n"
        "shared, call = SharedBudget(Budget(tokens=1000, steps=99), sys.argv[1]),"
        " NextCall('model', 6, 4)\n"
        "print(sum(shared.reserve(call) is None for _ in range(90)))"
    )
    command = [sys.executable, "-c", code, str(path)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    granted = [int(process.communicate(timeout=60)[0]) for process in both]
    after = SharedBudget(Budget(tokens=1000, steps=200), path)
    assert sum(granted) == after.spent().steps == 99
    assert after.spent().usage == Usage(594, 396)
    assert after.reserve(NextCall("model", 10, 1)) == "out_of_tokens"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"steps": -1, "usage": {}}',
        '{"steps": "1", "usage": {}}',
        '{"steps": 1, "usage": {"input": true}}',
        '{"steps": 1, "usage": {"days": 1}}',
        '{"steps": 1, "usage": {"input": NaN}}',
        "[" * 100_000,
    ],
)
def test_a_damaged_file_is_said_and_spends_nothing(text, tmp_path):
    """what is not as it was written ends in a sentence with the file and what to do"""
    path = tmp_path / "shared.json"
    path.write_text(text)
    shared = SharedBudget(Budget(tokens=250), path)
    with pytest.raises(
        SharedBudgetError, match=r"shared\.json cannot be read .* Mend it"
    ):
        shared.reserve(CALL)
    end = guarded(Script(["x"]), [], handlers={"THINK": shared.think}).run("?")
    assert (end.state, end.spent.steps) == ("ERROR", 0)
    assert "Mend it" in end.message
    assert path.read_text() == text


def test_runs_share_it():
    """the next run has what the last one left, and never more"""
    shared, ends = SharedBudget(Budget(tokens=1500)), []
    for _ in range(6):
        script = Script(["Hm? " * 400, "Final Answer: 7"])
        work = {"THINK": shared.think}
        ends.append(guarded(script, [], handlers=work, converge=False).run("?"))
    total = sum(end.spent.usage.input + end.spent.usage.output for end in ends)
    usage = shared.spent().usage
    assert ends[-1].reason == "out_of_tokens"
    assert usage.input + usage.output == total <= 1500


def test_a_call_that_nobody_heard_of_again_counts_whole():
    """a call that timed out may have cost all that was reserved: somebody pays it"""

    class Hung:
        name = "hung"
        streams = True

        def complete(self, prompt, *, stop=(), max_tokens=None):
            threading.Event().wait(30)

    shared = SharedBudget(Budget(tokens=5000))
    work = {"THINK": shared.think}
    guarded(Hung(), [], budget=Budget(model_s=0.05), handlers=work).run("?")
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
    end = guarded(Uncapped(), [], handlers={"THINK": tokens.think}).run("?")
    assert end.message.startswith("ValueError: uncapped takes no max_tokens")
    assert tokens.spent().steps == 0
    work = {"THINK": steps.think}
    reasons = [guarded(Uncapped(), [], handlers=work).run("?").reason for _ in "12"]
    assert reasons == ["final_answer", "out_of_steps"]


def test_other_limits_are_checked_as_the_first_ones():
    """a copy with a limit of tokens is refused where the machine would be"""
    machine = guarded(Uncapped(), [])
    assert machine.with_limits(steps=2).run("?").answer == "7"
    with pytest.raises(ValueError, match=r"uncapped takes no max_tokens"):
        machine.with_limits(tokens=5000)
