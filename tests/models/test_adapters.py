"""LangChain's models, scripts and functions behind the same two protocols."""

import pytest
from langchain_core.language_models import FakeListLLM
from langchain_core.runnables import RunnableLambda

from workbook.models import Completion, Script, ToolRequest, Usage
from workbook.models.adapters import as_chat_model, as_text_model
from workbook.models.langchain import ScriptedModel
from workbook.models.local import local_completion, local_model

CALL = ToolRequest("add", {"a": 2}, "call_1")
TOOL = {
    "type": "function",
    "function": {"name": "add", "description": "Adds.", "parameters": {}},
}


def test_what_fits_is_returned_as_it_is():
    """a model that already fits is not wrapped"""
    script = Script(["a"])

    assert as_text_model(script) is script
    assert as_chat_model(script) is script


def test_a_chat_model_continues_a_prompt():
    """stop goes in, text and usage come out"""
    model = ScriptedModel(["Action Input: 1\nObservation: 2"])

    answer = as_text_model(model).complete("1234", stop=["\nObservation:"])

    assert answer == Completion("Action Input: 1", Usage(3, 4, 0))
    assert model.requests[0].stop == ("\nObservation:",)


def test_what_was_bound_stays_bound():
    """a model that was bound to a stop sequence keeps it"""
    model = ScriptedModel(["a\nObservation: 2"]).bind(stop=["\nObservation:"])

    assert as_text_model(model).complete("p").text == "a"


def test_a_chat_model_answers_messages():
    """messages with calls and tool results go in, tool requests come out"""
    model = ScriptedModel([CALL])
    function = {"name": "add", "arguments": '{"a": 1}'}
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "1 and 2?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "call_0", "type": "function", "function": function}],
        },
        {"role": "tool", "content": "1", "tool_call_id": "call_0"},
    ]

    answer = as_chat_model(model).chat(messages, stop=["x"])

    assert answer.tool_requests == (CALL,)
    assert answer.finish_reason == "tool_calls"
    sent = model.requests[0]
    assert [message["role"] for message in sent.prompt] == [
        "system",
        "user",
        "assistant",
        "tool",
    ]
    assert sent.prompt[2]["tool_calls"][0]["function"]["name"] == "add"
    assert sent.prompt[3]["tool_call_id"] == "call_0"
    assert sent.stop == ("x",)


def test_tools_are_bound():
    """tool schemas reach a LangChain chat model"""
    model = ScriptedModel([CALL])

    answer = as_chat_model(model).chat([{"role": "user", "content": "?"}], tools=[TOOL])

    assert answer.tool_requests == (CALL,)
    assert model.requests[0].tools == (TOOL,)


def test_an_llm_continues_a_prompt():
    """a LangChain LLM, text in and text out, fits as well"""
    answer = as_text_model(FakeListLLM(responses=["hello"])).complete("p")

    assert answer.text == "hello"


def test_a_runnable_continues_a_prompt():
    """a chain that answers with a string fits as well"""
    assert as_text_model(RunnableLambda(str.upper)).complete("abc").text == "ABC"


def test_a_function_is_a_model():
    """a function of the prompt can stand in, and its answer is cut at stop"""
    model = as_text_model(lambda prompt: f"{prompt}!\nObservation: 3")

    assert model.complete("hi", stop=["\nObservation:"]).text == "hi!"


def test_a_function_may_answer_in_full():
    """a function can give a whole completion"""
    answer = Completion("a", Usage(1, 2))

    assert as_text_model(lambda prompt: answer).complete("p") == answer


@pytest.mark.parametrize("answer", [None, 3, b"text"])
def test_a_function_without_a_text_is_named(answer):
    """a function that answers anything but text is told so, with a guess"""
    with pytest.raises(TypeError, match="forget a return"):
        as_text_model(lambda prompt: answer).complete("p")


@pytest.mark.parametrize("thing", [None, 3, "gpt-4o-mini", Script])
def test_what_is_no_model_is_refused(thing):
    """anything else is named, with what would fit"""
    with pytest.raises(TypeError, match="give a TextModel"):
        as_text_model(thing)
    with pytest.raises(TypeError, match="give a ChatModel"):
        as_chat_model(thing)


@pytest.mark.parametrize("model", [FakeListLLM(responses=["a"]), len])
def test_what_takes_text_alone_takes_no_messages(model):
    """an LLM or a function cannot answer messages"""
    with pytest.raises(TypeError, match="does not take messages"):
        as_chat_model(model)


def test_the_real_clients_fit(local):
    """both clients of the local model give text and token counts"""
    for client in (local_model(max_tokens=4), local_completion(max_tokens=4)):
        answer = as_text_model(client).complete("One, two,")

        assert answer.usage.output == 4
        assert answer.finish_reason == "length"
        assert as_text_model(client).name == "SmolLM2-135M-Instruct"
