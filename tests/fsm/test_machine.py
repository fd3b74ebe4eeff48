"""The machine: a model and tools behind the table, from question to exit."""

import threading

import pytest

from tests.fsm.playing import ACT, FINAL, machine, play
from workbook.fsm import (
    CORE,
    Event,
    FunctionCalls,
    Limits,
    State,
    Table,
    TextTurns,
    Transition,
    assemble,
    drive,
    exits,
)
from workbook.fsm.handlers import think
from workbook.loop.turns import parse_turn
from workbook.models.base import ToolRequest
from workbook.models.script import Script
from workbook.tools.calculator import calculator
from workbook.traces import TraceWriter


def calls(*numbers):
    """Return a turn with calls; each has its number for a call_id."""
    return [ToolRequest("Roll", {"n": n}, str(n)) for n in numbers]


def noting(made):
    """Return what a tool does that keeps what it is called with."""
    return lambda n: made.append(n) or {"result": n}


def raising(error):
    def run(n):
        raise error

    return run


# a run that goes well


@pytest.mark.parametrize(
    ("adapter", "turn"), [(TextTurns, ACT.format(1)), (FunctionCalls, calls(1))]
)
def test_a_run_is_told_from_its_question_to_its_answer(adapter, turn):
    """a step is: request, turn, transition, call, observation, two transitions"""
    end, trace = play([turn, FINAL], adapter=adapter)
    assert (end.state, end.reason, end.answer) == ("DONE", "final_answer", "7")
    assert (end.spent.steps, end.spent.tool_calls) == (2, 1)
    step = ["model_request", "model_turn", "transition"]
    tool = ["tool_call", "observation", "transition", "transition"]
    kinds = [event["kind"] for event in trace]
    assert kinds == ["run_started", *step, *tool, *step, "run_finished"]


def test_several_calls_are_made_in_order():
    """all calls of a message are made before the model reads; a row names its call"""
    made, turns = [], [calls(1, 2, 3), "88"]
    end, trace = play(turns, noting(made), adapter=FunctionCalls)
    assert made == [1, 2, 3]
    rows = trace.of("transition")
    assert [r["target"] for r in rows][:6] == ["EXECUTE_TOOL", "OBSERVE"] * 3
    ids = [row.get("call_id") for row in rows]
    assert ids == ["1", "1", "2", "2", "3", "3", "3", None]
    assert (end.spent.steps, end.spent.tool_calls) == (2, 3)


@pytest.mark.parametrize(
    ("turn", "kind"),
    [
        ("hm", "unreadable_turn"),
        ("Action: Nope\nAction Input: 1", "unknown_tool"),
        ('Action: Roll\nAction Input: {"words": 1}', "invalid_arguments"),
        (ACT.format(1), "tool_raised"),
    ],
)
def test_what_went_wrong_is_told_to_the_model(turn, kind):
    """no step, no such tool, wrong arguments, a tool that raises: the run goes on"""
    model = Script([turn, FINAL])
    end, trace = play(model, raising(ZeroDivisionError("by zero")))
    assert end.state == State.DONE
    (observation,) = trace.of("observation")
    assert (observation["ok"], observation["error"]["kind"]) == (False, kind)
    assert observation["text"] in model.requests[1].prompt


# limits


def test_tool_calls_run_out_in_the_middle_of_a_message():
    """calls beyond the budget are not made, and each has an observation that says so"""
    made, options = [], {"adapter": FunctionCalls, "limits": Limits(tool_calls=1)}
    end, trace = play([calls(1, 2, 3)], noting(made), **options)
    assert made == [1]
    assert (end.state, end.reason) == ("EXHAUSTED", "out_of_tool_calls")
    errors = [o.get("error", {}).get("kind") for o in trace.of("observation")]
    assert errors == [None, "budget", "budget"]
    assert all("not made" in o["text"] for o in trace.of("observation")[1:])


@pytest.mark.parametrize(
    ("turn", "state"), [(FINAL, "DONE"), (ACT.format(1), "EXHAUSTED")]
)
def test_a_turn_that_came_late(turn, state):
    """an answer that is there is not thrown away; a call is not begun any more"""
    now, made = [0.0], []

    def late(seen):
        now[0] += 10
        return turn

    options = {"clock": lambda: now[0], "limits": Limits(wall_s=10)}
    end, trace = play([late], noting(made), **options)
    assert (end.state, made) == (state, [])
    assert end.spent.wall_s == trace.end["spent"]["wall_s"] == 10


# stop, and what breaks


def test_a_cancel_before_the_run_and_a_run_after_it():
    """a cancel ends one run, also one that has not begun, and not the next"""
    made = machine([FINAL])
    made.cancel()
    assert made.run("What is it?").state == State.CANCELLED
    assert made.model.asked == 0
    assert made.run("What is it?").state == State.DONE


