"""A function under watch."""

import inspect
from dataclasses import dataclass

import pytest

from workbook.exercises.watch import ArgumentChanged, OwnEquality, Watch, snapshot


def test_it_passes_everything_on_and_looks_like_the_function():
    """a watched function takes and returns what the function does, under its name"""

    def pair(a: dict, *, b: int) -> tuple:
        return a, b

    told, nested, cyclic = [], {"a": [(1, {2}), None]}, []
    cyclic.append(cyclic)
    watched = Watch(pair, "pair", told.append).function
    assert watched(nested, b=2) == (nested, 2)
    assert watched(cyclic, b=2)[0] is cyclic
    assert watched.__name__ == "pair"
    assert inspect.signature(watched) == inspect.signature(pair)
    assert told == ["pair({'a': [(1, {2}), None]}, b=2)", "pair([[...]], b=2)"]


@pytest.mark.parametrize("by_name", [False, True])
@pytest.mark.parametrize("argument", [[1], {"a": [1]}, ([1],), {1, 2}])
def test_a_changed_argument_is_noticed(argument, by_name):
    """a list, dict or set that the function changes is noticed, however deep"""

    def change(value):
        inner = value["a"] if isinstance(value, dict) else value
        (inner[0] if isinstance(inner, tuple) else inner).pop()

    given, watched = snapshot(argument), Watch(change, "change").function
    with pytest.raises(ArgumentChanged) as info:
        watched(value=given) if by_name else watched(given)
    assert info.value.args == ("value", argument, given)


def test_a_function_that_is_called_often_or_prints_much_fills_no_memory(capsys):
    """only the last calls are kept, and of what is printed the beginning"""
    watch = Watch(lambda number: print("x" * 100_000), "shout")
    for number in range(100):
        watch.function(number)
    assert (watch.count, len(watch.calls), len(watch.calls[0].printed)) == (
        100,
        50,
        2000,
    )
    assert capsys.readouterr().out == ""


@dataclass
class Row:
    value: object


class Agrees:
    def __eq__(self, other):
        return True

    __hash__ = None


@pytest.mark.parametrize(
    ("result", "refused"),
    [
        *((each, True) for each in (Agrees(), [Agrees()], {"a": (Agrees(),)})),
        (Row([Agrees()]), True),
        *((each, False) for each in (Row([Row(2)]), type("Plain", (), {})(), 3)),
    ],
)
def test_a_result_that_decides_what_it_equals_is_refused(result, refused):
    """an object whose `==` the learner wrote proves nothing; a dataclass is fine"""
    watched = Watch(lambda: result, "f").function
    if refused:
        with pytest.raises(OwnEquality, match="an == of its own, which Agrees has"):
            watched()
    else:
        assert watched() is result
