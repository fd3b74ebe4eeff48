"""Figures over any number of runs: what is counted, of how many, and what is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from workbook.playground.engines import ENGINES, play
from workbook.traces.metrics import Rate, figures, rate_of, spread
from workbook.traces.metrics import state_times as packaged_state_times
from workbook.traces.metrics import success_rate as packaged_success_rate
from workbook.traces.trace import Trace
from workbook.traces.writer import TraceWriter


def run_of(*events, seconds=1.0, name=None):
    """Return a run whose events come so many seconds after each other."""
    ticks = iter(range(1_000_000))
    emit = TraceWriter(name, clock=lambda: next(ticks) * seconds, secrets=[])
    emit("run_started", engine="fsm", question="q")
    for kind, fields in events:
        emit(kind, **fields)
    emit.close()
    return emit.trace()


def asked(call_id, tool="Search", **arguments):
    return "tool_call", {"call_id": call_id, "tool": tool, "arguments": arguments}


def observed(call_id, text="t", ok=True, tool="Search", **more):
    about = {"call_id": call_id, "tool": tool, "ok": ok, "text": text, **more}
    return "observation", about


def moved(source, elapsed_s, event="e", target="THINK"):
    about = {"source": source, "event": event, "target": target, "why": "w"}
    return "transition", {**about, "elapsed_s": elapsed_s}


def turn(usage, **more):
    return "model_turn", {"text": "t", "turn": None, "usage": usage, **more}


END = "run_finished", {"state": "DONE", "reason": "final_answer", "answer": "a"}

# what is counted

CALLS = st.lists(
    st.tuples(
        st.sampled_from(["Search", "Pay", "検索"]), st.integers(0, 2), st.booleans()
    )
)


@given(CALLS)
def test_the_rate_agrees_with_a_count_by_hand(calls):
    """For all calls that follow each other it counts what is counted another way."""
    events, retries = [], 0
    for number, (tool, argument, ok) in enumerate(calls):
        events.append(asked(str(number), tool, n=argument))
        events.append(observed(str(number), ok=ok, tool=tool))
        same = [each for each in calls[:number] if each[:2] == (tool, argument)]
        retries += bool(same) and not same[-1][2]
    run, rate = run_of(*events), Rate(sum(ok for *_, ok in calls), len(calls), retries)
    assert packaged_success_rate(run) == rate_of(figures(run).calls) == rate


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("slug", ["price_question", "tool_raises"])
def test_every_engine_has_its_figures(slug, engine):
    """Whatever played a run, its figures are those of its events."""
    trace = play(slug, engine)
    found = figures(trace)
    assert (found.counts["runs"], found.counts["events"]) == (1, len(trace))
    assert rate_of(found.calls) == packaged_success_rate(trace)
    stays = packaged_state_times(trace)
    assert {state: len(times) for state, times in stays.items()} == {
        state: len(times) for state, times in found.states.items()
    }
    if stays:  # they follow each other, from question to end
        together = sum(sum(times) for times in stays.values())
        assert 0 < together <= trace.end["spent"]["wall_s"] + 1e-3
    assert found.counts["turns"] == len(trace.of("model_turn"))
    unseen = len(trace.of("tool_call")) - len(found.calls)
    assert found.counts["calls not observed"] == unseen
    assert unseen == (slug == "tool_raises" and engine in ("naive", "reading"))
    assert dict(found.ends) == {(trace.end["state"], trace.end["reason"]): 1}


@given(st.lists(st.integers(), min_size=1))
def test_a_percentile_is_one_of_the_numbers(numbers):
    """at least so many do not exceed it, and of those below it that is not so"""
    n, *found = spread(numbers)
    for share, percentile in zip((0.5, 0.95), found, strict=True):
        assert sum(each <= percentile for each in numbers) >= share * n
        assert sum(each < percentile for each in numbers) < share * n


def test_tokens_are_counted_inside_tools_too():
    """A tool takes time and tokens; a model that tells none is not one of 0 tokens."""
    first = turn({"input": 10, "output": 2, "cached": 0})
    inside = turn({"input": 1000, "output": 1, "cached": 0}, parent=1)
    last = turn({"input": 30, "output": 2, "cached": 8, "estimated": True})
    run = run_of(first, asked("1"), inside, observed("1"), turn(None), turn({}), last)
    found = figures([run, run_of(turn({"input": 20, "output": 2, "cached": 0}))])
    assert [call.seconds for call in found.calls] == [2.0]
    told = ("turns", "turns with tokens", "tokens input", "tokens output")
    assert [found.totals()[name] for name in told] == [6, 4, 1060, 7]


def test_ends_by_state_and_reason_and_those_without():
    """A run that was cut short is counted, under what happened last."""
    runs = [run_of(END), run_of(asked("1")), run_of(moved("PENDING", 1, "suspended"))]
    assert figures(runs).ends == {
        ("DONE", "final_answer"): 1,
        ("no end", "after tool_call"): 1,
        ("no end", "after suspended"): 1,
    }


# files, broken ones, and any number of them


def test_a_damaged_line_ends_what_is_counted(tmp_path):
    """Behind damage nothing is counted; the sentence names the file and the line."""
    path = play("price_question", "fsm").save(tmp_path / "run.jsonl")
    damaged = path.read_bytes().splitlines(keepends=True)
    damaged[5] = damaged[5].replace(b"20", b"21")
    path.write_bytes(b"".join(damaged))
    for found in (figures(path), figures(Trace.read(path))):
        assert (found.counts["events"], len(found.lost)) == (5, 1)
        assert "run.jsonl, line 6" in found.lost[0]


def test_a_folder_is_all_its_traces_and_nothing_else(tmp_path):
    """Folders within count too; what is no trace is passed over."""
    (tmp_path / "folder.jsonl").mkdir()
    for name in ("a.jsonl", "within/b.jsonl"):
        run_of(asked("1"), observed("1"), END, name=tmp_path / name)
    (tmp_path / "chat.jsonl").write_text('{"role": "user", "content": "q"}\n')
    (tmp_path / "empty.jsonl").touch()
    found = figures(tmp_path)
    assert (found.counts["runs"], rate_of(found.calls)) == (2, Rate(2, 2, 0))
    assert found.lost == []
    assert figures(sorted(tmp_path.rglob("[ab].jsonl"))).counts["runs"] == 2
    assert figures(str(tmp_path / "a.jsonl")).counts["runs"] == 1
    with pytest.raises(FileNotFoundError, match="nowhere"):
        figures(tmp_path / "nowhere")
    with pytest.raises(TypeError, match="list"):  # of events
        figures(iter(run_of(END)))


# how they are shown


def test_names_are_text_of_any_script():
    """They fit 80 columns of a terminal, and end no line."""
    names = ["<b>x</b>", "x" * 300, "東京都庁の展望室への行き方を調べる道具", "$x$"]
    names.append("a\nb\x1b[31m")
    steps = [asked("1", names[0]), observed("1", tool=names[0])]
    for name, long in zip(names, (1e-6, 0.1, 3600, 1e7, 0), strict=True):
        steps += [asked(name, name), observed(name), moved(name, long)]
    end = END[0], {**END[1], "state": names[2], "reason": names[2]}
    found = figures(run_of(*steps, turn({"input": 10**9}), end, seconds=1e5))
    assert max(map(cell_len, str(found).splitlines())) <= 80
    assert all(sign == "\n" or sign.isprintable() for sign in str(found))
    assert "e+" not in str(found)


@pytest.mark.parametrize("runs", [[], Trace(()), [iter(())]])
def test_nothing_has_no_figures(runs):
    """Of no runs there are no rates, and what is shown says so."""
    found = figures(runs)
    assert (found.counts["runs"], found.ends) == (0, {})
    assert found.totals()["share ok"] is None
    assert "–" in str(found)
