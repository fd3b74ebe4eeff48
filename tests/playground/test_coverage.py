"""Coverage: which rows of the machines' tables scenarios take, and what takes others.

What no scenario takes is taken here by a small run, which says what has to happen.
"""

import pytest

from workbook.fsm import CORE, FunctionCalls, Limits, Machine
from workbook.grounding.grounded import grounded
from workbook.guardrails.budget import Budget, Prices
from workbook.guardrails.machine import guarded
from workbook.guardrails.permission import Edit, PolicyRule, Reject, yes
from workbook.guardrails.table import GUARDED
from workbook.models.base import ToolRequest
from workbook.models.script import Script
from workbook.playground.engines import SUSPICIOUS, play
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


MACHINES = {"CORE": (CORE, core, Limits), "GUARDED": (GUARDED, with_guards, Budget)}
MACHINES |= {"SUSPICIOUS": (SUSPICIOUS, with_trust, Budget)}


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


def entering(state, table):
    """Return whether an event tells that a state is entered."""
    told = ("run_started", None) if state == table.start else ("transition", state)
    return lambda kind, fields: (kind, fields.get("target")) == told


def leading_to(state):
    """Return the turns of a run that comes to a state."""
    return ASKED_FOR if state == ADDRESS else []


def stopped_in(make, state, table):
    """The user says stop while the machine is on its way into the state."""
    enters = entering(state, table)

    def then(machine, kind, fields):
        if enters(kind, fields):
            machine.cancel()

    return traced(make, *leading_to(state), then=then)


def failed_in(make, state, table):
    """The disk is full as the way into the state is written down."""
    enters = entering(state, table)

    def then(machine, kind, fields):
        if enters(kind, fields):
            raise OSError("the disk is full")

    return traced(make, *leading_to(state), then=then)


def late_after(make, limits, late):
    """The time of the run is over once this has been told."""
    now = [0.0]

    def then(machine, kind, fields):
        now[0] += 1000 * (kind == late)

    return traced(make, then=then, limits=limits(wall_s=60), clock=lambda: now[0])


def small_runs(name):
    """Yield what happens, and a run in which it does: what no scenario has."""
    table, make, limits = MACHINES[name]
    for state in table.states:
        if state not in table.ends:
            yield f"the user says stop before {state}", stopped_in(make, state, table)
            yield f"the disk is full before {state}", failed_in(make, state, table)
    if name == "SUSPICIOUS":
        answers = {"yes": yes, "no": lambda r: Reject(), "nothing": lambda r: None}
        for said, ask in answers.items():
            asked = traced(make, *ASKED_FOR, ask=ask)
            yield f"a person says {said} to an address of the note", asked
        return  # what it has besides is the guarded machine's
    yield "time is over before a turn", late_after(make, limits, "observation")
    yield "time is over before a call", late_after(make, limits, "model_turn")
    two_at_once = traced(make, *TWO_AT_ONCE, adapter=FunctionCalls)
    yield "a message asks for two calls", two_at_once
    # The guarded machine asks for an answer in time, unless it is told not to.
    more = {"converge": False} if name == "GUARDED" else {}
    one_step, one_call = limits(steps=1), limits(tool_calls=1)
    yield "one turn is allowed", traced(make, CALL, limits=one_step, **more)
    yield "one call is allowed", traced(make, CALL, OTHER, limits=one_call, **more)
    if name == "GUARDED":
        prices = Prices("EUR", "made up", input=1e6, output=1e6, cached=0.0)
        tokens, money = Budget(tokens=5), Budget(money=5, prices=prices)
        yield "a prompt is too long", traced(make, limits=tokens, **more)
        yield "a prompt is too dear", traced(make, limits=money, **more)
        yield "nobody is there to ask", traced(make, ask=lambda request: None)
        answers = iter([Edit({"text": 1}), Edit({"text": "c"})])
        edited = traced(make, ask=lambda request: next(answers))
        yield "a person changes the call, first to a wrong one", edited


SCENARIOS = {
    "CORE": ("fsm", "fsm_calls"),
    "GUARDED": ("guarded", "guarded_calls"),
    "SUSPICIOUS": ("grounded", "grounded_calls"),
}
WINGS = {"SUSPICIOUS": "trust"}
BEFORE = {"SUSPICIOUS": GUARDED}  # of whose rows the others speak


def ways(*traces):
    """Return the transitions of traces: source, event and target of each."""
    moved = (event for trace in traces for event in trace.of("transition"))
    return {(event["source"], event["event"], event["target"]) for event in moved}


@pytest.fixture(scope="module", params=MACHINES)
def taken(request):
    """Return a machine's rows, what its scenarios take, and small runs by what happens.

    Of the rows those are left out of which another machine's cases speak.
    """
    table = MACHINES[request.param][0]
    engines = SCENARIOS[request.param]
    wing, before = WINGS.get(request.param, ""), BEFORE.get(request.param)
    played = [play(slug, engine) for slug in slugs(wing) for engine in engines]
    small = {why: ways(run) for why, run in small_runs(request.param)}
    known = {row[:3] for row in before.rules} if before else set()
    return {row[:3] for row in table.rules}, known, ways(*played), small


def test_every_row_is_taken(taken):
    """No row of a table is there for nothing: a scenario takes it, or a small run."""
    rows, known, by_scenarios, small = taken
    assert rows - known <= by_scenarios.union(*small.values())


def test_no_run_leaves_the_table(taken):
    """Whatever happens, each transition is a row of the table."""
    rows, _, by_scenarios, small = taken
    assert by_scenarios.union(*small.values()) <= rows
