"""Does a description help? One call a question, before and after."""

from dataclasses import replace
from itertools import cycle

import pytest

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
from workbook.runtime.local import LocalTextModel
from workbook.runtime.model import Prefilled
from workbook.runtime.script import Script
from workbook.runtime.tools import ToolRegistry
from workbook.views.descriptions import lint_description
from workbook.views.errors import improved_description, patterns

OSLO = CallTask("Oslo, 3 days?", {"city": "Oslo", "days": 3})
CALL = f"{PREFILL} "
RIGHT = '{"city": "Oslo", "days": 3}'
DOWN = replace(forecast(), run=lambda city, days: {}["result"])


@pytest.mark.parametrize(
    ("turn", "tool", "taken", "right"),
    [
        (CALL + RIGHT, forecast(), True, True),
        (CALL + '{"city": "Oslo", "days": "3"}', forecast(), True, True),
        (CALL + '{"city": "Rome", "days": 3}', forecast(), True, False),
        (CALL + '{"city": "Oslo", "days": 30}', forecast(), False, False),
        (CALL + RIGHT, DOWN, False, False),
        ("Final Answer: sun", forecast(), False, False),
    ],
)
def test_what_the_schema_takes_may_still_be_wrong(turn, tool, taken, right):
    """A call is accepted by its schema; it is right with the arguments asked for."""
    (trace,) = first_calls(Script([turn]), tool, [OSLO])
    assert (accepted(trace), is_right(trace, OSLO)) == (taken, right)


def test_each_question_is_asked_once_and_leaves_a_trace():
    """One call of the model a question, in their order, whatever comes of it."""
    tasks = forecast_tasks("asked")
    turns = cycle([CALL + '{"town": 1}', CALL + RIGHT])
    model = Script([lambda prompt: next(turns)])
    traces = first_calls(model, forecast(), tasks)
    asked = [trace.of("run_started")[0]["question"] for trace in traces]
    assert asked == [task.question for task in tasks]
    assert {len(trace.of("model_turn")) for trace in traces} == {1}
    assert patterns(traces, [forecast()])[0].count == len(tasks) // 2


def test_the_model_reads_rule_tool_and_question():
    """The rule stands first, then the tool's description, then the question's words."""
    tool = replace(forecast(), description="Forecast.\n[Often wrong: days.]")
    worded = {"rule": "Be brief.", "reworded": str.upper}
    (trace,) = first_calls(Script([CALL]), tool, [OSLO], **worded)
    assert trace.of("model_request")[0]["prompt"] == (
        f"Be brief.\n\nTools:\n{tool.signature()}: Forecast. [Often wrong: days.]\n\n"
        "Question: OSLO, 3 DAYS?\n"
    )


def test_every_task_can_be_done():
    """Ten tasks and twenty others, whose arguments the tool takes."""
    seen, asked = (forecast_tasks(part) for part in ("seen", "asked"))
    assert (len(seen), len(asked)) == (10, 20)
    assert len({task.question for task in seen + asked}) == 30
    registry = ToolRegistry([forecast()])
    for task in seen + asked:
        assert not registry.problems("Forecast", task.arguments)
        assert task.arguments["city"] in task.question


def test_the_description_leaves_something_to_say():
    """It names neither its arguments nor their limits, and the better one does."""
    tool, bad = forecast(), Script([CALL + '{"days": 30}'])
    assert "limit is not named" in lint_description(tool)
    better = improved_description(
        tool, patterns(first_calls(bad, tool, [OSLO]), [tool])
    )
    assert "limit is not named" not in lint_description(better)


def test_the_real_model_writes_a_call():
    """Whatever it says has the beginning that it is given, and is one JSON object."""
    model = Prefilled(LocalTextModel(max_tokens=32, grammar=JSON_OBJECT), PREFILL)
    for trace in first_calls(model, forecast(), forecast_tasks("asked")[:2]):
        assert trace.of("model_turn")[0]["text"].startswith(CALL + "{")
