"""LangChain's models and ours, both ways."""

import itertools

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.output_parsers import StrOutputParser
from langchain_core.tools import tool

from tests.models.listener import Listener
from workbook.models.base import Completion, ToolRequest, Usage
from workbook.models.langchain import (
    LangChainModel,
    ScriptedModel,
    from_message,
    text_llm,
)
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
    model = ScriptedModel(turns)
    found = create_agent(model, [multiply]).invoke({"messages": [("user", "6 by 7?")]})
    assert found["messages"][-1].content == "It is 42."
    ids = [m.tool_call_id for m in found["messages"] if m.type == "tool"]
    assert (len(ids), len(set(ids))) == (4, 4)
    assert "call_1" in ids
    sent = model.script.requests[1]
    assert sent.prompt[-1]["content"] == "42"
    assert sent.tools[0]["function"]["name"] == "multiply"


def test_an_llm_of_ours_keeps_usage_and_stop():
    """a text model is a LangChain LLM; one of LangChain's own is taken as it is"""
    llm = text_llm(Script(["Thought: one\nObservation: 2"]))
    result = llm.generate(["Q\nThought:"], stop=["\nObservation:"])
    assert result.generations[0][0].text == " one"
    assert result.llm_output["token_usage"]["prompt_tokens"] == 3
    assert text_llm(llm) is llm
    with pytest.raises(TypeError, match="a str cannot continue a prompt"):
        text_llm("gpt-4o-mini")


def test_a_chat_model_continues_a_prompt():
    """stop and the smaller cap go in, text and usage come out"""
    text = "Action Input: 1\nObservation: 2"
    model = LangChainModel(ScriptedModel([text], loop=True))
    answer = model.complete("1234", stop=["\nObservation:"])
    assert answer == Completion("Action Input: 1", Usage(3, 4, 0))
    answer = model.complete("1234", max_tokens=2)
    assert answer == Completion("Action I", Usage(3, 2, 3), finish_reason="length")


def test_a_chat_model_answers_messages():
    """messages, tool results and tool schemas go in, tool requests come out"""
    model = ScriptedModel([CALL])
    function = {"name": "multiply", "arguments": '{"a": 1, "b": 2}'}
    schema = {"name": "multiply", "description": "", "parameters": {}}
    tool_schema = {"type": "function", "function": schema}
    call = {"id": "call_0", "type": "function", "function": function}
    messages = [
        {"role": "user", "content": "1 by 2?"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "2", "tool_call_id": "call_0"},
    ]
    answer = LangChainModel(model).chat(messages, tools=[tool_schema], stop=["x"])
    assert answer.tool_requests == (CALL,)
    assert answer.finish_reason == "tool_calls"
    (sent,) = model.script.requests
    assert [message["role"] for message in sent.prompt] == ["user", "assistant", "tool"]
    assert sent.prompt[1]["tool_calls"][0]["function"]["name"] == "multiply"
    assert sent.prompt[2]["tool_call_id"] == "call_0"
    assert (sent.tools, sent.stop) == ((tool_schema,), ("x",))


def test_a_call_without_an_id_or_with_unreadable_arguments_is_kept():
    """no id is made up, and what is no JSON is still a call that wants an answer"""
    bad = {"name": "f", "args": "{oops", "id": "c", "error": ""}
    message = AIMessage(
        "",
        tool_calls=[{"name": "f", "args": {}, "id": None}],
        invalid_tool_calls=[{**bad, "type": "invalid_tool_call"}],
    )
    assert from_message(message).tool_requests == (
        ToolRequest("f", {}, ""),
        ToolRequest("f", {"unreadable": "{oops"}, "c"),
    )


def test_an_answer_that_was_cut_says_so():
    """`length` reaches the completion from a chat model, an LLM and a chain"""
    cut = Completion("One, two,", finish_reason="length")
    chat, llm = ScriptedModel([cut] * 2), text_llm(Script([cut]))
    for model in (chat, llm, chat | StrOutputParser()):
        answer = LangChainModel(model).complete("Count.")
        assert (answer.text, answer.finish_reason) == ("One, two,", "length")


# told while it is written


def talking():
    return GenericFakeChatModel(messages=iter([AIMessage("one two three")]))


@pytest.mark.parametrize("make", [talking, lambda: talking() | StrOutputParser()])
def test_a_langchain_model_streams(make):
    """pieces are told, and added up they are the answer; a stop is kept to"""
    whole, cut = Listener(), Listener(stop_after=2)
    answer = LangChainModel(make()).complete("p", on_text=whole)
    assert len(whole.pieces) > 2
    assert "".join(whole.pieces) == answer.text == "one two three"
    stopped = LangChainModel(make()).complete("p", on_text=cut)
    assert stopped == Completion("one ", finish_reason="cancelled")


class Endless:
    """A model of LangChain's kind whose text has no end."""

    name = "endless"

    def stream(self, asked, config):
        self.chunks = (piece for piece in itertools.repeat("a"))
        return self.chunks


def test_a_stream_that_was_stopped_is_closed():
    """what writes on for ever is told that nobody listens"""
    model = Endless()
    assert LangChainModel(model).complete("p", on_text=Listener(3)).text == "aaa"
    assert next(model.chunks, "closed") == "closed"


def test_what_a_listener_raises_is_its_own():
    """a caller that stumbles over a piece is not told that the model did"""

    def listen(piece):
        raise TypeError(f"no room for {piece!r}")

    with pytest.raises(TypeError, match="no room for 'one'"):
        LangChainModel(talking()).complete("p", on_text=listen)


@pytest.mark.parametrize(
    ("written", "arguments"),
    [('{"yen": 10', {"unreadable": '{"yen": 10'}), ("", {})],
)
def test_half_a_streamed_call_is_not_taken_for_a_whole_one(written, arguments):
    """LangChain reads half a JSON object as if it were a whole one; here it is none"""
    pieces = [{"name": "pay", "args": "", "id": "c1", "index": 0}]
    pieces += [{"name": None, "args": a, "id": None, "index": 0} for a in written]
    message = AIMessageChunk("")
    for piece in pieces:
        message += AIMessageChunk("", tool_call_chunks=[piece])
    assert from_message(message).tool_requests == (ToolRequest("pay", arguments, "c1"),)
