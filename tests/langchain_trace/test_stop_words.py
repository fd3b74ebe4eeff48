"""Stop words on the real model: what the runtime gets with them and without them."""

import pytest

from workbook.langchain_trace.agents import run_classic
from workbook.langchain_trace.classic import few_shot
from workbook.models.langchain import WithoutStop
from workbook.models.local import LocalTextModel

QUESTION = "What is 37 * 89?"


@pytest.fixture(scope="module")
def model():
    """The real model, loaded; a turn of 40 tokens reaches its Observation."""
    return LocalTextModel(max_tokens=40)


def first_turn(model, calculator, emit):
    """Return what the agent got from the model first, and the tool calls it made."""
    run_classic(
        model,
        [calculator],
        QUESTION,
        emit=emit,
        max_iterations=1,
        **few_shot(),
    )
    trace = emit.trace()
    return trace.of("model_turn")[0]["text"], trace.of("tool_call")


def test_with_stop_words_no_observation_is_made_up(emit, model, calculator_tool):
    """with stop words the turn ends before any Observation, and the tool is asked"""
    text, calls = first_turn(model, calculator_tool, emit)
    assert "Action: Calculator" in text
    assert "Observation:" not in text
    assert len(calls) == 1


def test_without_stop_words_an_observation_is_made_up(emit, model, calculator_tool):
    """without them the model writes the Observation itself"""
    text, _ = first_turn(WithoutStop(model), calculator_tool, emit)
    assert "Observation:" in text
