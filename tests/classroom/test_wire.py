"""What crosses the line between the judge and a learner's process is data."""

import decimal
import os
import threading
from fractions import Fraction
from unittest import mock

import pytest

from workbook.classroom.channel import Channel, Gone
from workbook.classroom.remote import Foreign
from workbook.classroom.wire import Wire, WireError
from workbook.fsm.table import CORE, IllegalTransition, State
from workbook.loop.turns import Action, parse_turn
from workbook.trust.consensus import vote


class Word(str):
    """A text that says it equals everything."""

    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


class Mine:
    def __eq__(self, other):
        return True

    __hash__ = object.__hash__


@pytest.fixture
def ends():
    """Return the two ends of a line: the judge's, and the learner's."""
    down, up = os.pipe(), os.pipe()
    judge = Channel(up[0], down[1], trusted=False)
    learner = Channel(down[0], up[1], trusted=True)
    threading.Thread(target=learner.serve_forever, daemon=True).start()
    yield judge, learner
    closing = threading.Thread(target=judge.close)  # each waits for the other's end
    closing.start()
    learner.close()
    closing.join()


@pytest.fixture
def echo(ends):
    """Return a function whose result has been to the learner's process and back."""
    judge, learner = ends
    learner.roots[0] = lambda what, *args, **kwargs: (args[0], {})
    return lambda value: judge.ask(0, "echo", value, wall_s=5)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        1,
        -(2**70),
        0.5,
        float("inf"),
        "日本 \ud800 \x00",
        b"\xff",
        [1, [2, (3, {4})]],
        {"a": 1, (1, 2): frozenset("b")},
        Fraction(1, 3),
        Action("I add.", "Calculator", "1+1"),
        State.THINK,
        ValueError,
        CORE,
    ],
)
def test_data_arrives_as_what_it_was(echo, value):
    """plain data, and the workbook's own frozen objects, come back as they were"""
    back = echo(value)
    assert back == value
    assert type(back) is type(value)


def test_a_name_is_one_object_there_too(ends):
    """`state is State.DONE` is as true of a state that came over the line as of ours"""
    judge, learner = ends
    learner.roots[0] = lambda what, state, rule: (
        [state is State.DONE, rule.target is State.DONE],
        {},
    )
    rule = next(rule for rule in CORE.rules if rule.target == State.DONE)
    assert judge.ask(0, "look", "".join("DONE"), rule, wall_s=5) == [True, True]


def test_an_object_of_ours_comes_back_as_itself(echo):
    """what was sent there and comes back is the same object, not one like it"""
    action = Action("", "Calculator", "1")
    assert echo(action) is action
    assert echo([mine := Mine()])[0] is mine


@pytest.mark.parametrize("value", [Word("x"), mock.ANY, Mine(), decimal.Decimal(1)])
def test_nothing_of_theirs_says_what_it_equals(ends, value):
    """an object that a learner's code made cannot decide a comparison here"""
    judge, learner = ends
    learner.roots[0] = lambda what, *args, **kwargs: (value, {})
    assert judge.ask(0, "get") != 88
    assert judge.ask(0, "get") != "model"


@pytest.mark.parametrize(
    "text",
    [
        b"{}",
        b'{"c": "os:system"}',
        b'{"g": "workbook.loop.turns:parse_turn"}',
        b'{"o": ["subprocess:Popen", {"args": "ls"}], "n": 1}',
        b'{"o": ["workbook.exercises.catalogue:Exercise", {}], "n": 1}',
        b'{"x": ["builtins:eval", "eval", {"t": []}, {"d": []}], "n": 1}',
        b'{"e": ["workbook.fsm.table:State", "NOWHERE"]}',
        b'{"back": 99}',
        b"[" * 100_000,
        b"\xff",
    ],
)
def test_what_is_no_value_is_refused(text):
    """what a learner's process sends is taken for data or refused, and never run"""
    wire = Wire(lambda *asked: None, trusted=False)
    with pytest.raises(WireError):
        wire.loads(text)


def deep(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("value", [deep(10_000), [0] * 1_100_000])
def test_a_value_has_its_limits(echo, value):
    """what is too deep or too large is refused in words"""
    with pytest.raises(WireError, match=r"nested too deeply|too large"):
        echo(value)


def test_an_exception_keeps_its_kind_and_what_it_carries(ends):
    """what is raised there is raised here, with its kind and what it carries"""
    judge, learner = ends

    def fail(what, *args, **kwargs):
        raise {"own": type("Mine", (KeyError,), {})("x"), "table": stray}[what]

    stray = IllegalTransition(State.THINK, "x")
    learner.roots[0] = fail
    with pytest.raises(KeyError) as seen:
        judge.ask(0, "own")
    assert type(seen.value).__name__ == "Mine"
    with pytest.raises(IllegalTransition, match="THINK"):
        judge.ask(0, "table")


def test_a_function_is_called_where_it_is(ends):
    """a function that is handed over is called at home, with data, also from there"""
    judge, learner = ends
    learner.roots[0] = lambda what, f, *args: (lambda x: f(x) + 1, {})
    double = judge.ask(0, "wrap", lambda x: 2 * x)
    assert isinstance(double, Foreign)
    assert double(20) == 41


@pytest.mark.parametrize("name", ["__globals__", "_private", "f_globals"])
def test_what_lies_behind_an_object_is_out_of_reach(ends, name):
    """the other process reads no private name, and nothing of a function or a module"""
    judge, learner = ends
    learner.roots[0] = lambda what, thing: (getattr(thing, name), {})
    for thing in (Mine().__eq__, os, lambda: None):
        with pytest.raises(AttributeError):
            judge.ask(0, "look", thing)


def test_the_package_is_not_lent_to_a_learner(ends):
    """a function of the package that comes from there is theirs, not ours"""
    judge, learner = ends
    learner.roots[0] = lambda what: (parse_turn, {})
    assert isinstance(judge.ask(0, "get"), Foreign)
    learner.roots[0] = lambda what, given: (given is vote, {})
    assert judge.ask(0, "is it ours", vote) is True


@pytest.mark.parametrize("frame", [b"\xff" * 8, b"\0" * 7 + b"\2{}" * 4, b""])
def test_a_line_that_is_broken_is_said_to_be(ends, frame):
    """rubbish on the line, or its end, ends the waiting in words"""
    judge, learner = ends

    def spoil(what):
        os.write(learner.write, frame)
        os.close(learner.write)
        learner.write = -1
        threading.Event().wait(5)

    learner.roots[0] = spoil
    with pytest.raises(Gone):
        judge.ask(0, "spoil", wall_s=3)


def test_who_does_not_answer_is_not_waited_for(ends):
    """an answer that does not come within its time is given up"""
    judge, learner = ends
    learner.roots[0] = lambda what: threading.Event().wait(5)
    with pytest.raises(Gone, match=r"no answer within 0\.1 seconds"):
        judge.ask(0, "sleep", wall_s=0.1)
