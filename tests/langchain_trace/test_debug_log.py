"""The debug log, captured and folded to counts."""

import pytest
from langchain_core.globals import get_debug, set_debug

from workbook.langchain_trace.agents import classic_agent
from workbook.langchain_trace.debug_log import capture_debug_log, fold_debug_log
from workbook.models.script import Script

TURNS = ["Action: Calculator\nAction Input: 1+1", "Final Answer: 2"]


@pytest.fixture
def agent(llm_math):
    return classic_agent(Script(TURNS), [llm_math])


def test_a_run_of_two_calls_prints_more_than_a_hundred_lines(agent):
    """two calls of the agent, one of the calculator: 18 events, a page and more"""
    counts = fold_debug_log(capture_debug_log(lambda: agent.invoke({"input": "1+1?"})))
    assert counts.lines > 100
    assert counts.total == 18


def test_starts_and_ends_are_counted_apart(agent):
    """each start and each end of a chain, a model or a tool is counted apart"""
    counts = fold_debug_log(capture_debug_log(lambda: agent.invoke({"input": "1+1?"})))
    assert [counts.events["llm", end] for end in ("start", "end")] == [3, 3]


def test_an_error_is_an_event_too():
    """what was raised stands in the log as an error"""
    log = "[chain/error] [chain:A] [1ms] Chain run errored with error:\n'x'\n"
    assert fold_debug_log(log).events == {("chain", "error"): 1}


@pytest.mark.parametrize("text", ["", "hello\nworld", 'say "[llm/start] [" loud'])
def test_what_is_no_event_is_not_counted(text):
    """only a line that begins as an event is one"""
    counts = fold_debug_log(text)
    assert (counts.total, counts.lines) == (0, len(text.splitlines()))


def test_colours_are_looked_through():
    """the log's colour codes are no part of it"""
    log = "\x1b[32;1m\x1b[1;3m[llm/start]\x1b[0m \x1b[1m[llm:X] Entering\x1b[0m\n"
    assert fold_debug_log(log).events == {("llm", "start"): 1}


@pytest.mark.parametrize("before", [True, False])
def test_the_switch_is_put_back(before):
    """after the run debug is as it was, also when the run raised"""
    set_debug(before)
    try:
        with pytest.raises(ZeroDivisionError):
            capture_debug_log(lambda: 1 / 0)
        assert get_debug() is before
    finally:
        set_debug(False)
