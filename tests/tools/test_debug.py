"""One call from close by."""

import itertools

import pytest

from workbook.loop.turns import Action
from workbook.tools.calls import ToolCall, ToolError
from workbook.tools.debug import debug_call, log_calls
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


def stages(run):
    return [(stage.name, stage.ok) for stage in run.stages]


def test_a_call_has_five_stages(registry):
    """a call goes through bind, repair, validate, run and observation"""
    run = debug_call(registry, "Double", '{"n": "4"}')
    assert stages(run) == [
        ("bind", True),
        ("repair", True),
        ("validate", True),
        ("run", True),
        ("observation", True),
    ]
    assert [stage.outcome for stage in run.stages][:2] == [
        'Double with {"n": "4"}',
        "n: '4' read as 4",
    ]


@pytest.mark.parametrize(
    ("name", "arguments", "last"),
    [
        ("Nobody", "4", "bind"),
        ("Double", '{"n": 1, "n": 2}', "bind"),
        ("Double", "[1, 2]", "validate"),
        ("Double", {"m": 1}, "validate"),
        ("Double", {"n": 13}, "run"),
    ],
)
def test_the_stage_that_fails_is_the_last(registry, name, arguments, last):
    """a call stops at the stage that failed, and the observation says why"""
    found = stages(debug_call(registry, name, arguments))
    assert found[-2:] == [(last, False), ("observation", False)]


def test_what_is_no_json_fails_where_it_is_validated():
    """NaN is a number to a schema, but no JSON: the stage that refuses it is shown"""
    schema = {"properties": {"x": {"type": "number"}}}
    half = Tool("Half", "Halves.", schema, lambda x: {"result": x / 2}, timeout_s=None)
    found = debug_call(ToolRegistry([half]), "Half", {"x": float("nan")})
    assert stages(found)[-2:] == [("validate", False), ("observation", False)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Double", "4"),
        ("double", "4"),
        ("Double", "[1, 2]"),
        ("X", ""),
        ("Double", "13"),
    ],
)
def test_the_observation_is_the_one_of_a_usual_run(registry, name, text):
    """the observation at the end is the one that the registry gives"""
    bound = registry.bind(Action("", name, text), "call_1")
    seen = debug_call(registry, name, text).observation
    if isinstance(bound, ToolError):
        assert seen.error == bound
    else:
        assert seen == registry.run(bound)


def test_each_stage_has_its_time(registry):
    """each stage says how long it took"""
    run = debug_call(registry, "Double", "4", clock=ticking())
    assert [stage.elapsed_s for stage in run.stages] == [1] * 5


def test_the_table_shows_html_as_text(registry):
    """what a model wrote is shown as text, also when it is HTML"""
    page = debug_call(registry, "<b>x</b>", "<script>alert(1)</script>")._repr_html_()
    assert "<script>" not in page
    assert "<b>" not in page
    assert "&lt;script&gt;" in page


def test_as_text_it_has_a_line_a_stage(registry):
    """without a notebook there is one line a stage"""
    lines = str(debug_call(registry, "Double", "4", clock=ticking())).splitlines()
    assert lines[0] == "Double(4)"
    assert lines[4] == '✓ run          1000.00 ms  {"result": 8}'


def test_every_call_is_logged(registry):
    """a logged tool tells about every call and every observation, in order"""
    events = []

    def emit(kind, **fields):
        events.append((kind, fields))

    loud = log_calls(emit, clock=ticking())(registry["Double"])
    logged = ToolRegistry([loud])
    assert logged.run(ToolCall("Double", {"n": 4}, "c")).text() == "8"
    assert logged.run(ToolCall("Double", {"n": 13}, "c")).error.kind == "tool_raised"
    first, second = (
        {"call_id": f"Double_{number}", "tool": "Double"} for number in (1, 2)
    )
    ok = {"ok": True, "text": '{"result": 8}', "elapsed_s": 1}
    bad = {"ok": False, "text": "RuntimeError: unlucky", "elapsed_s": 1}
    assert events == [
        ("tool_call", {**first, "arguments": {"n": 4}}),
        ("observation", {**first, **ok}),
        ("tool_call", {**second, "arguments": {"n": 13}}),
        ("observation", {**second, **bad}),
    ]
