"""Engines run on the learner's parts, name the one that breaks, and go on with ours."""

import contextlib

import pytest

from tests.learner import solve, spoil
from workbook import your_parts
from workbook.checks.catalogue import exercises
from workbook.runtime.machine import Machine
from workbook.runtime.trace import Trace
from workbook.stage import load, play
from workbook.worlds.calculator import calculator

pytestmark = pytest.mark.usefixtures("own_data")

MACHINE = [
    "parse_turn", "validate_arguments", "repair_arguments", "safe_eval", "agent_table",
    "advance", "audit", "drive", "think",
]  # fmt: skip
GUARDED = ["within_budget", "find_cycle", "same_search", "fit_context"]
GUARDED += MACHINE
ASKS = {"same_search": "same_call_forever", "fit_context": "drift"}


@contextlib.contextmanager
def ours_refused():
    """Let every answer of the package's raise, whoever has imported it."""

    def refused(*args, **kwargs):
        raise AssertionError("the package's own answer was called")

    functions = [exercise.function() for exercise in exercises().values()]
    before = [function.__code__ for function in functions]
    try:
        for function in functions:
            function.__code__ = refused.__code__
        yield
    finally:
        for function, code in zip(functions, before, strict=True):
            function.__code__ = code


@pytest.mark.parametrize("slugs", [MACHINE, MACHINE[1:]], ids=["all", "all but one"])
def test_the_machine_runs_on_the_learners_parts_alone(slugs):
    """no answer of ours is called; if one of the parts is ours, that is noticed"""
    solve(*slugs)
    parts, price = your_parts(*MACHINE), load("price_question")
    tools = [calculator(evaluate=parts["safe_eval"])]
    with ours_refused():
        ended = Machine(price.script(), tools, parts=parts).run(price.question)
    if slugs != MACHINE:
        assert ended.state == "ERROR"
        assert "own answer was called" in ended.message
        return
    assert {part.whose for part in parts.values()} == {"yours"}
    assert (ended.state, ended.answer) == ("DONE", "88"), ended.message
    said = parts.line()
    assert said.endswith(f" · yours: {len(MACHINE)} parts")


@pytest.mark.parametrize(("engine", "used"), [("fsm", MACHINE), ("guarded", GUARDED)])
def test_a_broken_part_is_named_and_the_next_run_has_ours(engine, used, capsys):
    """whichever part breaks, a run says whose it is, and where; the next is well"""
    solve(*used)
    for slug in used:
        scenario = ASKS.get(slug, "price_question")
        whole = play(scenario, engine, parts=your_parts(*used)).end["answer"]
        said = capsys.readouterr().out
        assert "· yours: " in said
        assert "ours: " not in said.replace("yours: ", "")
        spoil(slug)
        trace = play(scenario, engine, parts=your_parts(*used))
        broke = f"your {slug} broke in line 2"
        assert broke in capsys.readouterr().out
        assert broke in " ".join(str(event) for event in trace)
        assert trace.end["state"] == "ERROR" or slug == "safe_eval", slug  # a tool's
        again = play(scenario, engine, parts=your_parts(*used))
        assert again.end["answer"] == whole, slug
        said = capsys.readouterr().out
        assert said.partition("; ours: ")[2].splitlines()[0] == slug, said
        solve(slug)


def test_rubbish_from_a_part_is_named(capsys):
    """a part that returns nonsense is named, and nothing gets out of the run"""
    solve(*MACHINE)
    for slug in MACHINE:
        spoil(slug, "def {slug}(*args, **kwargs):\n    return object()\n")
        trace = play("price_question", "fsm", parts=your_parts(*MACHINE))
        assert isinstance(trace, Trace)
        assert f"your {slug} returned" in capsys.readouterr().out
        solve(slug)
