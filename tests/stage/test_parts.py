"""Engines run on the learner's parts, name the one that breaks, and go on with ours."""

import contextlib

import pytest

from tests.learner import RAISES, solve, spoil
from workbook import your_parts
from workbook.checks.catalogue import exercises
from workbook.runtime.machine import Machine
from workbook.stage import load, play
from workbook.worlds.calculator import calculator

pytestmark = pytest.mark.usefixtures("own_data")

MACHINE = [
    "parse_turn", "validate_arguments", "repair_arguments", "safe_eval", "agent_table",
    "advance", "audit", "drive", "think",
]  # fmt: skip
GUARDED = [*MACHINE, "within_budget", "find_cycle", "same_search", "fit_context"]
ASKS = {"same_search": "same_call_forever", "fit_context": "drift"}
RUBBISH = "def {slug}(*args, **kwargs):\n    return object()\n"


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


def test_the_machine_runs_on_the_learners_parts_alone():
    """no answer of ours is called"""
    solve(*MACHINE)
    parts, price = your_parts(*MACHINE), load("price_question")
    tools = [calculator(evaluate=parts["safe_eval"])]
    with ours_refused():
        ended = Machine(price.script(), tools, parts=parts).run(price.question)
    assert (ended.state, ended.answer) == ("DONE", "88"), ended.message
    assert parts.line().endswith(f" · yours: {len(MACHINE)} parts")


@pytest.mark.parametrize(
    ("engine", "used", "body", "words"),
    [
        ("guarded", GUARDED, RAISES, "your {} broke in line 2"),
        ("fsm", MACHINE, RUBBISH, "your {} returned"),
    ],
)
def test_a_broken_part_is_named_and_the_next_run_has_ours(
    engine, used, body, words, capsys
):
    """whichever part breaks, nothing gets out of the run; the next has the same end"""
    solve(*used)
    for slug in used:
        scenario = ASKS.get(slug, "price_question")
        whole = play(scenario, engine, parts=your_parts(*used)).end["answer"]
        spoil(slug, body)
        trace = play(scenario, engine, parts=your_parts(*used))
        assert words.format(slug) in capsys.readouterr().out
        if body == RAISES:
            assert trace.end["state"] == "ERROR" or slug == "safe_eval", slug  # a tool
            assert words.format(slug) in " ".join(map(str, trace))
            again = play(scenario, engine, parts=your_parts(*used))
            assert again.end["answer"] == whole, slug
            ours = capsys.readouterr().out.partition("; ours: ")[2]
            assert ours.splitlines()[0] == slug
        solve(slug)
