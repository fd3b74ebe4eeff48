"""A function under watch."""

import inspect
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.exercises.call_recorder import (
    ArgumentChanged,
    Watch,
    count_calls,
    snapshot,
)
from workbook.exercises.grade import harmless

PLAIN = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.tuples(inner, inner)
    ),
    max_leaves=8,
)


def test_it_passes_everything_on():
    """a watched function takes and returns what the function does"""
    watch = Watch(lambda a, *, b: (a, b), "pair")
    assert watch.function(1, b=2) == (1, 2)
    assert watch.calls[0].result == (1, 2)


def test_it_keeps_the_signature_and_the_name():
    """a watched function looks like the learner's"""

    def add(a: int, b: int) -> int:
        return a + b

    watched = Watch(add, "add").function
    assert (watched.__name__, inspect.signature(watched)) == (
        "add",
        inspect.signature(add),
    )


@pytest.mark.parametrize(
    ("argument", "change"),
    [
        ([1], lambda value: value.append(2)),
        ({"a": [1]}, lambda value: value["a"].append(2)),
        (([1],), lambda value: value[0].clear()),
        ({1, 2}, lambda value: value.pop()),
    ],
)
def test_a_changed_argument_is_noticed(argument, change):
    """a list, dict or set that the function changes is noticed, however deep"""
    watch = Watch(change, "change")
    with pytest.raises(ArgumentChanged) as info:
        watch.function(argument)
    assert info.value.args[2] == argument


@given(PLAIN)
def test_a_snapshot_is_equal_and_apart(value):
    """the copy of plain data is equal to it"""
    assert snapshot(value) == value


def test_a_list_that_holds_itself_is_no_problem():
    """a snapshot of a cyclic list does not run for ever"""
    cyclic = []
    cyclic.append(cyclic)
    assert snapshot(cyclic)[0] is not None


def test_only_the_last_calls_are_kept():
    """a function that is called very often fills no memory"""
    watch = Watch(abs, "abs")
    for number in range(500):
        watch.function(number)
    assert (watch.count, len(watch.calls)) == (500, 50)


def test_a_loop_that_prints_fills_no_memory(capsys):
    """of what is printed only the beginning is kept"""
    watch = Watch(lambda: print("x" * 1_000_000), "shout")
    watch.function()
    assert len(watch.calls[0].printed) == 2000
    assert capsys.readouterr().out == ""


def test_nobody_is_asked():
    """input() does not wait: it raises, and says what to do"""
    with harmless(), pytest.raises(RuntimeError, match="use the function's arguments"):
        input("? ")


def tries(times):
    """Return a function that calls another so often, with one and the same value."""

    def once(value):
        if value == "raise":
            raise ValueError("no")

    def many(value):
        for _ in range(times):
            once(value)
        return f"{times} times"

    return once, many


@pytest.mark.parametrize("times", [0, 1, 3])
def test_calls_that_are_alike_are_counted(times):
    """what a function calls with equal values is told by name, with how often"""
    once, many = tries(times)
    ended, result, made = count_calls(many, once, 1.0, ("x",), {})
    assert (ended, result) == ("returned", f"{times} times")
    assert made == [("once", times, True)][:times]


def test_an_error_is_told_and_not_raised():
    """where the function raises, the calls before are told as well"""
    once, many = tries(3)
    ended, error, made = count_calls(many, once, 1.0, ("raise",), {})
    assert (ended, str(error)) == ("raised", "no")
    assert ("once", 1, True) in made


@pytest.mark.parametrize("body", ["pass", "sorted('ab')"])
def test_what_does_not_end_is_ended(body):
    """an endless loop ends after its computing time, and no trace function is left"""
    exec(f"def loop():\n    while True: {body}", namespace := {})
    before = sys.gettrace()
    ended, result, _ = count_calls(namespace["loop"], None, 0.1, (), {})
    assert (ended, result) == ("hung", None)
    assert sys.gettrace() is before
