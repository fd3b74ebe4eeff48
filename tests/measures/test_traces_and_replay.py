"""Figures of any number of runs: what is counted, of how many; runs played again."""

import pytest

from workbook.measures import traces_and_replay as measures
from workbook.runtime.replay import replay
from workbook.runtime.trace import Trace


def run_of(*seconds, began=0.0, calls=()):
    """Return a run that left THINK after so many seconds, with calls that go so."""
    head = {"trace_id": "r", "step": 0, "at_s": 0.0}
    events = [{**head, "kind": "run_started", "started_unix_s": began}]
    for n, ok in enumerate(calls):
        call = {**head, "call_id": n, "tool": "Search"}
        events.append({**call, "kind": "tool_call", "arguments": {}})
        events.append({**call, "kind": "observation", "ok": ok, "text": str(ok)})
    moved = {**head, "kind": "transition", "source": "THINK", "target": "DONE"}
    events += [{**moved, "elapsed_s": each} for each in seconds]
    events.append({**head, "kind": "model_turn", "usage": {"input": 5, "output": None}})
    end = {"kind": "run_finished", "state": "DONE", "reason": "so", "answer": "a"}
    return Trace([*events, {**head, **end}])


def test_figures_say_of_how_many():
    """ends, stays and calls; a share of none is no figure"""
    runs = [
        run_of(*(n / 1000 for n in range(1, 101)), calls=[False, False, True, True]),
        run_of(),
    ]
    ends, stays, tools = measures.figures(runs).values()
    (end,) = ends
    assert (end["ended"], end["number"], end["tokens"]) == ("DONE so", 2, 10)
    assert end["repeats"] == 0.5  # the same call got the same answer, twice of four
    (stay,) = stays
    assert (stay["number"], stay["median"], stay["p95"]) == (100, 50.5, 95)
    (tool,) = tools
    assert (tool["number"], tool["ok"], tool["retry"]) == (4, 0.5, 0.5)
    assert measures.figures([run_of()])["How runs ended"][0]["repeats"] is None


def test_figures_since_a_time():
    """runs that began before it do not count"""
    runs = [run_of(began=100.0), run_of(began=200.0)]
    (end,) = measures.figures(runs, since=150.0)["How runs ended"]
    assert end["number"] == 1


@pytest.mark.parametrize("fails", [False, True])
def test_a_replay_that_fails_has_its_row(fails, monkeypatch):
    """of each scenario, on both machines, the recorded end and the replay's"""
    monkeypatch.setattr(measures, "slugs", lambda: ["payment_twice"])
    again = (lambda trace, machine: 1 / 0) if fails else replay
    rows = [*measures.over_the_gallery(again)]
    assert [row["engine"] for row in rows] == ["fsm", "guarded"]
    ends = {"ZeroDivisionError"} if fails else {"DONE"}
    assert {row["your replay"] for row in rows} == ends
