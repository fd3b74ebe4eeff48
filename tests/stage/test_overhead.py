"""What the guards cost per step: the measurement of lesson 06."""

import pytest

from workbook.stage import overhead
from workbook.traces.trace import Trace

STEPS = 4


def test_the_machine_s_trace_is_on_disk(tmp_path):
    """The machine's time includes writing every event"""
    path = tmp_path / "trace.jsonl"
    overhead.machine_run(STEPS, path)()
    trace = Trace.read(path)
    assert len(trace.of("model_request")) == STEPS
    assert len(trace.of("observation")) == STEPS - 1
    assert trace.end["state"] == "DONE"


@pytest.mark.parametrize(("steps", "repeats"), [(1, 1), (2, 0)])
def test_too_little_to_measure_is_refused(steps, repeats):
    """One step has no tool call in it, and no repeat has no time"""
    with pytest.raises(ValueError, match=f"not {steps}, {repeats}"):
        overhead.guard_costs(steps, repeats)


@pytest.fixture(scope="module")
def guard_costs():
    return overhead.guard_costs(STEPS, repeats=1)


def test_each_guard_is_measured_alone_and_all_together(guard_costs):
    """The table has a row for no guard, for each guard, and for all of them"""
    assert list(guard_costs.index) == list(overhead.GUARDS)
    assert (guard_costs["µs_per_step"] > 0).all()
    assert guard_costs.loc["none", "times_none"] == 1


@pytest.mark.parametrize("guards", overhead.GUARDS)
def test_a_guarded_run_is_the_same_run(guards, tmp_path):
    """Guards that are measured have nothing to stop: each run ends with its answer"""
    path = tmp_path / "trace.jsonl"
    assert overhead.GUARDS[guards](STEPS, path)().answer == "done"
    trace = Trace.read(path)
    assert len(trace.of("observation")) == STEPS - 1
    what = [event["what"] for event in trace.of("decision")]
    converges = guards in ("convergence", "all")  # in the last step
    assert what == (["tools withdrawn"] if converges else [])


@pytest.mark.parametrize("guards", overhead.GUARDS)
def test_a_guard_alone_is_on_alone(guards, tmp_path, monkeypatch):
    """Only where it is measured does the stuck guard see that a script repeats"""
    monkeypatch.setattr(overhead, "ACTION", overhead.ACTION.replace("{n}", "1"))
    ended = overhead.GUARDS[guards](6, tmp_path / "trace.jsonl")()
    assert ended.state == ("STUCK" if guards in ("stuck", "all") else "DONE")
