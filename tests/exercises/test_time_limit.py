"""A time limit that ends any loop."""

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
