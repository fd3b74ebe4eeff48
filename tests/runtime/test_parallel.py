"""Calls at once: READs beside each other, a WRITE alone, one observation a call."""

import threading

import pytest

from tests.doubles import named
from workbook.runtime.calls import Observation, ToolCall

LOOKS = 100  # 0.01 s apart; a busy machine has slow seconds, but it is asked as often


def comes(is_there):
    """Wait for others, and return whether what they do came."""
    pause = threading.Event()
    return any(is_there() or pause.wait(0.01) for _ in range(LOOKS))


def calls(*names):
    """Return one call a name; a name in capitals stands for a WRITE."""
    return [ToolCall(name, {}, f"call_{n}") for n, name in enumerate(names, 1)]


is_read = named("is_read: names in small letters", lambda call: call.name.islower())


def answer(call):
    """Return what a call gives that goes well."""
    return Observation(call.call_id, True, {"result": call.name}, None, call.name)


class Watch:
    """Makes calls, and keeps who was at work with whom, and in which order."""

    def __init__(self):
        self.lock, self.active, self.most = threading.Lock(), [], 0
        self.beside_a_write, self.order = [], []

    def __repr__(self):
        return "<run: each call takes 0.05 s>"

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
    """neighbouring READ calls run at once: all have begun before any of them ends"""
    begun = []

    def run(call):
        begun.append(call)
        if not comes(lambda: len(begun) == 3):
            raise TimeoutError("the others did not begin")
        return answer(call)

    run = named("run: no call ends before all three have begun", run)
    seen = run_in_parallel(calls("a", "b", "c"), run, is_read)
    why = "three READs were asked for, and one waited for the end of another"
    assert [each.ok for each in seen] == [True, True, True], why


def test_observations_keep_the_order_of_asking(run_in_parallel):
    """there is one observation for each call, in the order of the calls"""
    second = threading.Event()

    def run(call):
        if call.name == "a":
            comes(second.is_set)
            threading.Event().wait(0.1)  # so that the second is back first
        elif call.name == "b":
            second.set()
        return answer(call)

    run = named("run: call_2 ends before call_1", run)
    seen = run_in_parallel(calls("a", "b", "C"), run, is_read)
    order = [each.call_id for each in seen]
    assert order == ["call_1", "call_2", "call_3"], f"the observations are of {order}"


def test_a_write_is_made_alone(run_in_parallel):
    """a WRITE begins after all calls before it have ended; later calls wait for it"""
    watch = Watch()
    run_in_parallel(calls("a", "b", "PAY", "SEND", "c", "d"), watch, is_read)
    beside, order = watch.beside_a_write, ", ".join(watch.order)
    assert beside == [], f"at work at the same time: {beside}; PAY and SEND are WRITEs"
    why = f"a, b, PAY, SEND, c, d were asked for in this order, and made so: {order}"
    alone = ["PAY begins", "PAY ends", "SEND begins", "SEND ends"]
    assert watch.order[4:8] == alone, why


@pytest.mark.parametrize("names", [("a", "b", "c"), ("a", "PAY", "c")], ids=str)
def test_a_call_that_raises_is_one_failed_observation(run_in_parallel, names):
    """each call that raises an Exception gives `failed(call, error)`; others go on"""

    def run(call):
        if call.call_id == "call_2":
            raise Exception("the line is dead")
        return answer(call)

    run = named("run: call_2 raises an Exception", run)
    seen = run_in_parallel(calls(*names), run, is_read)
    found = {each.call_id: each.ok for each in seen}
    why = (
        f"call_2 ({names[1]}) raised, the others went well; call_id and ok are {found}"
    )
    assert found == {"call_1": True, "call_2": False, "call_3": True}, why
    errors = [each.error.message for each in seen if not each.ok]
    why = f"the error is {errors}, not what was raised"
    assert "the line is dead" in errors[0], why


@pytest.mark.parametrize("stopped", ["a", "PAY"])
def test_a_person_can_stop_it(run_in_parallel, stopped):
    """a KeyboardInterrupt is not caught, so that the user can stop the run"""

    def run(call):
        if call.name == stopped:
            raise KeyboardInterrupt
        return answer(call)

    run = named(f"run that a person stops in call {stopped}", run)
    with pytest.raises(KeyboardInterrupt):
        run_in_parallel(calls("a", "b", "PAY"), run, is_read)


def test_no_more_than_so_many_at_once(run_in_parallel):
    """at most `at_once` calls run at the same time"""
    watch = Watch()
    run_in_parallel(calls(*"abcdefg"), watch, is_read, 2)
    assert watch.most <= 2, f"{watch.most} calls were at work at the same time, not 2"


def test_no_calls_no_observations(run_in_parallel):
    """for no calls, return an empty list"""
    assert run_in_parallel([], named("run", answer), is_read) == []
