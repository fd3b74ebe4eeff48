"""Our exercises beside LangChain's own functions: the same texts come out."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_classic.agents.format_scratchpad.log import format_log_to_str
from langchain_classic.chains.llm_math.base import LLMMathChain
from langchain_core.agents import AgentAction
from langchain_core.callbacks import CallbackManagerForChainRun

from workbook.langchain_trace.agents import math_script, run_classic
from workbook.langchain_trace.anatomy import split_prompt
from workbook.langchain_trace.classic import (
    agent_prompts,
    evaluate_math_block,
    render_scratchpad,
    steps_of,
)
from workbook.langchain_trace.models import text_llm
from workbook.stage.scenarios import load

STEPS = st.lists(st.tuples(st.text(), st.text()), max_size=4)


@pytest.fixture
def price(journal, llm_math):
    """The trace of the price question on the classic agent."""
    scenario = load("price_question")
    run_classic(scenario.script(), [llm_math], scenario.question, emit=journal.emit)
    return journal.trace()


@settings(max_examples=50, deadline=None)
@given(STEPS)
def test_the_scratchpad_is_langchains(steps):
    """render_scratchpad gives what format_log_to_str gives"""
    theirs = [(AgentAction("tool", "", log), observed) for log, observed in steps]
    assert render_scratchpad(steps) == format_log_to_str(theirs, llm_prefix="Thought:")


def test_the_scratchpad_is_the_one_that_was_sent(price):
    """it stands behind the first prompt in each later prompt of the run"""
    first, *_ = prompts = agent_prompts(price)
    steps = steps_of(price)
    assert prompts == [first + render_scratchpad(steps[:n]) for n in range(5)]


def test_the_prompts_of_a_run_can_be_split(price):
    """all five prompts have their sections, and only the scratchpad grows"""
    sections = [dict(split_prompt(prompt)) for prompt in agent_prompts(price)]
    for name in ("instruction", "tools", "format", "question", "open thought"):
        assert len({found[name] for found in sections}) == 1
    sizes = [len(found["scratchpad"]) for found in sections]
    assert sizes[0] == 0
    assert sizes == sorted(set(sizes))


MATH = LLMMathChain.from_llm(text_llm(math_script()))


def langchains_answer(reply):
    """Return what LLMMathChain makes of a reply."""
    manager = CallbackManagerForChainRun.get_noop_manager()
    try:
        return MATH._process_llm_result(reply, manager)["answer"].split()
    except ValueError:
        return "refused"


def our_answer(reply):
    try:
        return evaluate_math_block(reply).split()
    except ValueError:
        return "refused"


REPLIES = st.lists(
    st.sampled_from(
        ["```text", "```", "\n", " ", "1+1", "2*pi", "Answer:", "88", "2 apples", "[3]"]
    ),
    max_size=8,
).map("".join)


@settings(max_examples=200, deadline=None)
@given(REPLIES)
def test_the_calculator_answers_as_langchains_does(reply):
    """the same replies are evaluated, passed on and refused, but for spaces"""
    assert our_answer(reply) == langchains_answer(reply)
