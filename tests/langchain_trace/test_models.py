"""Models of ours as LangChain's."""

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool

from tests.loop.asked import Asked
from workbook.langchain_trace.models import ChatModelAdapter, text_llm
from workbook.runtime.model import ToolRequest, Usage
from workbook.runtime.script import Script

CALL = ToolRequest("multiply", {"a": 6, "b": 7}, "call_1")


@tool
def multiply(a: int, b: int) -> int:
    """Multiply two numbers."""
    return a * b


def test_it_drives_todays_agent():
    """create_agent ties each result to its call, with ids or without"""
    free = ToolRequest("multiply", {"a": 6, "b": 7})
    turns = [[free, free], CALL, free, "It is 42."]
    script = Asked(turns)
    model = ChatModelAdapter(model=script)
    found = create_agent(model, [multiply]).invoke({"messages": [("user", "6 by 7?")]})
    assert found["messages"][-1].content == "It is 42."
    ids = [m.tool_call_id for m in found["messages"] if m.type == "tool"]
    assert (len(ids), len(set(ids))) == (4, 4)
    assert "call_1" in ids
    sent = script.requests[1]
    assert sent.messages[-1]["content"] == "42"
    assert sent.tools[0]["function"]["name"] == "multiply"


@pytest.mark.parametrize(
    ("written", "read"),
    [('{"a": 6, "b": 7}', {"a": 6, "b": 7}), ("", {}), (None, {}), ('{"a": ', None)],
)
def test_arguments_are_read_as_an_endpoint_writes_them(written, read):
    """JSON in a text; what nobody can read is one of LangChain's invalid calls"""
    model = ChatModelAdapter(model=Script([ToolRequest("multiply", written, "1")]))
    message = model.invoke("6 by 7?")
    assert [call["args"] for call in message.tool_calls] == [read] * (read is not None)
    refused = [(c["args"], c["name"]) for c in message.invalid_tool_calls]
    assert refused == [(written, "multiply")] * (read is None)


def test_an_llm_of_ours_keeps_usage_and_stop():
    """a text model is a LangChain LLM; one of LangChain's own is taken as it is"""
    llm = text_llm(Script(["Thought: one\nObservation: 2"]))
    result = llm.generate(["Q\nThought:"], stop=["\nObservation:"])
    (turn,) = result.generations[0]
    assert turn.text == " one"
    assert turn.generation_info["usage"] == Usage(3, 1, 0).to_dict()
    assert text_llm(llm) is llm
    with pytest.raises(TypeError, match="a str cannot continue a prompt"):
        text_llm("gpt-4o-mini")
