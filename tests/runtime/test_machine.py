"""The machine: what a run promises from its question to its end, whose parts run."""

import re
import signal
import threading

import pytest

from tests.runtime import playing
from tests.runtime.playing import FINAL, Asked, act, assert_replayed, call, noted, play
from workbook.runtime.budget import Budget, Limits, budget
from workbook.runtime.guard import Guard
from workbook.runtime.guards import all_guards
from workbook.runtime.journal import Journal
from workbook.runtime.machine import Machine
from workbook.runtime.model import Response
from workbook.runtime.permission import permission, yes
from workbook.runtime.replay import resume
from workbook.runtime.run import think
from workbook.runtime.script import Script
from workbook.runtime.table import CORE, Table, Transition, advance, audit, drive, exits
from workbook.runtime.turns import parse_turn

T = Transition

# a run


@pytest.mark.parametrize("chat", [False, True])
def test_a_run_is_recorded_from_its_question_to_its_answer(chat):
    """a step is: request, turn, transition, call, observation, two transitions"""
    turn = call("Note", 1, "a") if chat else act("Note", 1)
    machine = noted([turn, FINAL], chat=chat)
    machine.about = {"seed": 7}
    end = machine.run("?")
    assert_replayed(end, machine)
    assert (end.state, end.reason, end.answer) == ("DONE", "final_answer", "ok")
    assert (end.spent.steps, end.spent.tool_calls) == (2, 1)
    step = ["model_request", "model_turn", "transition"]
    tool = ["tool_call", "observation", "transition", "transition"]
    recorded = [event["kind"] for event in end.trace]
    assert recorded == ["run_started", *step, *tool, *step, "run_finished"]
    started = end.trace.events[0]
    assert (started["chat"], started["tools"], started["seed"]) == (chat, ["Note"], 7)
    assert started["settings"]["limits"]["steps"] == 15


def test_several_calls_are_made_in_order():
    """all calls of a turn are made before the model reads; a row names its call"""
    made = []
    tool = playing.note(run=lambda input: made.append(input) or {})
    turn = [call("Note", n, f"c{n}") for n in range(3)]
    end = play([turn, FINAL], [tool], chat=True)
    ids = [row.get("call_id") for row in end.trace.of("transition")]
    assert (made, ids) == (["0", "1", "2"], ["c0", "c0", "c1", "c1", *["c2"] * 3, None])
    end = play([turn, FINAL], [tool], chat=True, limits=Limits(tool_calls=1))
    assert (end.state, end.reason) == ("EXHAUSTED", "out_of_tool_calls")
    assert (len(end.run.observed), len(end.run.waiting)) == (1, 2)  # not begun


@pytest.mark.parametrize(
    ("turn", "state"), [(FINAL, "DONE"), (act("Note", 1), "EXHAUSTED")]
)
def test_a_turn_that_came_late(turn, state):
    """an answer that is there is not thrown away; a call is not begun any more"""
    now = [0.0]

    def late(request):
        now[0] += 10
        return Response(turn)

    journal = Journal(clock=lambda: now[0])
    end = play(Asked(late, at_once=True), limits=Limits(wall_s=10), journal=journal)
    assert end.state == state
    assert end.trace.of("tool_call") == []
    assert end.spent.wall_s == end.trace.end["spent"]["wall_s"] == 10
    rows = end.trace.of("transition")
    assert [row["elapsed_s"] for row in rows] == [10, 0][: len(rows)]


def test_a_budget_that_nothing_keeps_is_refused():
    """tokens and money need a guard that asks, and a model that keeps to a cap"""
    most = Budget(tokens=99)
    uncapped = Asked(print, name="uncapped")
    with pytest.raises(ValueError, match="uncapped"):
        Machine(uncapped, [], [budget(most)])
    with pytest.raises(ValueError, match="budget"):
        Machine(Script([]), [], limits=most)
    assert Machine(Script([]), [], [budget(most)])
    assert Machine(uncapped, [], [budget(Budget(steps=2))])


@pytest.mark.parametrize(
    ("about", "used"), [({}, (3 + 4, 6)), ({"count": lambda text: 7}, (14, 7))]
)
def test_a_model_that_reports_no_usage(about, used):
    """its tokens are counted by its own `count`, or estimated from bytes"""
    model = Asked(lambda request: Response(FINAL), **about)
    end = play(model, preamble="Be brief.")
    assert (end.spent.usage.input, end.spent.usage.output) == used
    assert end.trace.of("model_turn")[0]["usage"]["estimated"]


# what breaks


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("number", range(1, 16))
def test_ctrl_c_at_any_event(number, parallel, tmp_path):
    """the run has its end, each call that was begun its observation; it can go on"""

    def listener(event):
        if event["seq"] == number:
            signal.raise_signal(signal.SIGINT)

    turns = [[call("Note", 1, "a"), call("Note", 2, "b")], FINAL]
    machine = noted(turns, chat=True, parallel=parallel)
    end = machine.run("?", journal=Journal(tmp_path / "t", listener=listener))
    assert end.state in ("CANCELLED", "DONE")
    assert_replayed(end, machine)
    assert end.spent.tool_calls == len(end.trace.of("tool_call"))
    if end.state != "DONE":
        end = resume(tmp_path / "t", machine)
        assert_replayed(end, machine)
    assert (end.answer, len(end.run.observed)) == ("ok", 2)


