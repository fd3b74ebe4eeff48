"""One call from close by."""

import itertools

import pytest

from workbook.loop.turns import Action
from workbook.tools.calls import ToolError
from workbook.tools.debug import debug_call
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import Tool

SCHEMA = {"properties": {"n": {"type": "integer"}}, "required": ["n"]}


def double(n):
    if n == 13:
        raise RuntimeError("unlucky")
    return {"result": 2 * n}


@pytest.fixture
def registry():
    tool = Tool("Double", "Doubles.", SCHEMA, double, timeout_s=None)
    return ToolRegistry([tool])


def ticking():
    return itertools.count().__next__


def test_a_call_has_three_stages(registry):
    """a call is bound, with its repairs, run and observed; each stage has its time"""
    rows = debug_call(registry, "Double", '{"n": "4"}', clock=ticking())
    note = "n: '4' read as 4"
    assert rows.values.tolist() == [
        ["bind", "✓", f'Double({{"n": 4}}); {note}', 1000],
        ["run", "✓", "{'result': 8}", 1000],
        ["observation", "✓", f"8 ⏎ Note: {note}", 1000],
    ]


@pytest.mark.parametrize(
    ("name", "arguments", "stages"),
    [
        ("Nobody", "4", ["bind", "observation"]),
        ("Double", "[1, 2]", ["bind", "observation"]),
        ("Double", {"m": 1}, ["bind", "observation"]),
        ("Double", {"n": 13}, ["bind", "run", "observation"]),
    ],
)
def test_the_stage_that_fails_is_the_last(registry, name, arguments, stages):
    """a call stops at the stage that failed, and the observation says why"""
    rows = debug_call(registry, name, arguments)
    assert list(rows["stage"]) == stages
    assert list(rows[""])[-2:] == ["✗", "✗"]


@pytest.mark.parametrize("text", ["4", "[1, 2]", "13"])
def test_the_observation_is_the_one_of_a_usual_run(registry, text):
    """the observation at the end is the one that the registry gives"""
    bound = registry.bind(Action("", "double", text))
    usual = bound if isinstance(bound, ToolError) else registry.run(bound)
    seen = debug_call(registry, "double", text)["outcome"].iloc[-1]
    assert seen == usual.text().replace("\n", " ⏎ ")


def test_the_table_shows_html_as_text(registry):
    """what a model wrote is shown as text, also when it is HTML"""
    page = debug_call(registry, "<b>x</b>", "")._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
