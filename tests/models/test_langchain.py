"""The scripted model where LangChain expects a chat model."""

import itertools

import pytest
from langchain.agents import create_agent
from langchain_classic.agents import AgentExecutor, create_react_agent
from langchain_core.language_models import FakeListLLM
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    HumanMessage,
    ToolMessage,
)
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import PromptTemplate
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import Tool, tool

from workbook.models.base import Completion, ToolRequest, Usage
from workbook.models.langchain import (
    LangChainModel,
    ScriptedModel,
    from_message,
    text_llm,
)
from workbook.models.script import Script, ScriptExhausted

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
    assert model.script.requests[0].stop == ("\nObservation:",)


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
    assert model.script.requests[0].tools[0]["function"]["name"] == "multiply"


def test_it_streams():
    """a stream brings the text, and the usage with it"""
    chunks = list(ScriptedModel(["Thought: I multiply.\n"]).stream("p"))

    assert "".join(chunk.text for chunk in chunks) == "Thought: I multiply.\n"
    assert [c.usage_metadata["output_tokens"] for c in chunks if c.usage_metadata] == [
        6
    ]


@pytest.mark.parametrize("ask", ["invoke", "stream"])
def test_errors_come_out_as_they_are(ask):
    """an error in the script, and its end, reach the caller"""
    model = ScriptedModel([ConnectionError("401 no such key")])

    with pytest.raises(ConnectionError, match="401"):
        list(getattr(model, ask)("p"))
    with pytest.raises(ScriptExhausted, match="request 2"):
        list(getattr(model, ask)("p"))


def test_a_message_reworded_in_place_is_sent_as_it_is_now():
    """a message that was changed between two requests is not taken for the old one"""
    model = ScriptedModel(["a", "b"])
    message = HumanMessage("in dollars")
    model.invoke([message])
    message.content = "in yen"
    model.invoke([message])

    assert [r.prompt[0]["content"] for r in model.script.requests] == [
        "in dollars",
        "in yen",
    ]


def test_it_drives_todays_agent():
    """create_agent runs the tool and hands the model its result"""
    model = ScriptedModel([CALL, "It is 42."])

    result = create_agent(model, [multiply]).invoke({"messages": [("user", "6 by 7?")]})

    assert result["messages"][-1].content == "It is 42."
    assert isinstance(result["messages"][-2], ToolMessage)
    assert model.script.requests[1].prompt[-1]["content"] == "42"


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
    assert "Observation: 42" in model.script.requests[1].prompt[0]["content"]


def test_an_llm_of_ours_keeps_usage_and_stop():
    """a text model is a LangChain LLM with its token counts, cut at stop"""
    script = Script(["Thought: one\nObservation: 2"])

    result = text_llm(script).generate(["Q\nThought:"], stop=["\nObservation:"])

    assert result.generations[0][0].text == " one"
    assert result.llm_output["token_usage"]["prompt_tokens"] == 3


def test_what_langchain_can_ask_is_taken_as_it_is():
    """a LangChain model needs no wrapper, and anything else is refused"""
    model = ScriptedModel(["a"])

    assert text_llm(model) is model
    with pytest.raises(TypeError, match="a str cannot continue a prompt"):
        text_llm("gpt-4o-mini")


def test_a_chat_model_continues_a_prompt():
    """stop goes in, text and usage come out"""
    model = ScriptedModel(["Action Input: 1\nObservation: 2"])

    answer = LangChainModel(model).complete("1234", stop=["\nObservation:"])

    assert answer == Completion("Action Input: 1", Usage(3, 4, 0))


def test_a_chat_model_answers_messages():
    """messages, tool results and tool schemas go in, tool requests come out"""
    model = ScriptedModel([CALL])
    function = {"name": "multiply", "arguments": '{"a": 1, "b": 2}'}
    schema = {"name": "multiply", "description": "", "parameters": {}}
    tool_schema = {"type": "function", "function": schema}
    messages = [
        {"role": "user", "content": "1 by 2?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "call_0", "type": "function", "function": function}],
        },
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


@pytest.mark.parametrize(
    "model", [FakeListLLM(responses=["ABC"]), RunnableLambda(str.upper)]
)
def test_what_answers_with_a_text_continues_a_prompt(model):
    """an LLM, or a chain that answers with a string, fits as well"""
    assert LangChainModel(model).complete("abc").text == "ABC"


def test_a_call_with_unreadable_arguments_is_kept():
    """a call whose arguments are no JSON is still a call that wants an answer"""
    bad = {
        "name": "f",
        "args": "{oops",
        "id": "c",
        "error": "",
        "type": "invalid_tool_call",
    }

    answer = from_message(AIMessage("", invalid_tool_calls=[bad]))

    assert answer.tool_requests == (ToolRequest("f", {"unreadable": "{oops"}, "c"),)


def test_a_call_without_an_id_has_none():
    """no id is made up for a call: whoever runs it makes one that nobody has used"""
    message = AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": None}])

    assert from_message(message).tool_requests == (ToolRequest("f", {}, ""),)


def test_calls_without_ids_are_told_apart_in_langchain():
    """an agent of LangChain's ties each result to its call, with ids or without"""
    free = {"name": "multiply", "arguments": {"a": 6, "b": 7}}
    named = {**free, "id": "call_2"}
    turns = [{"calls": [free, free]}, {"calls": [named]}, {"calls": [free]}, "42"]
    model = ScriptedModel(turns)

    found = create_agent(model, [multiply]).invoke({"messages": [("user", "6 by 7?")]})

    ids = [m.tool_call_id for m in found["messages"] if isinstance(m, ToolMessage)]
    assert (len(ids), len(set(ids))) == (4, 4)
    assert "call_2" in ids


def test_an_answer_that_was_cut_says_so():
    """`length` reaches the completion from a chat model, an LLM and a chain"""
    cut = Completion("One, two,", finish_reason="length")
    chat, llm = ScriptedModel([cut] * 2), text_llm(Script([cut]))

    for model in (chat, llm, chat | StrOutputParser()):
        answer = LangChainModel(model).complete("Count.")
        assert (answer.text, answer.finish_reason) == ("One, two,", "length")


# told while it is written


class Listener:
    """An `on_text` that keeps what it is told, and says stop after so many pieces."""

    def __init__(self, stop_after=None):
        self.pieces, self.stop_after = [], stop_after

    def __call__(self, text):
        self.pieces.append(text)
        return len(self.pieces) == self.stop_after


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


def test_a_langchain_model_keeps_to_the_smaller_cap():
    """the cap of one call reaches the model, unless its own is smaller"""
    answer = LangChainModel(ScriptedModel(["abcdefghij"])).complete("p", max_tokens=2)
    assert (answer.text, answer.usage.output) == ("abcdefgh", 2)


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


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ('{"yen": 100}', {"yen": 100}),
        ('{"yen": 10', {"unreadable": '{"yen": 10'}),
        ("", {}),
    ],
)
def test_half_a_streamed_call_is_not_taken_for_a_whole_one(written, arguments):
    """LangChain reads half a JSON object as if it were a whole one; here it is none"""
    pieces = [{"name": "pay", "args": "", "id": "c1", "index": 0}]
    pieces += [{"name": None, "args": a, "id": None, "index": 0} for a in written]
    message = AIMessageChunk("")
    for piece in pieces:
        message += AIMessageChunk("", tool_call_chunks=[piece])
    assert from_message(message).tool_requests == (ToolRequest("pay", arguments, "c1"),)
