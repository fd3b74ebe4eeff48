"""Coverage: which rows of the machines' tables scenarios take, and what takes others.

What no scenario takes is taken here by a small run, which says what has to happen.
"""

from itertools import chain, product

import pytest

from tests.playground.plays import played
from workbook.fsm import FunctionCalls, Limits, Machine
from workbook.grounding.grounded import grounded
from workbook.guardrails.budget import Budget, Prices
from workbook.guardrails.machine import guarded
from workbook.guardrails.permission import Edit, PolicyRule, Reject, yes
from workbook.models.base import ToolRequest
from workbook.models.script import Script
from workbook.playground.engines import ENGINES
from workbook.playground.scenarios import slugs
from workbook.security.tainted import ADDRESS, with_taint
from workbook.tools.calls import Effect
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import Tool
from workbook.traces.writer import TraceWriter

CALL = 'Action: Note\nAction Input: {"text": "a"}'
OTHER = 'Action: Note\nAction Input: {"text": "b"}'
WHERE = 'Action: Note\nAction Input: {"text": "https://a.example/n"}'
ASKED_FOR = [WHERE, "Final Answer: It is at https://a.example/n"]
ANSWER = "Final Answer: done"
TWO_AT_ONCE = [[ToolRequest("Note", {"text": text}) for text in "ab"], "done"]


def note(effect=Effect.READ):
    schema = {"properties": {"text": {"type": "string"}}, "required": ["text"]}
    return Tool("Note", "Note a text.", schema, lambda text: {"result": text}, effect)


def core(turns, hook, **options):
    return Machine(Script(turns), ToolRegistry([note()]), hook=hook, **options)


def with_guards(turns, hook, effect=Effect.WRITE, ask=yes, limits=None, **options):
    options |= {"budget": limits or Budget()}
    return guarded(Script(turns), [note(effect)], ask=ask, hook=hook, **options)


def with_trust(turns, hook, **options):
    options |= {"rules": (PolicyRule("allow"),), "hook": hook}
    return with_taint(grounded(Script(turns), [note()], **options))


def traced(make, *turns, then=None, **options):
    """Run a machine of these turns; `then` is told of it and of each event."""
    emit = TraceWriter()

    def hook(kind, **fields):
        emit(kind, **fields)
        if then is not None:
            then(machine, kind, fields)

    machine = make(list(turns) or [CALL, ANSWER], hook, **options)
    machine.run("Note it.")
    return emit.trace()


def disk_is_full(machine):
    raise OSError("the disk is full")


def disturbed(make, table):
    """Yield runs in which something happens on the way into each state."""
    for state in table.states:
        told = ("run_started", None) if state == table.start else ("transition", state)
        for happens in (Machine.cancel, disk_is_full):

            def then(machine, kind, fields, told=told, happens=happens):
                if (kind, fields.get("target")) == told:
                    happens(machine)

            if state not in table.ends:
                turns = ASKED_FOR if state == ADDRESS else []
                yield traced(make, *turns, then=then)


def late_after(make, limits, late):
    """The time of the run is over once this has been told."""
    now = [0.0]

    def then(machine, kind, fields):
        now[0] += 1000 * (kind == late)

    return traced(make, then=then, limits=limits(wall_s=60), clock=lambda: now[0])


def of_both(make, limits, **more):
    """Yield what no scenario has: time is over, two calls at once, one is allowed."""
    yield late_after(make, limits, "observation")
    yield late_after(make, limits, "model_turn")
    yield traced(make, *TWO_AT_ONCE, adapter=FunctionCalls)
    yield traced(make, CALL, limits=limits(steps=1), **more)
    yield traced(make, CALL, OTHER, limits=limits(tool_calls=1), **more)


def of_guards(make, **more):
    """Yield a prompt too long, one too dear, nobody to ask, and a call that is changed.

    It is changed twice, as the first change is a wrong one.
    """
    prices = Prices("EUR", "made up", input=1e6, output=1e6, cached=0.0)
    for least in (Budget(tokens=5), Budget(money=5, prices=prices)):
        yield traced(make, limits=least, **more)
    answers = iter([Edit({"text": 1}), Edit({"text": "c"})])
    for ask in (lambda request: None, lambda request: next(answers)):
        yield traced(make, ask=ask, **more)


def of_addresses():
    """Yield what a person says to an address of the note: yes, no, nothing."""
    for ask in (yes, lambda request: Reject(), lambda request: None):
        yield traced(with_trust, *ASKED_FOR, ask=ask)


NOT_IN_TIME = {"converge": False}  # else the guarded machine asks for an answer in time
MACHINES = {"fsm": core, "guarded": with_guards, "grounded": with_trust}
SMALL = {
    "fsm": lambda: of_both(core, Limits),
    "guarded": lambda: chain(
        of_both(with_guards, Budget, **NOT_IN_TIME),
        of_guards(with_guards, **NOT_IN_TIME),
    ),
    "grounded": of_addresses,  # what it has besides is the guarded machine's
}


@pytest.mark.parametrize("engine", MACHINES)
def test_every_row_is_taken_and_no_other(engine):
    """No row is there for nothing: a scenario takes it, or a small run that says why"""
    table, wing = ENGINES[engine].table, "trust" if engine == "grounded" else ""
    cases = product(slugs(wing), (engine, f"{engine}_calls"))
    runs = (played(slug, by)[0] for slug, by in cases)
    small = chain(disturbed(MACHINES[engine], table), SMALL[engine]())
    moves = [event for run in chain(runs, small) for event in run.of("transition")]
    taken = {(event["source"], event["event"], event["target"]) for event in moves}
    rows = {row[:3] for row in table.rules}
    known = {row[:3] for row in ENGINES["guarded"].table.rules if wing}
    assert table.audit() == []
    assert taken - rows == set()
    assert rows - taken - known == set()
