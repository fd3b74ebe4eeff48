"""K runs of one question, on any executor; and what n of them say about fewer."""

import random
import signal
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from itertools import combinations

import pytest

from workbook.fsm.machine import Machine
from workbook.guardrails.budget import Budget
from workbook.guardrails.machine import guarded
from workbook.guardrails.shared_budget import SharedBudget
from workbook.models.base import ignore
from workbook.models.script import Script
from workbook.tools.registry import ToolRegistry
from workbook.voting.consensus import consensus, vote
from workbook.voting.samples import Plain, ask_k, majority_at_k, pass_at_k, pass_hat_k


def make(seed, raises=(), shared=None):
    """Return a machine that answers its seed; at module level, so that it pickles."""
    if seed in raises:
        raise OSError(f"no model for {seed}")
    script = Script([f"Final Answer: city {seed}"])
    about = {"temperature": 0.7}
    if shared:
        paid = SharedBudget(Budget(tokens=500), shared)
        return guarded(script, [], handlers={"THINK": paid.think}, about=about)
    return Machine(script, ToolRegistry([]), about=about)


@pytest.mark.parametrize("pool", [None, ThreadPoolExecutor, ProcessPoolExecutor])
def test_k_runs_in_the_order_of_their_seeds(pool):
    """On any executor runs come in the order of seeds, and a trace says its seed."""
    job = partial(make, raises=(2,))
    if pool is None:
        runs = ask_k(job, "Where?", 4)
    else:
        with pool(2) as executor:
            runs = ask_k(job, "Where?", 4, executor=executor)
    failed = runs.pop(1)
    assert isinstance(failed, OSError)
    assert [(each.seed, each.answer) for each in runs] == [
        (n, f"city {n}") for n in (1, 3, 4)
    ]
    begun = [each.trace.of("run_started")[0] for each in runs]
    assert [(each["seed"], each["temperature"]) for each in begun] == [
        (n, 0.7) for n in (1, 3, 4)
    ]
    assert consensus([*runs, failed]).tally[1:] == (0, 1, True)


def test_one_machine_for_all_runs():
    """One machine that is handed out K times has a trace a run, and stays as it was."""
    script = Script(["Final Answer: Rome"], repeat_last=True)
    machine = Machine(script, ToolRegistry([]), about={"temperature": 0.7})
    runs = ask_k(lambda seed: machine, "Where?", 3)
    begun = [[event["seed"] for event in each.trace.of("run_started")] for each in runs]
    assert begun == [[1], [2], [3]]
    assert (machine.hook, machine.about) == (ignore, {"temperature": 0.7})


def test_one_budget_over_all(tmp_path):
    """What one run has spent, in another process too, the next ones do not have."""
    job = partial(make, shared=tmp_path / "shared.json")
    with ProcessPoolExecutor(2) as executor:
        runs = ask_k(job, "Where? " * 100, 4, executor=executor)
    assert {each.state for each in runs} == {"DONE", "EXHAUSTED"}
    tokens = sum(each.spent.usage.input + each.spent.usage.output for each in runs)
    assert tokens <= 500


def test_ctrl_c_ends_all():
    """Ctrl-C cancels the runs that are at work, and no other begins."""
    begun, told, ended = [], [], threading.Event()
    both = threading.Barrier(2, timeout=60)

    def turn(seen):
        if not told and both.wait() == 0:  # one of the two, once
            told.append("stop")
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        ended.wait(60)
        return "Action: Look"

    def make(seed):
        begun.append(seed)
        machine = Machine(Script([turn] * 3), ToolRegistry([]))
        cancel = machine.cancel
        machine.cancel = lambda: (cancel(), ended.set())
        return machine

    with ThreadPoolExecutor(2) as executor, pytest.raises(KeyboardInterrupt):
        ask_k(make, "Where?", 9, executor=executor)
    assert ended.is_set()
    assert sorted(begun) == [1, 2]


def test_ctrl_c_while_a_run_is_submitted():
    """What was submitted as Ctrl-C came does not begin either."""
    begun, gate = [], threading.Event()

    class Pool(ThreadPoolExecutor):
        def submit(self, job, *about):
            future = super().submit(job, *about)
            if about[2] == 2:  # the first one holds the only thread
                raise KeyboardInterrupt
            return future

    def make(seed):
        begun.append(seed)
        machine = Machine(Script([lambda seen: gate.wait(60)]), ToolRegistry([]))
        machine.cancel = gate.set
        return machine

    with Pool(1) as executor, pytest.raises(KeyboardInterrupt):
        ask_k(make, "Where?", 9, executor=executor)
    assert begun == [1]


def test_a_model_without_a_machine():
    """Chains of thought are sampled in the same way, and a trace says its seed."""

    def make(seed):
        model = Script([f"So.\nAnswer: {80 + seed // 2}"])
        return Plain("cot", model, about={"temperature": 0.7}, exemplars=[])

    runs = ask_k(make, "12 * 7?", 3)
    assert vote([each.answer for each in runs]).votes == (("81", 2), ("80", 1))
    assert {each.state for each in runs} == {"DONE"}
    started = [each.trace.of("run_started")[0] for each in runs]
    assert [(each["seed"], each["temperature"]) for each in started] == [
        (n, 0.7) for n in (1, 2, 3)
    ]


def test_plain_answers_agree_too():
    """What is no run, but an answer or None, is one in the vote all the same."""
    assert consensus(["$88", "88.0", None])[:2] == ("$88", "majority")


def test_at_least_once():
    """No runs at all are refused, with what was given."""
    with pytest.raises(ValueError, match="0"):
        ask_k(make, "Where?", 0)


def test_closed_forms_are_what_drawing_gives():
    """On 10,000 random tables the closed forms are what all draws of k runs give."""
    chance = random.Random(13)
    for _ in range(10_000):
        names = ["right", None, "b", "c", "d"]
        runs = chance.choices(names, weights=[3, 1, 2, 1, 1], k=chance.randint(1, 6))
        k = chance.randint(1, len(runs))
        draws = list(combinations(runs, k))
        right = [draw.count("right") for draw in draws]
        others = [max(map(draw.count, names[2:])) for draw in draws]
        won = sum(map(int.__gt__, right, others)) / len(draws)
        counts = {name: runs.count(name) for name in {*runs, "right"}}
        assert majority_at_k(counts, k, "right") == pytest.approx(won, abs=1e-12)
        n, c = len(runs), counts["right"]
        some, every = sum(map(bool, right)), right.count(k)
        assert pass_at_k(n, c, k) == pytest.approx(some / len(draws), abs=1e-12)
        assert pass_hat_k(n, c, k) == pytest.approx(every / len(draws), abs=1e-12)


@pytest.mark.parametrize("draw", list(combinations(["88", "88", "90", "90", None], 3)))
def test_a_win_is_one_in_the_vote(draw):
    """Of as many runs as there are, majority@k is what `vote` says of them."""
    counts = {each: draw.count(each) for each in draw}
    tally = vote(draw)
    wins = not tally.tied and tally.votes[0][0] == "88"
    assert majority_at_k(counts, len(draw), "88") == wins


@pytest.mark.parametrize(
    ("counts", "k"),
    [
        ({"88": -1, "90": 3}, 1),
        ({"88": 1, "90": -1, None: 2}, 1),
        ({"88": 1}, 0),
        ({"88": 1}, 2),
        ({}, 1),
    ],
)
def test_impossible_counts(counts, k):
    """Counts below 0, and more draws than runs, are refused."""
    with pytest.raises(ValueError, match=f"k = {k}"):
        majority_at_k(counts, k, "88")
