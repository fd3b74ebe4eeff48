"""Parts of somebody else's in the machine: what they do, a run says and survives."""

import re
from functools import partial

import pytest

from workbook.fsm import (
    CORE,
    Event,
    Machine,
    State,
    Table,
    TextTurns,
    Transition,
    assemble,
    drive,
)
from workbook.fsm.handlers import think
from workbook.loop.turns import Final, parse_turn
from workbook.models.script import Script
from workbook.stage import play
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import Tool
from workbook.traces import TraceWriter

ACT = "Thought: ask\nAction: Echo\nAction Input: 1"
FINAL = "Final Answer: 88"
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}
ECHO = Tool("Echo", "Says it again.", TEXT, lambda text: {"result": text})


def run(turns=(ACT, FINAL), table=CORE, **options):
    """Run a script; return the exit, and the transitions that were told."""
    writer, tools = TraceWriter(), ToolRegistry([ECHO])
    end = Machine(Script(turns), tools, table, hook=writer, **options).run("What?")
    trace = writer.trace()
    rows = trace.of("transition")
    states = [table.start, *(row["target"] for row in rows)]
    assert [row["source"] for row in rows] == states[:-1]
    assert [state for state in states if state in table.ends] == [end.state]
    assert [e["seq"] for e in trace.of("run_finished")] == [len(trace) - 1]
    assert trace.end["state"] == end.state
    calls, seen = trace.of("tool_call"), trace.of("observation")
    assert len(calls) == len([o for o in seen if o["call_id"]])
    return end, [row["event"] for row in rows]


# a table with parts


def test_a_table_uses_its_parts():
    """advance and audit of a table are the parts given, with more rows too"""
    table = CORE.using(advance=lambda *a: "A").using(audit=lambda t: ["B"])
    assert (table.advance("any", "event"), table.audit()) == ("A", ["B"])
    assert table.with_rules(Transition("A", "b", "C", "d")).audit() == ["B"]
    assert (CORE.audit(), table == CORE) == ([], True)


# drivers


def silent(table, handlers, context, emit):
    return drive(table, handlers, context, lambda rule, raised: None)


def forgets_the_last(table, handlers, context, emit):
    def told(rule, raised):
        if rule.target not in table.ends:
            emit(rule, raised)

    return drive(table, handlers, context, told)


def breaks(table, handlers, context, emit):
    forgets_the_last(table, handlers, context, emit)
    raise ZeroDivisionError("a bug of the driver's")


def invents(table, handlers, context, emit):
    emit(Transition("THINK", "magic", "HEAVEN", ""), None)


def lies(table, handlers, context, emit):
    emit(Transition("OBSERVE", "observed", "THINK", ""), None)


@pytest.mark.parametrize(
    ("driver", "words", "events"),
    [
        (silent, "returned 'DONE'.* in THINK", ["failed"]),
        (forgets_the_last, "returned 'DONE'", None),
        (breaks, "ZeroDivisionError: a bug of the driver's", None),
        (invents, "'HEAVEN'", ["failed"]),
        (lies, "from OBSERVE", ["failed"]),
    ],
)
def test_a_driver_that_goes_wrong_has_failed(driver, words, events):
    """whatever a driver does, the run is in one end; in ERROR, a sentence says why"""
    end, told = run(drive=driver)
    assert (end.state, end.reason, end.answer) == ("ERROR", "failed", None)
    assert re.search(words, end.message)
    full = ["tool_requested", "tool_returned", "observed", "failed"]
    assert told == (events or full)


def goes_on(table, handlers, context, emit):
    drive(table, handlers, context, emit)
    emit(Transition("DONE", "again", "THINK", ""), None)
    return drive(table, handlers, context, emit)


def raises_late(table, handlers, context, emit):
    drive(table, handlers, context, emit)
    raise ZeroDivisionError


@pytest.mark.parametrize("driver", [goes_on, raises_late])
def test_an_end_that_was_told_stands(driver):
    """what a driver does after it told of an end changes nothing"""
    end, told = run(drive=driver)
    assert (end.state, end.answer) == ("DONE", "88")
    assert told[-1] == "final_answer"


def knows_only_exceptions(table, handlers, context, emit):
    state = table.start
    while state not in table.ends:
        raised = None
        try:
            event = handlers[state](context)
            table.advance(state, event)
        except Exception as error:
            event, raised = Event.FAILED, error
        rule = table.rows[state, event]
        state = rule.target
        emit(rule, raised)
    return state


def test_a_cancel_that_a_driver_lets_out_is_a_cancel():
    """KeyboardInterrupt out of a driver ends the run in CANCELLED"""
    end, told = run([ACT, KeyboardInterrupt()], drive=knows_only_exceptions)
    assert (end.state, told[-1]) == ("CANCELLED", "cancel")


# advance, parse, think


def raising(*arguments):
    raise ZeroDivisionError("a bug of mine")


@pytest.mark.parametrize(
    ("advance", "words"),
    [
        (raising, "a bug of mine"),
        (lambda *a: "HEAVEN", "'HEAVEN'"),
        (lambda *a: [], "to \\[\\]"),
    ],
)
def test_an_advance_that_goes_wrong_has_failed(advance, words):
    """an advance that raises, or leads to no state, ends the run in ERROR"""
    end, told = run(table=CORE.using(advance=advance))
    assert (end.state, told) == ("ERROR", ["failed"])
    assert re.search(words, end.message)


@pytest.mark.parametrize(
    ("parse", "words"),
    [
        (raising, "a bug of mine"),
        (lambda text: None, "returned None"),
        (lambda text: Final("", 88), "answer=88"),
    ],
)
def test_a_parser_that_goes_wrong_has_failed(parse, words):
    """a parser that raises, or returns no turn, ends the run in ERROR, and says what"""
    end, told = run(adapter=partial(TextTurns, parse=parse))
    assert (end.state, told) == ("ERROR", ["failed"])
    assert words in end.message


# assembled


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
    end = assemble(parts, Script([ACT, FINAL]), [ECHO]).run("What?")
    assert (end.state, end.answer) == ("DONE", "88")
    assert set(used) == set(parts) - {"back_off"}


@pytest.mark.parametrize(
    "parts", [{"agent_table": raising}, {"audit": raising}, {"audit": lambda t: ["no"]}]
)
def test_parts_of_which_no_machine_can_be_made_end_the_run(parts):
    """where no machine can be assembled, the scenario ends in ERROR and says why"""
    trace = play("price_question", "fsm", parts=parts)
    assert trace.end["state"] == State.ERROR
    assert re.search("a bug of mine|: no", trace.end["message"])
