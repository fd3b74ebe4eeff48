"""One call from close by."""

import itertools

import pytest

from workbook.environments.number_theory import factorial
from workbook.tools.debug import debug_call
from workbook.tools.registry import ToolRegistry

REGISTRY = ToolRegistry([factorial()])


def test_a_call_has_three_stages():
    """a call is bound, with its repairs, run and observed; each stage has its time"""
    clock = itertools.count().__next__
    rows = debug_call(REGISTRY, "Factorial", '{"n": "4"}', clock=clock)
    note = "n: '4' read as 4"
    assert rows.values.tolist() == [
        ["bind", "✓", f'Factorial({{"n": 4}}); {note}', 1000],
        ["run", "✓", '{"result": 24}', 1000],
        ["observation", "✓", f"24 ⏎ Note: {note}", 1000],
    ]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("<b>x</b>", "4"), ("Factorial", {"m": 1})],
)
def test_the_stage_that_fails_is_the_last(name, arguments):
    """a call stops at the stage that failed, and what a model wrote is shown as text"""
    rows = debug_call(REGISTRY, name, arguments)
    assert rows.values[:, :2].tolist() == [["bind", "✗"], ["observation", "✗"]]
    assert "<b>" not in rows._repr_html_()