@pytest.mark.parametrize(
    ("is_made", "hint"),
    [(True, "It may have had its effect."), (False, "It was not made.")],
)
def test_what_a_stopped_call_may_have_done(is_made, hint):
    """the hint for the model says whether it may have been done"""
    over = threading.Event()

    def press():
        signal.raise_signal(signal.SIGINT)
        over.wait(60)

    def listener(event):
        if event["kind"] == "tool_call" and not is_made:
            signal.raise_signal(signal.SIGINT)

    tool = playing.note(run=lambda input: press())
    machine = noted([act("Note", 1), FINAL], [tool])
    end = machine.run("?", journal=Journal(listener=listener))
    over.set()
    seen = end.trace.of("observation")[0]
    assert (end.state, seen["error"]["hint"]) == ("CANCELLED", hint)


def test_a_listener_that_fails_at_the_end_changes_no_answer(tmp_path):
    """the end that is in the file is the end of the run"""

    def listener(event):
        if event["kind"] == "run_finished":
            raise OSError(28, "No space left on device")

    end = noted([FINAL]).run("?", journal=Journal(tmp_path / "t", listener=listener))
    assert (end.state, end.trace.end["state"]) == ("DONE", "DONE")


@pytest.mark.parametrize("where", ["model", "tool", "person", "guard", "preview"])
@pytest.mark.parametrize("raised", [OSError(2), GeneratorExit(), KeyboardInterrupt()])
def test_whatever_a_model_a_tool_or_a_person_raises(where, raised):
    """it is an end or an observation, never a traceback, and it is so in a replay"""

    def fail(*args, **kwargs):
        raise raised

    def respond(request):
        turns = [act("Note", 1), FINAL]
        return fail() if where == "model" else Response(turns[request.step - 1])

    guards = [Guard("mine", {"THINK": fail} if where == "guard" else {})]
    guards += [permission(fail if where == "person" else yes)]
    run = fail if where == "tool" else lambda input: {}
    preview = fail if where == "preview" else None
    tools = [playing.note(run=run, effect="write", preview=preview)]
    end = play(Asked(respond, at_once=True), tools, guards)
    stopped = isinstance(raised, KeyboardInterrupt)
    assert end.state in (["CANCELLED"] if stopped else ["ERROR", "DONE"])
    assert end.state != "ERROR" or type(raised).__name__ in end.message


# tables and parts of somebody else's

LOOK = (T("THINK", "x", "VERIFY", ""), *exits("VERIFY"))


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (CORE.with_rules(T("DONE", "observed", "THINK")), "DONE is an end"),
        (CORE.with_rules(*LOOK), "VERIFY has no handler"),
        (CORE.with_rules(LOOK[0]), "VERIFY is a trap.*VERIFY has no handler"),
        (
            CORE.with_rules(T("THINK", "failed", "OBSERVE")),
            "THINK needs a row for failed that leads to an end",
        ),
        (CORE.with_rules(start="DONE"), "it starts in DONE, which is an end"),
    ],
)
def test_a_table_that_cannot_be_run_is_refused(table, words):
    """a table that is not honest, or lacks a handler or an exit, is refused at once"""
    with pytest.raises(ValueError, match=words):
        noted([], table=table)


def test_the_diagram_has_the_rows_of_the_table():
    """the arrows are the rows, one for one, those of the guards included"""
    table = noted([], guards=all_guards()).table
    diagram = table.mermaid("PENDING_APPROVAL")
    arrows = re.findall(r"^ +(\w+) --> (\w+) : (\S+)$", diagram, re.MULTILINE)
    assert sorted(arrows) == sorted((r.source, r.target, r.event) for r in table.rules)
    ends = set(re.findall(r"(\w+) --> \[\*\]", diagram))
    assert ends == table.ends >= {*CORE.ends, "STUCK", "SUSPENDED"}
    assert diagram.endswith("class PENDING_APPROVAL now")
    assert table.audit() == []


def test_your_parts_are_the_ones_that_run():
    """table, advance, audit, drive, think and parse_turn, with the guards' rows"""
    ours = {f.__name__: f for f in (advance, audit, drive, think, parse_turn)}
    ours["agent_table"], used = lambda: Table(CORE.rules), []

    def counted(name, function):
        return lambda *args: used.append(name) or function(*args)

    parts = {name: counted(name, part) for name, part in ours.items()}
    tools = [playing.note(effect="write")]
    end = play([act("Note", 1), FINAL], tools, [permission(yes)], parts=parts)
    assert (end.state, set(used)) == ("DONE", {*ours})
    assert "PENDING_APPROVAL" in [event.get("target") for event in end.trace]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"handlers": {"THINK": lambda run: "no_event"}}, "has no row for no_event"),
        ({"parts": {"drive": lambda *args: "DONE"}}, "which is no end"),
        ({"parts": {"advance": lambda *args: 1 / 0}}, "ZeroDivisionError"),
    ],
)
def test_a_part_that_is_wrong_ends_in_error(options, words):
    """what a learner's function raises, or returns, is in the end's message"""
    end = noted([FINAL], **options).run("?")
    assert (end.state, words in end.message) == ("ERROR", True)


# signals, and an outside in your hands


def test_a_cancel_is_of_one_run():
    """a cancel ends one run, also one that has not begun, and not the next"""
    machine = noted([FINAL, FINAL])
    machine.cancel()
    assert machine.run("?").state == "CANCELLED"
    assert machine.model.asked == 0
    assert machine.run("?").state == "DONE"
