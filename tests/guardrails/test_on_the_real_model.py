"""A budget on the local model, which counts what it reads and writes."""

import pytest

from workbook.guardrails.budget import Budget
from workbook.guardrails.machine import guarded
from workbook.models.local import LocalTextModel
from workbook.tools.calculator import calculator
from workbook.traces.writer import TraceWriter

QUESTION = "A product costs $100. 20% is taken off, then 10% is added. The price?"


@pytest.mark.in_ci
@pytest.mark.parametrize("tokens", [250, 400])
def test_a_budget_of_tokens_is_never_exceeded(tokens):
    """the server counts what it reads and writes, and it is never more than allowed"""
    told = TraceWriter()
    machine = guarded(
        LocalTextModel(), [calculator()], budget=Budget(tokens=tokens), hook=told
    )
    usage = machine.run(QUESTION).spent.usage
    assert 0 < usage.input + usage.output <= tokens
    turns = told.trace().of("model_turn")
    caps = [e["max_tokens"] for e in told.trace().of("model_request")]
    assert all(t["usage"]["output"] <= cap for t, cap in zip(turns, caps, strict=False))
    assert not any("estimated" in turn["usage"] for turn in turns)
