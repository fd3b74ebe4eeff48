"""Calls at once: READs beside each other, a WRITE alone, one observation a call."""

import threading

import pytest

from workbook.tools.calls import Observation, ToolCall

SOON = 1.5  # seconds, for what comes at once


def calls(*names):
    """Return one call a name; a name in capitals stands for a WRITE."""
    return [ToolCall(name, {}, f"call_{n}") for n, name in enumerate(names, 1)]


def is_read(call):
    return call.name.islower()


def answer(call):
    return Observation(call.call_id, True, {"result": call.name}, None, call.name)


class Watch:
    """Makes calls, and keeps who was at work with whom, and in which order."""

    def __init__(self):
        self.lock, self.active, self.most = threading.Lock(), [], 0
        self.beside_a_write, self.order = [], []

    def __call__(self, call):
        with self.lock:
            self.active.append(call.name)
            self.order.append(f"{call.name} begins")
            self.most = max(self.most, len(self.active))
            if len(self.active) > 1 and any(name.isupper() for name in self.active):
                self.beside_a_write.append("+".join(self.active))
        threading.Event().wait(0.05)  # so that others may come
        with self.lock:
            self.active.remove(call.name)
            self.order.append(f"{call.name} ends")
        return answer(call)


def test_reads_that_stand_side_by_side_are_made_at_once(run_in_parallel):
    """READ calls that stand side by side all begin before one of them is waited for"""
    all_there = threading.Barrier(3, timeout=SOON)

    def run(call):
        all_there.wait()
        return answer(call)

    seen = run_in_parallel(calls("a", "b", "c"), run, is_read)
    assert [each.ok for each in seen] == [True, True, True]


def test_observations_keep_the_order_of_asking(run_in_parallel):
    """there is one observation a call, in the order of the calls and not of the ends"""
    second = threading.Event()

    def run(call):
        if call.name == "a":
            second.wait(SOON)
            threading.Event().wait(0.1)  # so that the second is back first
        elif call.name == "b":
            second.set()
        return answer(call)

    seen = run_in_parallel(calls("a", "b", "C"), run, is_read)
    assert [each.call_id for each in seen] == ["call_1", "call_2", "call_3"]


def test_a_write_is_made_alone(run_in_parallel):
    """a WRITE begins when all before it have ended; what follows waits for its end"""
    watch = Watch()
    run_in_parallel(calls("a", "b", "PAY", "SEND", "c", "d"), watch, is_read)
    assert watch.beside_a_write == []
    assert watch.order[4:8] == ["PAY begins", "PAY ends", "SEND begins", "SEND ends"]


def test_a_call_that_raises_is_one_failed_observation(run_in_parallel):
    """a call that raises an Exception gives `failed(call, error)`; the others go on"""

    def run(call):
        if call.name == "b":
            raise OSError("the line is dead")
        return answer(call)

    seen = run_in_parallel(calls("a", "b", "c"), run, is_read)
    assert [(each.call_id, each.ok) for each in seen] == [
        ("call_1", True),
        ("call_2", False),
        ("call_3", True),
    ]
    assert "the line is dead" in seen[1].error.message


def test_no_more_than_so_many_at_once(run_in_parallel):
    """never are more than `at_once` calls at work at one time"""
    watch = Watch()
    run_in_parallel(calls(*"abcdefg"), watch, is_read, 2)
    assert watch.most == 2


def test_no_calls_no_observations(run_in_parallel):
    """without a call there is nothing to observe: the list is empty"""
    assert run_in_parallel([], answer, is_read) == []


@pytest.mark.parametrize("name", ["a", "PAY"])
def test_one_call_is_made_too(run_in_parallel, name):
    """one call alone is made like any other"""
    assert [each.ok for each in run_in_parallel(calls(name), answer, is_read)] == [True]
