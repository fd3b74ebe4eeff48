"""Budgets and limits on the local model: what it is capped to, and what it may read."""

import pytest

from workbook.guardrails.budget import Budget
from workbook.guardrails.machine import guarded
from workbook.models.local import LocalTextModel
from workbook.tools.calculator import calculator
from workbook.traces.writer import TraceWriter

QUESTION = "A product costs $100. 20% is taken off, then 10% is added. The price?"


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


def test_a_prompt_is_kept_within_its_limit():
    """the server reads at most what the limit says, with the pin in every prompt"""
    told, pin = TraceWriter(), "Never mention peanuts."
    machine = guarded(
        LocalTextModel(max_tokens=60),
        [calculator()],
        budget=Budget(steps=6),
        context_tokens=320,
        pinned=[pin],
        converge=False,
        hook=told,
    )
    machine.run(QUESTION)
    trace = told.trace()
    assert max(e["usage"]["input"] for e in trace.of("model_turn")) <= 321
    prompts = [trace.prompt(e["seq"]) for e in trace.of("model_request")]
    assert all(pin in prompt for prompt in prompts)
