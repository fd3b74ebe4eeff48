"""LangChain's callbacks as trace events, and as rows of its debug log."""

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool as langchain_tool

from tests.lessons.test_old_and_new_agents import ACTION, ANSWER, end, search
from workbook.lessons.langchain_handler import DebugLog, TraceHandler
from workbook.lessons.old_and_new_agents import (
    classic_agent,
    graph_agent,
    llm_math_tool,
    math_script,
    run_classic,
)
from workbook.runtime.journal import Journal
from workbook.runtime.model import Response, ToolRequest, Usage
from workbook.runtime.script import Script
from workbook.runtime.trace import Kind

HELLO = {"messages": [HumanMessage("hello")]}


@langchain_tool
def echo(text: str) -> str:
    """Return the text."""
    return text


ECHO = ToolRequest("echo", {"text": "a"}, "one")


def traced(*turns):
    """Return the trace of a run of today's agent."""
    journal = Journal()
    config = {"callbacks": [TraceHandler(journal.emit)], "recursion_limit": 20}
    graph_agent(Script(turns), [echo]).invoke(HELLO, config=config)
    return journal.trace()


def test_any_run_can_be_traced():
    """Given as a callback, it writes a whole run of any agent"""
    trace = traced(Response(calls=[ECHO], usage=Usage(7, 2, 3)), "done")
    kinds = "run_started model_request model_turn tool_call observation"
    last = "model_request model_turn run_finished"
    assert [event["kind"] for event in trace] == f"{kinds} {last}".split()
    assert trace.events[0]["question"] == "hello"
    assert trace.prompt(1) == [{"role": "user", "content": "hello"}]
    turn, call, seen = trace.events[2:5]
    assert turn["usage"] == {"input": 7, "output": 2, "cached": 3}
    assert turn["calls"] == [ECHO.fields()]
    assert (call["call_id"], call["arguments"]) == ("one", {"text": "a"})
    assert (seen["call_id"], seen["ok"], seen["text"]) == ("one", True, "a")
    assert trace.end["answer"] == "done"


def test_an_id_that_comes_again_is_another_call():
    """Two calls to which the model gave one id have an observation each"""
    trace = traced([ECHO, ECHO], "done")
    ids = [event["call_id"] for event in trace.of("tool_call")]
    assert (len({*ids}), ids[0]) == (2, "one")
    assert {event["call_id"] for event in trace.of("observation")} == {*ids}


@pytest.mark.parametrize("error", [OSError("no space left"), KeyboardInterrupt("stop")])
@pytest.mark.parametrize("kind", Kind)
def test_a_run_whose_trace_cannot_be_written_is_whole(kind, error):
    """Whichever event it ends at, it has one end, and each call one observation"""
    journal, left = Journal(), [kind]

    def emit(kind, /, **fields):
        seq = journal.emit(kind, **fields)
        if kind in left:
            left.clear()
            raise error
        return seq

    run_classic(Script([ACTION, ANSWER]), [search()], "?", emit=emit)
    trace = journal.trace()
    kinds = [event["kind"] for event in trace]
    assert kinds.count("tool_call") == kinds.count("observation")
    assert (kinds.count("run_started"), kinds.count("run_finished")) == (1, 1)
    assert kinds[-1] == "run_finished"
    if kind == Kind.TOOL_CALL:
        assert end(trace)[1] == type(error).__name__


# The debug log

TURNS = ["Action: Calculator\nAction Input: 1+1", "Final Answer: 2"]


def test_the_log_has_a_row_for_each_event_and_marks_four():
    """The first prompt, turn, tool call, and scratchpad; a dot for each level"""
    log = DebugLog()
    agent = classic_agent(Script(TURNS), [llm_math_tool(math_script())])
    agent.invoke({"input": "1+1?"}, config={"callbacks": [log]})
    assert len(log.rows) == 18
    assert len("".join(log.printed).splitlines()) > 100
    hidden = log.rows[8]
    assert (hidden["event"], hidden["what runs"]) == ("····llm/start", "OurModel")
    found = {row["place"]: row["text"] for row in log.rows if row["place"]}
    assert list(found) == ["first prompt", "turn", "tool", "scratchpad"]
    assert found["first prompt"].endswith("\nQuestion: 1+1?\nThought:")
    assert (found["turn"], found["tool"]) == (TURNS[0], "input: 1+1")
    assert found["scratchpad"] == f"{TURNS[0]}\nObservation: Answer: 2\nThought:"
