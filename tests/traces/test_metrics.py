"""Figures over any number of runs: what is counted, of how many, and what is not."""

import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from workbook.models.base import Usage
from workbook.stage.engines import ENGINES, play
from workbook.traces.metrics import Rate, Spread, figures
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

# the two exercises, as the package answers them


@pytest.mark.parametrize("engine", ["fsm", "fsm_calls", "guarded", "guarded_calls"])
def test_the_times_of_a_run_are_its_whole_time(engine):
    """All stays together last as long as the run, from question to end."""
    trace = play("price_question", engine)
    stays = packaged_state_times(trace)
    together = sum(sum(times) for times in stays.values())
    assert together == pytest.approx(trace.end["spent"]["wall_s"], abs=1e-3)


CALLS = st.lists(
    st.tuples(
        st.sampled_from(["Search", "Pay", "検索"]), st.integers(0, 2), st.booleans()
    )
)


def by_hand(calls):
    """Return the rate of calls that follow each other, counted another way."""
    retries = 0
    for number, (tool, argument, _) in enumerate(calls):
        same = [each for each in calls[:number] if each[:2] == (tool, argument)]
        retries += bool(same) and not same[-1][2]
    return Rate(sum(ok for *_, ok in calls), len(calls), retries)


@given(CALLS)
def test_the_rate_agrees_with_a_count_by_hand(calls):
    """For all calls that follow each other it counts what is counted by hand."""
    run = run_of(
        *(
            event
            for number, (tool, argument, ok) in enumerate(calls)
            for event in (
                asked(str(number), tool, n=argument),
                observed(str(number), ok=ok, tool=tool),
            )
        )
    )
    assert packaged_success_rate(run) == figures(run).rate == by_hand(calls)


def test_a_tool_that_raised_in_a_loop_leaves_no_observation():
    """The loop of lesson 01 dies with its tool: the call has no place in the rate."""
    trace = play("tool_raises", "naive")
    assert len(trace.of("tool_call")) == packaged_success_rate(trace).calls + 1
    assert figures(trace).counts["calls not observed"] == 1


# what is counted


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("slug", ["price_question", "tool_raises", "two_actions"])
def test_every_engine_has_its_figures(slug, engine):
    """Whatever played a run, its figures are those of its events."""
    trace = play(slug, engine)
    found = figures(trace)
    assert (found.counts["runs"], found.counts["events"]) == (1, len(trace))
    assert found.rate == packaged_success_rate(trace)
    stays = packaged_state_times(trace)
    assert {state: len(times) for state, times in stays.items()} == {
        state: spread.total() for state, spread in found.states.items()
    }
    assert found.counts["turns"] == len(trace.of("model_turn"))
    assert dict(found.ends) == {(trace.end["state"], trace.end["reason"]): 1}


