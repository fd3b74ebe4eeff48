"""LangChain's callbacks as trace events, and as rows of its debug log."""

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
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


def calls(*names):
    """Return a turn that asks for these tools at once."""
    return [
        ToolRequest(name, {"text": name}, f"id_{n}") for n, name in enumerate(names)
    ]


def traced(turns, *tools):
    """Return the trace of a run of today's agent."""
    journal = Journal()
    agent = graph_agent(Script(turns), tools)
    config = {"callbacks": [TraceHandler(journal.emit)], "recursion_limit": 20}
    agent.invoke(HELLO, config=config)
    return journal.trace()


def test_any_run_can_be_traced():
    """Given as a callback, it writes a whole run of anybody's agent"""
    said = Response(calls=calls("echo"), usage=Usage(7, 2, 3))
    trace = traced([said, "done"], echo)
    kinds = "run_started model_request model_turn tool_call observation"
    last = "model_request model_turn run_finished"
    assert [event["kind"] for event in trace] == f"{kinds} {last}".split()
    assert trace.events[0]["question"] == "hello"
    assert trace.prompt(1) == [{"role": "user", "content": "hello"}]
    turn, call, seen = trace.events[2:5]
    assert turn["usage"] == {"input": 7, "output": 2, "cached": 3}
    assert turn["calls"] == [calls("echo")[0].fields()]
    assert (call["call_id"], call["arguments"]) == ("id_0", {"text": "echo"})
    assert (seen["call_id"], seen["ok"], seen["text"]) == ("id_0", True, "echo")
    assert trace.end["answer"] == "done"


def test_an_id_that_comes_again_is_another_call():
    """Two calls to which the model gave one id have an observation each"""
    asked = [ToolRequest("echo", {"text": text}, "one") for text in "ab"]
    trace = traced([asked, "done"], echo)
    ids = [event["call_id"] for event in trace.of("tool_call")]
    assert (len({*ids}), ids[0]) == (2, "one")
    assert {event["call_id"] for event in trace.of("observation")} == {*ids}


def test_a_chain_may_call_its_question_and_its_answer_otherwise():
    """Without `input` and `output`: the first value and the last one"""
    journal = Journal()
    chain = RunnableLambda(lambda _: {"documents": [], "result": "1"})
    config = {"callbacks": [TraceHandler(journal.emit)]}
    chain.invoke({"question": "?", "k": 3}, config=config)
    first, last = journal.trace().events
    assert (first["question"], last["answer"]) == ("?", "1")


def test_a_trace_that_cannot_be_written_ends_the_run():
    """LangChain swallows what callbacks raise; here it is not passed over"""
    journal = Journal()

    def full_disk(kind, /, **fields):
        if kind == Kind.TOOL_CALL:
            raise OSError("no space left")
        return journal.emit(kind, **fields)

    run_classic(Script([ACTION, ANSWER]), [search()], "?", emit=full_disk)
    assert end(journal.trace())[1] == "OSError"


@pytest.mark.parametrize("kind", Kind)
def test_a_run_that_a_listener_stops_is_whole(kind):
    """Stopped at any event, a run has one end, and each call one observation"""
    journal, left = Journal(), [kind]

    def emit(kind, /, **fields):
        seq = journal.emit(kind, **fields)
        if kind in left:
            left.clear()
            raise KeyboardInterrupt("stop")
        return seq

    run_classic(Script([ACTION, ANSWER]), [search()], "?", emit=emit)
    kinds = [event["kind"] for event in journal.trace()]
    assert kinds.count("tool_call") == kinds.count("observation")
    assert (kinds.count("run_started"), kinds.count("run_finished")) == (1, 1)
    assert kinds[-1] == "run_finished"


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
