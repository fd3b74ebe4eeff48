"""Parts of somebody else's in the machine: what they do, a run says and survives."""

from tests.fsm.playing import FINAL
from workbook.fsm import CORE, Table, assemble, drive
from workbook.fsm.handlers import think
from workbook.loop.turns import parse_turn
from workbook.models.script import Script
from workbook.tools.calculator import calculator


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
