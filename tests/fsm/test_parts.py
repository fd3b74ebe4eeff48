"""Parts of somebody else's in the machine: what they do, a run says and survives."""

import re
from functools import partial

import pytest

from workbook.fsm import (
    CORE,
    Event,
    Machine,
    Rule,
    State,
    Table,
    TextTurns,
    assemble,
    drive,
)
from workbook.fsm.handlers import think
from workbook.loop.turns import Action, Final, parse_turn
from workbook.models.script import Script
from workbook.record import TraceWriter
from workbook.stage import play
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import Tool

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
    """advance, audit and mermaid of a table are the parts that it was given"""
    parts = {"advance": lambda *a: "A", "audit": lambda t: ["B"]}
    table = CORE.using(**parts).using(mermaid=lambda t, lit: f"C {lit}")
    assert table.advance("any", "event") == "A"
    assert (table.audit(), table.mermaid("X")) == (["B"], "C X")
    assert CORE.audit() == []


def test_parts_are_no_part_of_what_a_table_says():
    """tables with the same rows are equal, whatever their parts; more rows keep them"""
    table = CORE.using(audit=lambda t: ["no"])
    assert table == CORE
    assert hash(table) == hash(CORE)
    more = table.with_rules(Rule("A", "b", "C", "d"))
    assert more.audit() == ["no"]


# drivers


def silent(table, handlers, context, emit):
    return drive(table, handlers, context, lambda rule, raised: None)


def forgets_the_last(table, handlers, context, emit):
    def told(rule, raised):
        if rule.target not in table.ends:
            emit(rule, raised)

    return drive(table, handlers, context, told)


def gives_up(table, handlers, context, emit):
    return "THINK"


def breaks(table, handlers, context, emit):
    forgets_the_last(table, handlers, context, emit)
    raise ZeroDivisionError("a bug of the driver's")


def leaves(table, handlers, context, emit):
    raise SystemExit(3)


def invents(table, handlers, context, emit):
    emit(Rule("THINK", "magic", "HEAVEN", ""), None)


def lies(table, handlers, context, emit):
    emit(Rule("OBSERVE", "observed", "THINK", ""), None)


def talks_rubbish(table, handlers, context, emit):
    emit("THINK", "to", "DONE")


@pytest.mark.parametrize(
    ("driver", "words", "events"),
    [
        (silent, "returned 'DONE'.* in THINK", ["failed"]),
        (forgets_the_last, "returned 'DONE'", None),
        (gives_up, "returned 'THINK'", ["failed"]),
        (breaks, "ZeroDivisionError: a bug of the driver's", None),
        (leaves, "SystemExit: 3", ["failed"]),
        (invents, "'HEAVEN'", ["failed"]),
        (lies, "from OBSERVE", ["failed"]),
        (talks_rubbish, "TypeError", ["failed"]),
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
    emit(Rule("DONE", "again", "THINK", ""), None)
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


def test_a_driver_of_ones_own_drives():
    """a driver that keeps its word runs to the answer"""
    end, told = run(drive=knows_only_exceptions)
    assert (end.state, end.answer, len(told)) == ("DONE", "88", 4)


# advance, parse, think


def raising(*arguments):
    raise ZeroDivisionError("a bug of mine")


@pytest.mark.parametrize(
    ("advance", "words"),
    [
        (raising, "a bug of mine"),
        (lambda *a: None, "to None"),
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
        (lambda text: "Action", "returned 'Action'"),
        (lambda text: Final("", 88), "answer=88"),
        (lambda text: Action("", None, ""), "tool=None"),
    ],
)
def test_a_parser_that_goes_wrong_has_failed(parse, words):
    """a parser that raises, or returns no turn, ends the run in ERROR, and says what"""
    end, told = run(adapter=partial(TextTurns, parse=parse))
    assert (end.state, told) == ("ERROR", ["failed"])
    assert words in end.message


def test_a_parser_of_ones_own_reads():
    """text turns are read with the parser that was given"""
    loud = partial(TextTurns, parse=lambda text: parse_turn(text.title()))
    end, _ = run(["FINAL ANSWER: 88"], adapter=loud)
    assert end.answer == "88"


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


def test_without_parts_it_is_the_machine():
    """with no part given, the machine is the package's, with the options given"""
    machine = assemble({}, Script([FINAL]), [ECHO], preamble="Hm.\n")
    assert (machine.table, machine.preamble) == (CORE, "Hm.\n")
    assert machine.run("What?").answer == "88"


@pytest.mark.parametrize(
    "parts", [{"agent_table": raising}, {"audit": raising}, {"audit": lambda t: ["no"]}]
)
def test_parts_of_which_no_machine_can_be_made_end_the_run(parts):
    """where no machine can be assembled, the scenario ends in ERROR and says why"""
    trace = play("price_question", "fsm", parts=parts)
    assert trace.end["state"] == State.ERROR
    assert re.search("a bug of mine|: no", trace.end["message"])
