"""Engines run on the learner's parts, name the one that breaks, and go on with ours."""

import contextlib
import functools
import re

import pytest

from tests.learner import solve, spoil
from workbook import your_parts
from workbook.exercises.catalogue import exercises
from workbook.fsm import TextTurns, assemble
from workbook.models.script import Script
from workbook.playground import gallery, load, play
from workbook.tools.calculator import calculator
from workbook.traces import Trace

pytestmark = pytest.mark.usefixtures("own_data")

MACHINE = [
    "parse_turn", "validate_arguments", "repair_arguments", "safe_eval", "agent_table",
    "advance", "audit", "drive", "think",
]  # fmt: skip
MACHINE = [s for s in MACHINE if s in exercises()]


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


def test_the_machine_runs_on_the_learners_parts_alone(capsys):
    """the price question runs on the learner's parts; no answer of ours is called"""
    solve(*MACHINE)
    parts = your_parts(*MACHINE)
    assert {part.whose for part in parts.values()} == {"yours"}
    price = load("price_question")
    tools = [calculator(evaluate=parts["safe_eval"])]
    with ours_refused():
        ended = assemble(parts, price.script(), tools).run(price.question)
    assert (ended.state, ended.answer) == ("DONE", "88"), ended.message
    said = parts.line()
    assert said.endswith(f" {len(MACHINE)} of {len(MACHINE)} are yours")


def test_ours_is_noticed():
    """the test above would fail if one of the parts were the package's"""
    solve(*MACHINE[1:])
    price = load("price_question")
    parts = your_parts(*MACHINE)
    with ours_refused():
        ended = assemble(parts, price.script(), [calculator()]).run(price.question)
    assert ended.state == "ERROR"
    assert "own answer was called" in ended.message


@pytest.mark.parametrize("slug", MACHINE)
def test_a_broken_part_is_named_and_the_next_run_has_ours(slug, capsys):
    """with any part broken a run says whose part broke, and where; the next is well"""
    solve(*MACHINE)
    spoil(slug)
    parts = your_parts(*MACHINE)
    trace = play("price_question", "fsm", parts=parts)
    said = capsys.readouterr().out
    assert f"your {slug} broke in line 3" in said
    told = " ".join(str(event) for event in trace)
    assert f"your {slug} broke in line 3" in told
    trace = play("price_question", "fsm", parts=your_parts(*MACHINE))
    assert (trace.end["state"], trace.end["answer"]) == ("DONE", "88")
    assert "ours: " + slug in capsys.readouterr().out


GUARDED = ["within_budget", "find_cycle", "same_search", "fit_context"]
GUARDED += [slug for slug in MACHINE if slug != "agent_table"]  # it has its own


@pytest.mark.parametrize("slug", GUARDED)
def test_so_it_is_with_guards(slug, capsys):
    """the guarded machine uses each part, names it where it breaks, and ends"""
    asks = {"same_search": "same_call_forever", "fit_context": "drift"}
    scenario = asks.get(slug, "price_question")
    solve(*GUARDED)
    whole = play(scenario, "guarded", parts=your_parts(*GUARDED))
    assert re.search(r" (\d+) of \1 are yours", capsys.readouterr().out)
    spoil(slug)
    trace = play(scenario, "guarded", parts=your_parts(*GUARDED))
    assert f"your {slug} broke in line 3" in capsys.readouterr().out
    assert trace.end["state"] == "ERROR" or slug == "safe_eval"  # it is a tool's
    again = play(scenario, "guarded", parts=your_parts(*GUARDED))
    assert again.end["answer"] == whole.end["answer"]


@pytest.mark.parametrize("slug", MACHINE)
def test_rubbish_from_a_part_is_named(slug, capsys):
    """a part that returns nonsense is named, and nothing gets out of the run"""
    solve(*MACHINE)
    spoil(slug, "def {slug}(*args, **kwargs):\n    return object()\n")
    trace = play("price_question", "fsm", parts=your_parts(*MACHINE))
    assert isinstance(trace, Trace)
    assert f"your {slug} returned" in capsys.readouterr().out


@pytest.mark.parametrize("slug", ["parse_turn", "build_history", "naive_loop"])
def test_the_loops_take_parts(slug, capsys):
    """the loops of lesson 01 run on the learner's loop, parser and history"""
    solve("parse_turn", "build_history", "naive_loop")
    engine = "naive" if slug == "naive_loop" else "reading"
    trace = play("price_question", engine, parts=your_parts(slug))
    assert trace.end["answer"] == "88"
    assert f"yours: {slug}" in capsys.readouterr().out


def test_a_gallery_says_once_whose_parts_it_used(capsys):
    """a gallery of many runs has one line about its parts"""
    solve("parse_turn")
    gallery(["reading"], parts=your_parts("parse_turn"))
    assert capsys.readouterr().out.count("parts in this run") == 1


def test_a_parser_of_ones_own_reads():
    """a parser is plugged in through an argument"""
    solve("parse_turn")
    parts = your_parts("parse_turn")
    script = Script(["Final Answer: 4"])
    adapter = functools.partial(TextTurns, parse=parts["parse_turn"])
    assert assemble({}, script, [], adapter=adapter).run("2+2?").answer == "4"
    assert parts.line() == "parts in this run · yours: parse_turn"
