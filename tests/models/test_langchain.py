"""Models of ours as LangChain's."""

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool

from workbook.models.base import ToolRequest, Usage
from workbook.models.langchain import ChatModelAdapter, text_llm
from workbook.models.script import Script

CALL = ToolRequest("multiply", {"a": 6, "b": 7}, "call_1")


@tool
def multiply(a: int, b: int) -> int:
    """Multiply two numbers."""
    return a * b


def test_it_drives_todays_agent():
    """create_agent ties each result to its call, with ids or without"""
    free = {"name": "multiply", "arguments": {"a": 6, "b": 7}}
    turns = [{"calls": [free, free]}, CALL, {"calls": [free]}, "It is 42."]
    script = Script(turns)
    model = ChatModelAdapter(model=script)
    found = create_agent(model, [multiply]).invoke({"messages": [("user", "6 by 7?")]})
    assert found["messages"][-1].content == "It is 42."
    ids = [m.tool_call_id for m in found["messages"] if m.type == "tool"]
    assert (len(ids), len(set(ids))) == (4, 4)
    assert "call_1" in ids
    sent = script.requests[1]
    assert sent.prompt[-1]["content"] == "42"
    assert sent.tools[0]["function"]["name"] == "multiply"


def test_an_llm_of_ours_keeps_usage_and_stop():
    """a text model is a LangChain LLM; one of LangChain's own is taken as it is"""
    llm = text_llm(Script(["Thought: one\nObservation: 2"]))
    result = llm.generate(["Q\nThought:"], stop=["\nObservation:"])
    (said,) = result.generations[0]
    assert said.text == " one"
    assert said.generation_info["usage"] == Usage(3, 1, 0).to_dict()
    assert text_llm(llm) is llm
    with pytest.raises(TypeError, match="a str cannot continue a prompt"):
        text_llm("gpt-4o-mini")
