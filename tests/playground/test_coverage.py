"""Coverage: which rows of the grounded machine's table scenarios take, and what others.

What no scenario takes is taken here by a small run, which says what has to happen.
"""

from itertools import chain, product

from tests.playground.plays import played
from workbook.fsm import Machine
from workbook.grounding.grounded import grounded
from workbook.guardrails.permission import PolicyRule, Reject, yes
from workbook.guardrails.table import GUARDED
from workbook.models.script import Script
from workbook.playground.engines import SUSPICIOUS
from workbook.playground.scenarios import slugs
from workbook.security.tainted import ADDRESS, with_taint
from workbook.tools.tool import Tool
from workbook.traces.writer import TraceWriter

CALL = 'Action: Note\nAction Input: {"text": "a"}'
WHERE = 'Action: Note\nAction Input: {"text": "https://a.example/n"}'
ASKED_FOR = [WHERE, "Final Answer: It is at https://a.example/n"]


def traced(*turns, then=None, **options):
    """Run a machine of these turns; `then` is told of it and of each event."""
    emit = TraceWriter()

    def hook(kind, **fields):
        emit(kind, **fields)
        if then is not None:
            then(machine, kind, fields)

    schema = {"properties": {"text": {"type": "string"}}, "required": ["text"]}
    note = Tool("Note", "Note a text.", schema, lambda text: {"result": text})
    options |= {"rules": (PolicyRule("allow"),), "hook": hook}
    script = Script([*turns] or [CALL, "Final Answer: done"])
    machine = with_taint(grounded(script, [note], **options))
    machine.run("Note it.")
    return emit.trace()


def disk_is_full(machine):
    raise OSError("the disk is full")


def disturbed():
    """Yield runs in which something happens on the way into each state."""
    for state in {*SUSPICIOUS.states} - {*SUSPICIOUS.ends}:
        first = state == SUSPICIOUS.start
        told = ("run_started", None) if first else ("transition", state)
        for happens in (Machine.cancel, disk_is_full):

            def then(machine, kind, fields, told=told, happens=happens):
                if (kind, fields.get("target")) == told:
                    happens(machine)

            yield traced(*(ASKED_FOR if state == ADDRESS else []), then=then)


def of_addresses():
    """Yield what a person says to an address of the note: yes, no, nothing."""
    for ask in (yes, lambda request: Reject(), lambda request: None):
        yield traced(*ASKED_FOR, ask=ask)


def test_every_row_is_taken_and_no_other():
    """No row is there for nothing: a scenario takes it, or a small run that says why"""
    cases = product(slugs("trust"), ("grounded", "grounded_calls"))
    runs = (played(slug, by)[0] for slug, by in cases)
    runs = chain(runs, disturbed(), of_addresses())
    moves = [event for run in runs for event in run.of("transition")]
    taken = {(event["source"], event["event"], event["target"]) for event in moves}
    rows = {row[:3] for row in SUSPICIOUS.rules}
    assert SUSPICIOUS.audit() == []
    assert taken - rows == set()
    assert rows - taken - {row[:3] for row in GUARDED.rules} == set()
