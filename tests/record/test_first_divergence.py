"""Where two runs part: the first event in which they differ, times apart."""


def a_run(answer="88", at_s=1.0):
    """Return the events of a small run, as little as can be in each."""
    return [
        {"at_s": 0.0, "kind": "run_started"},
        {"at_s": at_s, "kind": "model_turn", "text": answer},
        {"at_s": at_s, "kind": "run_finished", "answer": answer},
    ]


def test_the_same_run_has_none(first_divergence):
    """two runs with the same events have no divergence: None"""
    assert first_divergence(a_run(), a_run()) is None


def test_the_first_event_that_differs(first_divergence):
    """the number of the first event that differs is returned, counted from 0"""
    assert first_divergence(a_run("88"), a_run("90")) == 1


def test_the_very_first_one(first_divergence):
    """an event 0 that differs is 0, and not None"""
    other = a_run()
    other[0]["question"] = "What?"
    found = first_divergence(a_run(), other)
    assert found == 0
    assert found is not None


def test_times_are_no_difference(first_divergence):
    """two runs that took different times are the same run"""
    assert first_divergence(a_run(at_s=1.0), a_run(at_s=7.0)) is None


def test_one_that_breaks_off(first_divergence):
    """where one run is the beginning of the other, it is the number of events in it"""
    assert first_divergence(a_run(), a_run()[:1]) == 1
    assert first_divergence(a_run()[:1], a_run()) == 1


def test_no_events(first_divergence):
    """of two runs without events it is None"""
    assert first_divergence([], []) is None


def test_what_one_envelope_lacks_is_no_difference(first_divergence):
    """events as a machine tells them, without their envelope, are alike"""
    told = [{k: v for k, v in each.items() if k != "at_s"} for each in a_run()]
    assert first_divergence(a_run(), told) is None