@pytest.mark.parametrize("where", ["model", "tool"])
def test_ctrl_c_ends_the_run_and_not_the_notebook(where):
    """KeyboardInterrupt gives an exit in CANCELLED and a complete trace"""
    turns = [KeyboardInterrupt()] if where == "model" else [ACT.format(1)]
    end, trace = play(turns, raising(KeyboardInterrupt()))
    assert (end.state, end.reason) == ("CANCELLED", "cancel")
    seen = [event["text"] for event in trace.of("observation")]
    assert len(seen) == (where == "tool")
    assert all("may have had its effect" in text for text in seen)


@pytest.mark.parametrize("for_ever", [False, True])
@pytest.mark.parametrize("what", [OSError, SystemExit, KeyboardInterrupt, "cancel"])
def test_whatever_comes_while_an_event_is_told(what, for_ever):
    """a full disk, Ctrl-C, a cancel, once or for ever: the run has its end all the same

    Each call has its observation, and one that could not be written down is not made.
    """
    for number in range(16):
        a_run_in_which_it_comes(number, what, for_ever)


def a_run_in_which_it_comes(number, what, for_ever):
    """Break a run at one of its events, and look at all that it has told."""
    told, ran = [], []

    def hook(kind, **fields):
        told.append((kind, fields.get("call_id"), fields.get("text")))
        if len(told) == number + 1 or (for_ever and len(told) > number):
            if what != "cancel":
                raise what(f"at event {len(told) - 1}")
            thread = threading.Thread(target=made.cancel)
            thread.start()
            thread.join()

    options = {"hook": hook, "adapter": FunctionCalls}
    made = machine([calls(1, 2), "88"], noting(ran), **options)
    end = made.run("What is it?")
    stopped = what in (KeyboardInterrupt, "cancel")
    ends = State.CANCELLED if stopped else State.ERROR
    assert end.state == (State.DONE if number >= 14 else ends)  # it was DONE by then
    assert stopped or f"at event {number}" in end.message
    assert (told[-1][0], len(told) <= 18) == ("run_finished", True)
    assert ran == [1, 2][: (number > 4) + (number > 8)]  # its tool_call was told
    seen = [event for event in told if event[0] == "observation"]
    called = [call_id for kind, call_id, _ in told if kind == "tool_call"]
    assert [call_id for _, call_id, _ in seen] == called == sorted({*called})
    for _, call_id, text in seen:
        assert text.endswith("it was not made") is (int(call_id) not in ran)
    made.model, made.hook = Script(["88"]), TraceWriter()
    assert made.run("What is it?").state == State.DONE


def test_the_model_is_never_told_the_same_thing_twice():
    """OBSERVE without a new observation is an error, not the old one once more"""

    def forgetful(run):
        run.waiting.clear()
        return Event.TOOL_RETURNED

    work = {State.EXECUTE_TOOL: forgetful}
    end = machine(["hm", ACT.format(1)], handlers=work).run("What is it?")
    assert end.state == State.ERROR
    assert "nothing to observe" in end.message


# what is no machine

ON = Transition(State.DONE, Event.OBSERVED, State.THINK, "")
LOOK = (Transition(State.THINK, "x", "VERIFY", ""), *exits("VERIFY"))
NO_EXIT = Transition(State.THINK, Event.FAILED, State.OBSERVE, "go on")


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (CORE.with_rules(ON), "DONE is an end"),
        (CORE.with_rules(*LOOK), "VERIFY has no handler"),
        (CORE.with_rules(NO_EXIT), "THINK needs a row for failed that leads to an end"),
        (CORE.with_rules(start=State.DONE), "it starts in DONE, which is an end"),
    ],
)
def test_a_table_that_cannot_be_run_is_refused(table, words):
    """a table that is not honest, or lacks a handler or an exit, is refused at once"""
    with pytest.raises(ValueError, match=words):
        machine([], table=table)


# parts of somebody else's


def test_a_machine_is_assembled_of_all_its_parts():
    """table, advance, audit, driver, think and parser are those that were given"""
    used = []

    def noted(name, function):
        return lambda *args: used.append(name) or function(*args)

    parts = {
        "agent_table": noted("agent_table", lambda: Table(CORE.rules)),
        "advance": noted("advance", lambda t, s, e: t.rows[s, e].target),
        "audit": noted("audit", lambda table: []),
        "drive": noted("drive", drive),
        "think": noted("think", think),
        "parse_turn": noted("parse_turn", parse_turn),
        "back_off": noted("back_off", print),  # it has no place here
    }
    end = assemble(parts, Script([FINAL]), [calculator()]).run("What?")
    assert (end.state, end.answer) == ("DONE", "7")
    assert set(used) == set(parts) - {"back_off"}
