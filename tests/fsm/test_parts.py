"""Parts of somebody else's in the machine: what they do, a run says and survives."""

import re
from functools import partial

import pytest

from tests.fsm.playing import ACT, FINAL, play
from workbook.fsm import CORE, Event, Table, TextTurns, Transition, assemble, drive
from workbook.fsm.handlers import think
from workbook.loop.turns import Final, parse_turn
from workbook.models.script import Script
from workbook.tools.calculator import calculator


def silent(table, handlers, context, emit):
    return drive(table, handlers, context, lambda rule, raised: None)


def lies(table, handlers, context, emit):
    emit(Transition("OBSERVE", "observed", "THINK", ""), None)


def nowhere(*arguments):
    return "HEAVEN"


def no_state(*arguments):
    return []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"drive": silent}, "returned 'DONE'.* in THINK"),
        ({"drive": lies}, "from OBSERVE"),
        ({"table": CORE.using(advance=nowhere)}, "'HEAVEN'"),
        ({"table": CORE.using(advance=no_state)}, r"to \[\]"),
        ({"adapter": partial(TextTurns, parse=lambda text: None)}, "returned None"),
        ({"adapter": partial(TextTurns, parse=lambda text: Final("", 88))}, "er=88"),
    ],
    ids=range(6),
)
def test_a_part_that_goes_wrong_has_failed(options, words):
    """whatever a part does, the run is in one end; in ERROR, a sentence says why"""
    end, trace = play([FINAL], **options)
    assert end.state == "ERROR"
    assert [row["event"] for row in trace.of("transition")] == ["failed"]
    assert re.search(words, end.message)


def goes_on(table, handlers, context, emit):
    drive(table, handlers, context, emit)
    emit(Transition("DONE", "again", "THINK", ""), None)


def test_an_end_that_was_told_stands():
    """what a driver does after it told of an end changes nothing"""
    end, _ = play([ACT.format(1), FINAL], drive=goes_on)
    assert (end.state, end.reason, end.answer) == ("DONE", "final_answer", "7")


def lets_out(table, handlers, context, emit):
    def told(rule, raised):
        if raised:
            raise raised
        emit(rule, raised)

    return drive(table, handlers, context, told)


@pytest.mark.parametrize(
    ("error", "reason"), [(KeyboardInterrupt(), Event.CANCEL), (OSError(), "failed")]
)
def test_what_a_driver_lets_out_ends_the_run(error, reason):
    """KeyboardInterrupt out of a driver is a cancel, anything else a failure"""
    assert play([ACT.format(1), error], drive=lets_out)[0].reason == reason


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
