"""Where two runs part: the first event in which they differ, times apart."""

import pytest


def a_run(answer="88", at_s=1.0):
    """Return the events of a small run, as little as can be in each."""
    return [
        {"at_s": 0.0, "kind": "run_started"},
        {"at_s": at_s, "kind": "model_turn", "text": answer},
        {"at_s": at_s, "kind": "run_finished", "answer": answer},
    ]


STARTED_OTHERWISE = [{"kind": "run_started", "question": "What?"}, *a_run()[1:]]
WITHOUT_TIMES = [{"kind": "run_started"}, *a_run(at_s=7.0)[1:]]
IDS = {"trace_id": "t", "started_unix_s": 1.8e9, "wall_s": 2.0, "elapsed_s": 0.1}
WITH_IDS = [event | IDS for event in a_run()]


@pytest.mark.parametrize("run", [a_run(), []], ids=["three events", "none"])
def test_the_same_run_has_none(first_divergence, run):
    """two runs with the same events have no divergence: None"""
    assert first_divergence(run, [*run]) is None


def test_the_first_event_that_differs(first_divergence):
    """return the number of the first event that differs, counted from 0"""
    assert first_divergence(a_run(), a_run("90")) == 1
    assert first_divergence(a_run(), STARTED_OTHERWISE) == 0


@pytest.mark.parametrize("other", [a_run(at_s=7.0), WITHOUT_TIMES, WITH_IDS])
def test_times_are_no_difference(first_divergence, other):
    """times and ids (what `alike` ignores) do not count, even if one event has none"""
    assert first_divergence(a_run(), other) is None


def test_one_that_breaks_off(first_divergence):
    """if one run is the beginning of the other, return the length of the shorter run"""
    assert first_divergence(a_run(), a_run()[:1]) == 1
    assert first_divergence(a_run()[:1], a_run()) == 1
