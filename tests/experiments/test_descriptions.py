"""Does a description help? One call a question, before and after."""

from dataclasses import replace

import pytest

from workbook.evaluation.statistics import paired_difference
from workbook.experiments.descriptions import (
    JSON_OBJECT,
    PREFILL,
    CallTask,
    accepted,
    first_calls,
    forecast,
    forecast_tasks,
    is_right,
)
from workbook.models.base import Prefilled
from workbook.models.local import LocalTextModel
from workbook.models.script import Script
from workbook.tools.descriptions import lint_description
from workbook.tools.registry import ToolRegistry
from workbook.traces.errors import improved_description, patterns

OSLO = CallTask("Oslo, 3 days?", {"city": "Oslo", "days": 3})


def says(*inputs, **options):
    """Return a model that writes one call after another, as `Prefilled` does."""
    return Script([f"{PREFILL} {text}" for text in inputs], **options)


@pytest.mark.parametrize(
    ("text", "taken", "right"),
    [
        ('{"city": "Oslo", "days": 3}', True, True),
        ('{"city": "Oslo", "days": "3"}', True, True),
        ('{"city": "Rome", "days": 3}', True, False),
        ('{"city": "Oslo", "days": 30}', False, False),
        ('{"town": "Oslo"}', False, False),
        ("Oslo, 3", False, False),
        ("", False, False),
    ],
)
def test_what_the_schema_takes_may_still_be_wrong(text, taken, right):
    """A call is accepted by its schema; it is right with the arguments asked for."""
    (trace,) = first_calls(says(text), forecast(), [OSLO])
    assert (accepted(trace), is_right(trace, OSLO)) == (taken, right)


def test_a_call_that_fails_is_not_right():
    """The arguments asked for are not enough where the tool itself breaks."""
    down = replace(forecast(), run=lambda city, days: {}["result"])
    (trace,) = first_calls(says('{"city": "Oslo", "days": 3}'), down, [OSLO])
    assert not is_right(trace, OSLO)


@pytest.mark.parametrize("text", ["I think.", "Final Answer: sun"])
def test_a_turn_without_a_call_is_not_right(text):
    """A model may answer by itself, or say something that nobody can read."""
    (trace,) = first_calls(Script([text]), forecast(), [OSLO])
    assert not is_right(trace, OSLO)


def test_each_question_is_asked_once_and_leaves_a_trace():
    """One call of the model a question, in their order, whatever comes of it."""
    tasks = forecast_tasks("asked")
    model = says('{"town": 1}', '{"city": "Oslo", "days": 4}', loop=True)
    traces = first_calls(model, forecast(), tasks)
    assert [t.of("run_started")[0]["question"] for t in traces] == [
        task.question for task in tasks
    ]
    assert [len(t.of("model_turn")) for t in traces] == [1] * len(tasks)
    assert patterns(traces, [forecast()])[0].count == len(tasks) // 2


def test_the_model_reads_rule_tool_and_question():
    """The rule stands first, then the tool's description, then the question's words."""
    tool = replace(forecast(), description="Forecast.\n[Often wrong: days.]")
    (trace,) = first_calls(
        says("{}"), tool, [OSLO], rule="Be brief.", reworded=str.upper
    )
    assert trace.of("model_request")[0]["prompt"] == (
        f"Be brief.\n\nTools:\n{tool.signature()}: Forecast. [Often wrong: days.]\n\n"
        "Question: OSLO, 3 DAYS?\n"
    )


@pytest.mark.parametrize("part", ["seen", "asked"])
def test_every_task_can_be_done(part):
    """The arguments that are asked for are ones that the tool takes."""
    tasks = forecast_tasks(part)
    assert len(tasks) == {"seen": 10, "asked": 20}[part]
    registry = ToolRegistry([forecast()])
    assert not [t for t in tasks if registry.problems("Forecast", t.arguments)]
    assert all(task.arguments["city"] in task.question for task in tasks)


def test_errors_are_seen_on_other_questions_than_help_is_measured_on():
    """No question is in both parts, so that a description is not tuned to its test."""
    seen, asked = (
        {task.question for task in forecast_tasks(part)} for part in ("seen", "asked")
    )
    assert len(seen | asked) == 30


def test_the_description_leaves_something_to_say():
    """It names neither its arguments nor their limits, and the better one does."""
    tool, bad = forecast(), says('{"days": 30}')
    assert "limit is not named" in lint_description(tool)
    found = patterns(first_calls(bad, tool, [OSLO]), [tool])
    assert "limit is not named" not in lint_description(
        improved_description(tool, found)
    )


def test_the_real_model_is_asked_before_and_after():
    """Whatever it says: as many pairs as questions, and each right call is accepted."""
    model = Prefilled(LocalTextModel(max_tokens=32, grammar=JSON_OBJECT), PREFILL)
    tool, tasks = forecast(), forecast_tasks("asked")[:3]
    before = first_calls(model, tool, tasks)
    better = improved_description(tool, patterns(before, [tool]))
    after = first_calls(model, better, tasks)
    right = [
        [is_right(trace, task) for trace, task in zip(traces, tasks, strict=True)]
        for traces in (before, after)
    ]
    assert sum(paired_difference(zip(*right, strict=True))[:4]) == 3
    for traces, rights in zip((before, after), right, strict=True):
        assert all(accepted(t) for t, ok in zip(traces, rights, strict=True) if ok)
        assert all(PREFILL in t.of("model_turn")[0]["text"] for t in traces)
