"""Figures of any number of runs: what is counted, of how many, and what is not."""

import pytest

from workbook.runtime.journal import Journal
from workbook.runtime.trace import Trace
from workbook.stage.engines import ENGINES, play
from workbook.views.metrics import Rate, figures, success_rate, traces_in


def run_of(*events, seconds=1.0, name=None):
    """Return a run whose events come so many seconds after each other."""
    ticks = iter(range(1_000_000))
    journal = Journal(name, clock=lambda: next(ticks) * seconds, secrets=[])
    journal.emit("run_started", engine="fsm", question="q")
    for kind, fields in events:
        journal.emit(kind, **fields)
    journal.close()
    given = [{}, *(fields for _, fields in events)]  # the seconds of a stay as well
    pairs = zip(journal.trace(), given, strict=True)
    return Trace(tuple(event | fields for event, fields in pairs))


def asked(call_id, tool="Search", **arguments):
    return "tool_call", {"call_id": call_id, "tool": tool, "arguments": arguments}


def observed(call_id, text="t", ok=True, tool="Search", **more):
    about = {"call_id": call_id, "tool": tool, "ok": ok, "text": text, **more}
    return "observation", about


def moved(source, elapsed_s, event="e", target="THINK"):
    about = {"source": source, "event": event, "target": target, "why": "w"}
    return "transition", {**about, "elapsed_s": elapsed_s}


END = "run_finished", {"state": "DONE", "reason": "final_answer", "answer": "a"}


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_has_its_figures(engine):
    """Whatever played a run, its figures are those of its events."""
    trace = play("price_question", engine)
    tables = figures([trace])
    assert [*tables["How runs ended"].index] == [
        (trace.end["state"], trace.end["reason"])
    ]
    tools, rate = tables["Tools, and seconds of a call"], success_rate(trace)
    assert rate == Rate(*tools[["ok", "calls", "retries"]].sum())
    if trace.of("transition"):  # the states follow each other, from question to end
        together = tables["Seconds in a state"]["total"].sum()
        assert 0 < together <= trace.end["spent"]["wall_s"] + 1e-3


def test_runs_are_counted_by_end_by_state_and_by_tool():
    """How many there were, how long they took, and which calls went well."""
    steps = [moved("THINK", n) for n in range(1, 101)]
    one = [asked("1"), observed("1", ok=False), asked("2"), observed("2"), *steps, END]
    cut = [asked("1", "Pay"), observed("1", tool="Pay"), asked("2", "Pay")]
    tables = figures([run_of(*one), run_of(*one), run_of(*cut)])
    ends, states, tools = tables.values()
    assert dict(ends["runs"]) == {
        ("DONE", "final_answer"): 2,
        ("no end", "after tool_call"): 1,
    }
    assert [*states.loc["THINK"].round(2)] == [200, 50.5, 95.05, 10_100]
    assert list(tools.loc["Search"]) == [4, 2, 0.5, 2, 1, 1]
    assert list(tools.loc["Pay"]) == [1, 1, 1, 0, 1, 1]  # one was not observed
    assert figures([]) == {}


def test_a_folder_is_all_its_traces_and_nothing_else(tmp_path):
    """Folders within count too, up to damage; what is no trace is passed over."""
    (tmp_path / "folder.jsonl").mkdir()
    for name in ("a.jsonl", "b.jsonl", "within/c.jsonl"):
        run_of(asked("1"), observed("1"), END, name=tmp_path / name)
    lines = (tmp_path / "a.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "a.jsonl").write_bytes(b"".join([*lines[:2], lines[3], lines[2]]))
    (tmp_path / "b.jsonl").write_bytes(lines[0].replace(b"fsm", b"fsn"))
    (tmp_path / "chat.jsonl").write_text('{"role": "user", "content": "q"}\n')
    damaged, broken, whole = traces_in(tmp_path)
    assert (len(damaged), len(broken), len(whole)) == (2, 0, 4)
    assert "a.jsonl, line 3" in damaged.lost
    assert "b.jsonl, line 1" in broken.lost
    assert figures([broken])["How runs ended"]["runs"].sum() == 1
