"""The machine: a table that says what may follow what, and a driver that follows it.

The table is data and can be audited and drawn; the driver is a few lines; the work of
each state is a handler. It knows no file format and no framework.
"""

from workbook.fsm.conversations import (
    Asked,
    Conversation,
    FunctionCalls,
    Reply,
    TextTurns,
)
from workbook.fsm.handlers import HANDLERS, Handler
from workbook.fsm.limits import Limits, Spent
from workbook.fsm.machine import Exit, Machine, drive
from workbook.fsm.run import Run
from workbook.fsm.table import (
    CORE,
    TERMINAL,
    Event,
    IllegalTransition,
    Rule,
    State,
    Table,
    advance,
    audit,
    exits,
    mermaid,
)

__all__ = [
    "CORE",
    "HANDLERS",
    "TERMINAL",
    "Asked",
    "Conversation",
    "Event",
    "Exit",
    "FunctionCalls",
    "Handler",
    "IllegalTransition",
    "Limits",
    "Machine",
    "Reply",
    "Rule",
    "Run",
    "Spent",
    "State",
    "Table",
    "TextTurns",
    "advance",
    "audit",
    "drive",
    "exits",
    "mermaid",
]
