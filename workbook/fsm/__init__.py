"""The machine: a table that says what may follow what, and a driver that follows it.

The table is data and can be audited and drawn; the driver is a few lines; the work of
each state is a handler. It knows no file format and no framework.
"""

from workbook.fsm.adapters import FunctionCalls, TextTurns
from workbook.fsm.assemble import assemble
from workbook.fsm.handlers import HANDLERS
from workbook.fsm.limits import Limits
from workbook.fsm.machine import Machine, RunResult, drive
from workbook.fsm.table import (
    CORE,
    Event,
    IllegalTransition,
    State,
    Table,
    Transition,
    exits,
)

__all__ = [
    "CORE",
    "HANDLERS",
    "Event",
    "FunctionCalls",
    "IllegalTransition",
    "Limits",
    "Machine",
    "RunResult",
    "State",
    "Table",
    "TextTurns",
    "Transition",
    "assemble",
    "drive",
    "exits",
]
