"""Coverage: which rows of the grounded machine's table scenarios take, and what others.

What no scenario takes is taken here by a small run, which says what has to happen.
"""

from itertools import chain, product

from tests.stage.plays import played
from workbook.lessons.grounding import VERIFY, grounding
from workbook.lessons.untrusted import taint
from workbook.runtime.guards import all_guards
from workbook.runtime.journal import Journal
from workbook.runtime.machine import Machine
from workbook.runtime.permission import PolicyRule, Reject, yes
from workbook.runtime.script import Script
from workbook.runtime.tools import Tool
from workbook.stage.machines import table_of
from workbook.stage.scenarios import slugs

CALL = 'Action: Note\nAction Input: {"text": "a"}'
WHERE = 'Action: Note\nAction Input: {"text": "https://a.example/n"}'
ASKED_FOR = [WHERE, "Final Answer: It is at https://a.example/n"]


def traced(*turns, then=None, person=None, parts=None):
    """Run a machine of these turns; `then` gets it and each event."""
    schema = {"properties": {"text": {"type": "string"}}, "required": ["text"]}
    note = Tool("Note", "Note a text.", schema, lambda text: {"result": text})
    guards = all_guards(person=person, rules=[PolicyRule("allow")])
    guards = [*grounding(), taint(person, then=VERIFY), *guards]
    script = Script([*turns] or [CALL, "Final Answer: done"])
    machine = Machine(script, [note], guards, parts=parts)
    journal = Journal(listener=then and (lambda event: then(machine, event)))
    return machine.run("Note it.", journal=journal).trace


def fails(*given, **options):
    raise OSError("the disk is full")


def disturbed():
    """Yield runs that are cancelled on the way into each state, or fail in it."""
    for state in {*table_of("grounded").states} - {*table_of("grounded").ends}:
        first = state == table_of("grounded").start
        place = ("run_started", None) if first else ("transition", state)

        def then(machine, event, place=place):
            if (event["kind"], event.get("target")) == place:
                machine.cancel()

        yield traced(then=then)
    for part in ("may_flow", "audit_answer"):  # of an address, of an answer
        yield traced("Final Answer: done", parts={part: fails})


def of_addresses():
    """Yield what a person says to an address of the note: yes, no, nothing."""
    for person in (yes, lambda request: Reject(), lambda request: None):
        yield traced(*ASKED_FOR, person=person)


def test_every_row_is_taken_and_no_other():
    """No row is there for nothing: a scenario takes it, or a small run that says why"""
    cases = product(slugs("trust"), ("grounded", "grounded_calls"))
    runs = (played(slug, by)[0] for slug, by in cases)
    runs = chain(runs, disturbed(), of_addresses())
    moves = [event for run in runs for event in run.of("transition")]
    taken = {(event["source"], event["event"], event["target"]) for event in moves}
    rows = {row[:3] for row in table_of("grounded").rules}
    assert table_of("grounded").audit() == []
    assert taken - rows == set()
    assert rows - taken - {row[:3] for row in table_of("guarded").rules} == set()