@given(st.lists(st.floats(0, 1e7), min_size=1), st.integers(1, 100))
def test_a_quantile_is_the_exact_one_but_for_its_rounding(numbers, percent):
    """The quantile of rounded numbers is within 0.5 % of that of the numbers."""
    spread = Spread()
    for number in numbers:
        spread.add(number)
    exact = sorted(numbers)[-(-len(numbers) * percent // 100) - 1]
    assert spread.quantile(percent) == pytest.approx(exact, rel=0.005, abs=1e-300)
    assert spread.row()[3] == pytest.approx(sum(numbers), rel=0.005, abs=1e-300)


def test_a_tools_time_is_from_its_call_to_its_observation():
    """What happens between the two, such as a model's turn inside, is part of it."""
    run = run_of(asked("1"), turn({"input": 5}, parent=1), observed("1"), END)
    assert figures(run).tools["Search"] == {2.0: 1}


def test_tokens_are_counted_inside_tools_too_and_the_curve_is_the_agents():
    """A tool that asks the model costs tokens; the prompt that grows is the agent's."""
    inside = turn({"input": 1000, "output": 1, "cached": 0}, parent=1)
    first = turn({"input": 10, "output": 2, "cached": 0})
    run = run_of(first, inside, turn({"input": 30, "output": 2, "cached": 8}))
    found = figures([run, run_of(turn({"input": 20, "output": 2, "cached": 0}))])
    assert found.usage == Usage(1060, 7, 8)
    assert {n: dict(c) for n, c in found.context.items()} == {
        1: {10: 1, 20: 1},
        2: {30: 1},
    }


def test_turns_that_tell_no_tokens_are_told():
    """A model that says nothing of its tokens is no model that took none."""
    silent = [turn(None), turn({}), turn({"input": 9, "output": 1, "estimated": True})]
    found = figures(run_of(*silent))
    names = ("turns", "turns with tokens", "turns estimated")
    assert [found.counts[name] for name in names] == [3, 1, 1]
    assert dict(found.context) == {3: {9: 1}}


def test_ends_by_state_and_reason_and_those_without():
    """A run that was cut short is counted, under what happened last."""
    runs = [run_of(END), run_of(asked("1")), run_of(moved("PENDING", 1, "suspended"))]
    assert figures(runs).ends == {
        ("DONE", "final_answer"): 1,
        ("no end", "after tool_call"): 1,
        ("no end", "after suspended"): 1,
    }


# files, broken ones, and any number of them


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return the bytes of a trace."""
    path = tmp_path_factory.mktemp("whole") / "run.jsonl"
    return play("two_actions", "fsm").save(path).read_bytes()


@settings(max_examples=50)
@given(st.floats(0, 1))
def test_a_file_that_ends_anywhere_counts_up_to_there(whole, tmp_path_factory, share):
    """A cut anywhere loses what is behind it, is told, and raises nothing."""
    end = round(share * len(whole))
    path = tmp_path_factory.mktemp("cut") / "run.jsonl"
    path.write_bytes(whole[:end])
    lines = whole[:end].count(b"\n") + (whole[end : end + 1] == b"\n")
    torn = len(whole[:end].splitlines()) > lines
    found = figures(path)
    assert (found.counts["events"], len(found.lost)) == (lines, torn)
    assert found.counts["runs"] == (lines > 0)


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
    assert (found.counts["runs"], found.rate) == (2, Rate(2, 2, 0))
    assert found.lost == []
    assert figures(sorted(tmp_path.rglob("[ab].jsonl"))).counts["runs"] == 2
    assert figures(str(tmp_path / "a.jsonl")).counts["runs"] == 1


def test_what_is_not_there_is_told_by_its_name(tmp_path):
    """A wrong path is not a folder without traces."""
    with pytest.raises(FileNotFoundError, match="nowhere"):
        figures(tmp_path / "nowhere")


def test_one_event_is_not_a_run():
    """A stream of events has to be given as a run in a list; a sentence says so."""
    with pytest.raises(TypeError, match="list"):
        figures(iter(run_of(END)))


def many_events(number):
    """Yield a run of so many events, its calls and tokens all different."""
    yield from run_of().events
    for n in range((number - 2) // 5):
        steps = [
            turn({"input": n, "output": n % 100, "cached": 0}),
            moved("THINK", (n % 9973) / 1000, "tool_requested", "EXECUTE_TOOL"),
            asked(f"call_{n}", f"tool {n % 20}", q=f"question {n}"),
            observed(f"call_{n}", f"answer {n}", n % 7 > 0),
            moved("EXECUTE_TOOL", n / 7, "observed"),
        ]
        for kind, fields in steps:
            yield {"trace_id": "r", "kind": kind, "at_s": n / 3, **fields}
    kind, fields = END
    yield {"trace_id": "r", "kind": kind, "at_s": 1e6, **fields}


@pytest.mark.in_ci
def test_memory_is_flat():
    """200,000 events of one run pass in less than 30 MB."""
    tracemalloc.start()
    found = figures([many_events(200_000)])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.counts["events"] == pytest.approx(200_000, abs=5)
    assert peak < 30e6


# how they are shown


HOSTILE = [
    "<b>x</b>",
    "x" * 300,
    "東京都庁の展望室への行き方を調べる道具",
    "a\nb\x1b[31m",
    "$x$",
]


def test_as_text_it_has_80_columns():
    """A terminal of 80 columns shows all tables, with names in any script."""
    steps = [asked("1", HOSTILE[0]), observed("1", tool=HOSTILE[0])]
    for name, long in zip(HOSTILE, (1e-6, 0.1, 3600, 1e7, 0), strict=True):
        steps += [asked(name, name), observed(name), moved(name, long)]
    end = END[0], {**END[1], "state": HOSTILE[2], "reason": HOSTILE[2]}
    shown = str(figures(run_of(*steps, turn({"input": 10**9}), end, seconds=1e5)))
    assert max(map(cell_len, shown.splitlines())) <= 80
    assert all(sign == "\n" or sign.isprintable() for sign in shown)
    assert "e+" not in shown


def test_in_a_notebook_names_are_text():
    """No tag and no formula of a tool's name gets into the page."""
    steps = [event for name in HOSTILE for event in (asked(name, name), observed(name))]
    page = figures(run_of(*steps))._repr_html_()
    assert "<b>x</b>" not in page
    assert "&lt;b&gt;x&lt;/b&gt;" in page
    assert page.startswith("<div class='mathjax_ignore'>")


@pytest.mark.parametrize("runs", [[], Trace(()), [Trace(())], [iter(())]])
def test_nothing_has_no_figures(runs):
    """Of no runs there are no rates, and what is shown says so."""
    found = figures(runs)
    assert (found.counts["runs"], found.rate.share, found.ends) == (0, None, {})
    assert found.totals()["share ok"] is None
    assert "–" in str(found)
    assert found._repr_html_()
