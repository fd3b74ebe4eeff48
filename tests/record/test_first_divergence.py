"""Where two runs part: the first event in which they differ, times apart."""

from workbook.record.writer import TraceWriter


def a_run(answer="88", slow=1.0):
    """Return the events of a small run."""
    now = iter(n * slow for n in range(99))
    hook = TraceWriter(clock=lambda: next(now), unix_clock=lambda: 1000 * slow)
    hook("run_started", engine="fsm", question="20 % off, then 10 % on?")
    hook("model_request", prompt="Question: …")
    hook("model_turn", text=f"Final Answer: {answer}", turn=None, usage=None)
    way = {"source": "THINK", "event": "final_answer", "target": "DONE", "why": ""}
    hook("transition", **way, elapsed_s=slow)
    spent = {"steps": 1, "wall_s": slow}
    end = {"state": "DONE", "reason": "final_answer", "answer": answer}
    hook("run_finished", **end, spent=spent)
    return [event | {"trace_id": "a"} for event in hook.events]


def test_the_same_run_has_none(first_divergence):
    """two runs with the same events have no divergence: None"""
    assert first_divergence(a_run(), a_run()) is None


def test_the_first_event_that_differs(first_divergence):
    """the number of the first event that differs is returned, counted from 0"""
    assert first_divergence(a_run("88"), a_run("90")) == 2


def test_the_very_first_one(first_divergence):
    """an event 0 that differs is 0, and not None"""
    other = a_run()
    other[0]["question"] = "What?"
    found = first_divergence(a_run(), other)
    assert found == 0
    assert found is not None


def test_times_are_no_difference(first_divergence):
    """two runs that took different times are the same run"""
    assert first_divergence(a_run(slow=1.0), a_run(slow=7.0)) is None


def test_one_that_breaks_off(first_divergence):
    """where one run is the beginning of the other, it is the number of events in it"""
    assert first_divergence(a_run(), a_run()[:3]) == 3
    assert first_divergence(a_run()[:3], a_run()) == 3


def test_no_events(first_divergence):
    """of two runs without events it is None"""
    assert first_divergence([], []) is None


def test_what_one_envelope_lacks_is_no_difference(first_divergence):
    """events as a machine tells them, without their envelope, are alike"""
    told = [
        {k: v for k, v in event.items() if k not in ("trace_id", "seq", "step", "at_s")}
        for event in a_run()
    ]
    assert first_divergence(a_run(), told) is None
