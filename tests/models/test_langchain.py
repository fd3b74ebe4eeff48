"""The scripted model where LangChain expects a chat model."""

import asyncio

import pytest
from langchain.agents import create_agent
from langchain_classic.agents import AgentExecutor, create_react_agent
from langchain_classic.chains import LLMMathChain
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.prompts import PromptTemplate
from langchain_core.tools import Tool, tool

from workbook.models import Script, ToolRequest
from workbook.models.langchain import ScriptedModel
from workbook.models.script import ScriptExhausted

CALL = ToolRequest("multiply", {"a": 6, "b": 7}, "call_1")


@tool
def multiply(a: int, b: int) -> int:
    """Multiply two numbers."""
    return a * b


def test_it_answers_as_a_chat_model():
    """a turn comes back as an AIMessage with its token usage"""
    answer = ScriptedModel(["hello"]).invoke("12")

    assert answer.content == "hello"
    assert answer.usage_metadata["input_tokens"] == 3  # "user: 12\n"
    assert answer.usage_metadata["output_tokens"] == 2
    assert answer.usage_metadata["input_token_details"] == {"cache_read": 0}


def test_it_honours_stop():
    """a stop sequence that LangChain passes on is honoured"""
    model = ScriptedModel(["Action Input: 1\nObservation: 2"])

    answer = model.bind(stop=["\nObservation:"]).invoke("p")

    assert answer.content == "Action Input: 1"
    assert model.requests[0].stop == ("\nObservation:",)


def test_tools_reach_the_model_as_schemas():
    """bind_tools sends each tool's OpenAI schema with the request"""
    model = ScriptedModel([CALL])

    answer = model.bind_tools([multiply], tool_choice="auto").invoke("6 by 7")

    assert answer.tool_calls == [
        {
            "name": "multiply",
            "args": {"a": 6, "b": 7},
            "id": "call_1",
            "type": "tool_call",
        }
    ]
    assert model.requests[0].tools[0]["function"]["name"] == "multiply"


def test_it_streams_in_pieces_and_counts_at_the_end():
    """a stream brings the text piece by piece and the usage last"""
    chunks = list(ScriptedModel(["Thought: I multiply.\n"]).stream("p"))

    assert len(chunks) > 3
    assert "".join(chunk.text for chunk in chunks) == "Thought: I multiply.\n"
    assert [chunk.usage_metadata is not None for chunk in chunks[:-1]].count(True) == 0
    assert chunks[-1].usage_metadata["output_tokens"] == 6


def test_it_streams_tool_calls():
    """a streamed call adds up to the call in the script"""
    first, *rest = ScriptedModel([CALL]).stream("p")
    for chunk in rest:
        first += chunk

    assert [call["args"] for call in first.tool_calls] == [{"a": 6, "b": 7}]


def test_it_works_without_waiting():
    """the asynchronous calls give the same answers"""

    async def ask():
        model = ScriptedModel(["one", "two"])
        streamed = [chunk.text async for chunk in model.astream("p")]
        return "".join(streamed), (await model.ainvoke("p")).content

    assert asyncio.run(ask()) == ("one", "two")


@pytest.mark.parametrize("ask", ["invoke", "stream"])
def test_errors_come_out_as_they_are(ask):
    """an error in the script, and its end, reach the caller"""
    model = ScriptedModel([ConnectionError("401 no such key")])

    with pytest.raises(ConnectionError, match="401"):
        list(getattr(model, ask)("p"))
    with pytest.raises(ScriptExhausted, match="request 2"):
        list(getattr(model, ask)("p"))


def test_it_shares_a_script():
    """a script that was begun elsewhere goes on here"""
    script = Script(["one", "two"])
    script.complete("p")

    assert ScriptedModel(script=script).invoke("p").content == "two"


def test_it_sees_only_its_window():
    """of a long history the model sees the end"""
    model = ScriptedModel(["x"], window_tokens=2)
    model.invoke(
        [HumanMessage("keep it short"), AIMessage("…" * 50), HumanMessage("go")]
    )

    assert model.seen == ["ser: go\n"]


def test_repeated_messages_are_cached_when_a_history_is_edited():
    """after an edit only what stands before it counts as read before"""
    model = ScriptedModel(["a", "b", "c"])
    one, two, other = HumanMessage("1"), HumanMessage("2"), HumanMessage("3")
    model.invoke([one, two])
    model.invoke([one, other, two])

    texts = [[m["content"] for m in request.prompt] for request in model.requests]
    last = model.invoke([one])

    assert texts == [["1", "2"], ["1", "3", "2"]]
    assert last.usage_metadata["input_token_details"] == {"cache_read": 2}


def test_a_message_reworded_in_place_is_sent_as_it_is_now():
    """a message that was changed between two requests is not taken for the old one"""
    model = ScriptedModel(["a", "b"])
    message = HumanMessage("in dollars")
    model.invoke([message])
    message.content = "in yen"
    model.invoke([message])

    assert [r.prompt[0]["content"] for r in model.requests] == ["in dollars", "in yen"]


def test_it_drives_todays_agent():
    """create_agent runs the tool and hands the model its result"""
    model = ScriptedModel([CALL, "It is 42."])

    result = create_agent(model, [multiply]).invoke({"messages": [("user", "6 by 7?")]})

    assert result["messages"][-1].content == "It is 42."
    assert isinstance(result["messages"][-2], ToolMessage)
    assert model.requests[1].prompt[-1]["content"] == "42"


PROMPT = PromptTemplate.from_template(
    "{tools} {tool_names}\nQuestion: {input}\n{agent_scratchpad}"
)


def test_it_drives_the_classic_agent():
    """AgentExecutor stops the model before it makes up an Observation"""
    model = ScriptedModel(
        [
            "Thought: count\nAction: Double\nAction Input: 21\nObservation: 7",
            "Thought: done\nFinal Answer: 42",
        ]
    )
    double = Tool("Double", lambda text: str(2 * int(text)), "Doubles a number.")
    agent = create_react_agent(model, [double], PROMPT)

    result = AgentExecutor(agent=agent, tools=[double]).invoke({"input": "2 by 21?"})

    assert result["output"] == "42"
    assert "Observation: 42" in model.requests[1].prompt[0]["content"]


def test_it_drives_the_math_chain():
    """the calculator chain gets its expression up to the stop sequence"""
    model = ScriptedModel(["```text\n100*0.2\n```\n```output\n19\n```"])

    answer = LLMMathChain.from_llm(model).invoke({"question": "20 % of 100?"})

    assert answer["answer"] == "Answer: 20.0"
    assert "```output" in model.requests[0].stop
