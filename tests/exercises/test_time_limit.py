"""A time limit that ends any loop."""

import gc
import sys
import threading
import time

import pytest

from workbook.exercises.time_limit import TimeUp, guarded, time_limit


def plain():
    while True:
        pass


def catches_exceptions():
    while True:
        try:
            sum(range(100))
        except Exception:
            continue


def catches_everything():
    while True:
        try:
            sum(range(100))
        except:  # noqa: E722
            continue


def cleans_up_for_ever():
    try:
        plain()
    finally:
        catches_everything()


LOOPS = pytest.mark.parametrize(
    "loop",
    [
        plain,
        catches_exceptions,
        catches_everything,
        cleans_up_for_ever,
    ],
)


@LOOPS
def test_an_endless_loop_is_ended(loop):
    """a loop ends at the limit, also one that catches everything"""
    started = time.monotonic()
    with pytest.raises(TimeUp, match="not finished after"), time_limit(0.1):
        guarded(loop)
    assert time.monotonic() - started < 2


@pytest.mark.parametrize("loop", [plain, catches_exceptions])
def test_it_works_on_another_thread(loop):
    """on a thread that gets no alarms, a watchdog ends the loop"""
    ended = []

    def run():
        try:
            with time_limit(0.1):
                guarded(loop)
        except TimeUp:
            ended.append(loop)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(timeout=10)
    assert ended == [loop]


def test_quick_code_is_left_alone():
    """what ends in time is not touched, and no alarm comes later"""
    with time_limit(0.1):
        result = guarded(sum, [1, 2])
    busy_until = time.monotonic() + 0.3
    while time.monotonic() < busy_until:
        pass
    assert result == 3


def busy(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def test_a_callback_of_the_collector_is_no_place_to_raise(monkeypatch):
    """where an error would be lost, as while garbage is collected, none is raised"""

    def collects():
        while True:
            gc.collect()
            busy(0.1)

    gc.collect()  # what other tests have left: its finalizers are another matter
    lost = []
    monkeypatch.setattr(sys, "unraisablehook", lost.append)
    gc.callbacks.append(slow := lambda phase, info: busy(0.1))
    try:
        with pytest.raises(TimeUp), time_limit(0.05):
            collects()
    finally:
        gc.callbacks.remove(slow)
    assert [each for each in lost if each.exc_type is TimeUp] == []


class Lost:
    """What is raised while it goes is lost."""

    def __del__(self):
        busy(0.2)


def test_an_error_that_was_lost_is_raised_again(monkeypatch):
    """what was raised where it arrives nowhere is raised once more, a second later"""

    def loses_one():
        Lost()
        busy(10)

    monkeypatch.setattr(sys, "unraisablehook", lambda lost: None)
    started = time.process_time()
    with pytest.raises(TimeUp), time_limit(0.1):
        loses_one()
    assert time.process_time() < started + 5
