"""Two ways to talk with a model: growing text, and messages with function calls."""

import json

import pytest

from workbook.fsm.conversations import STOP, FunctionCalls, TextTurns
from workbook.fsm.table import Event
from workbook.models.base import Completion, ToolRequest
from workbook.models.script import Script
from workbook.tools.calls import Observation
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import Tool

PARAMETERS = {
    "type": "object",
    "properties": {"expression": {"type": "string"}},
    "required": ["expression"],
}
ACTION = "Thought: add\nAction: Calculator\nAction Input: 1+1"


def seen(call_id, text="2"):
    return Observation(call_id, True, {"result": text}, None, "Calculator")


@pytest.fixture
def tools():
    calculator = Tool(
        "Calculator", "Adds.", PARAMETERS, lambda expression: {"result": 2}
    )
    return ToolRegistry([calculator])


@pytest.fixture
def text(tools):
    return TextTurns(Script([]), tools, "1+1?", preamble="Be brief.\n")


@pytest.fixture
def chat(tools):
    return FunctionCalls(Script([]), tools, "1+1?", preamble="Be brief.")


# text turns


def test_the_text_prompt_only_grows(text):
    """each request holds what is new; before it stands the one before, to the letter"""
    first = text.request()
    reply = text.read(Completion(ACTION))
    text.observe(seen(reply.asked[0].call.call_id))
    second = text.request()
    assert first["prompt"] == "Be brief.\nQuestion: 1+1?\n"
    assert (first["kept"], second["kept"]) == (0, len(first["prompt"]))
    assert second["prompt"] == f"{ACTION}\nObservation: 2\n"


def test_the_model_gets_the_whole_prompt_and_the_stop_sequence(tools):
    """the model is asked with the whole prompt and is stopped before an Observation"""
    model = Script([ACTION, "Final Answer: 2"])
    text = TextTurns(model, tools, "1+1?", preamble="")
    text.read(text.ask())
    text.observe(seen("call_1"))
    text.ask()
    assert model.requests[1].prompt == f"Question: 1+1?\n{ACTION}\nObservation: 2\n"
    assert model.requests[1].stop == STOP


def test_the_default_preamble_describes_the_tools(tools):
    """without a preamble of its own, the prompt names each tool and its arguments"""
    prompt = TextTurns(Script([]), tools, "1+1?").request()["prompt"]
    assert "Calculator(expression: string): Adds." in prompt
    assert prompt.endswith("\nQuestion: 1+1?\n")


def test_a_text_action_becomes_a_call(text):
    """an action is bound to the tool's own argument and gets the next call_id"""
    first, second = (text.read(Completion(ACTION)) for _ in range(2))
    assert first.event == Event.TOOL_REQUESTED
    assert first.asked[0].call.arguments == {"expression": "1+1"}
    assert first.turn["kind"] == "action"
    calls = [first.asked[0].call.call_id, second.asked[0].call.call_id]
    assert calls == ["call_1", "call_2"]


def test_a_call_that_cannot_be_made_says_why(text):
    """a tool that does not exist is a call with a refusal, and keeps its input"""
    reply = text.read(Completion("Action: Nope\nAction Input: 7"))
    (asked,) = reply.asked
    assert asked.refusal.kind == "unknown_tool"
    assert (asked.call.name, asked.call.arguments) == ("Nope", {"input": "7"})


def test_an_answer_in_text(text):
    """a Final Answer is the answer"""
    reply = text.read(Completion("Thought: yes\nFinal Answer: 2"))
    assert (reply.event, reply.answer) == (Event.FINAL_ANSWER, "2")
    assert reply.turn == {"kind": "final", "thought": "yes", "answer": "2"}


def test_an_unreadable_text_says_what_to_write(text):
    """a turn without a step is a problem that says how to write one"""
    reply = text.read(Completion("I am not sure."))
    assert reply.event == Event.UNREADABLE_TURN
    assert reply.problem.kind == "unreadable_turn"
    assert "Final Answer" in reply.problem.hint


@pytest.mark.parametrize(
    "beyond",
    [
        "\nObservation: 3\nThought: so\nFinal Answer: 3",
        "\nAction: Calculator\nAction Input: 2+2",
        "\nFinal Answer: 1+1",
        "\n**observation：** 3",
    ],
)
def test_what_was_not_done_is_not_in_the_history(text, beyond):
    """what a model writes past its first step does not come back to it as done"""
    text.request()
    text.read(Completion(ACTION + beyond))
    assert text.request()["prompt"] == ACTION


def test_a_made_up_observation_in_an_unreadable_turn_is_dropped(text):
    """an Observation that the model made up is not kept, whatever stands before it"""
    text.request()
    text.read(Completion("Let me see.\nObservation: 42"))
    assert text.request()["prompt"] == "Let me see."


# function calls


def test_the_messages_only_grow(chat):
    """each request holds the new messages and says how many came before"""
    first = chat.request()
    reply = chat.read(
        Completion("", tool_requests=(ToolRequest("Calculator", {"x": 1}, "a"),))
    )
    chat.observe(seen("a"))
    second = chat.request()
    assert [m["role"] for m in first["prompt"]] == ["system", "user"]
    assert (first["kept"], second["kept"]) == (0, 2)
    assert [m["role"] for m in second["prompt"]] == ["assistant", "tool"]
    assert second["prompt"][1]["tool_call_id"] == "a"
    assert reply.turn["kind"] == "calls"


def test_the_model_gets_function_schemas(tools):
    """the model is asked with all messages and the schema of each tool"""
    model = Script(["2"])
    FunctionCalls(model, tools, "1+1?", preamble="").ask()
    (request,) = model.requests
    assert request.prompt == [{"role": "user", "content": "1+1?"}]
    (schema,) = request.tools
    assert schema["type"] == "function"
    assert schema["function"]["name"] == "Calculator"
    assert schema["function"]["parameters"]["required"] == ["expression"]


def test_the_models_own_call_goes_back_in_its_own_words(chat):
    """the assistant message repeats the call as the model wrote it, not as repaired"""
    request = ToolRequest("calculator", {"input": "1+1"}, "a")
    reply = chat.read(Completion("hm", tool_requests=(request,)))
    message = chat.request()["prompt"][-1]
    function = message["tool_calls"][0]["function"]
    assert function["name"] == "calculator"
    assert json.loads(function["arguments"]) == {"input": "1+1"}
    assert reply.asked[0].call.arguments == {"expression": "1+1"}


def test_several_calls_stay_in_order(chat):
    """several calls in one message are several calls, in the order of the message"""
    requests = tuple(
        ToolRequest("Calculator", {"expression": f"{n}+{n}"}, f"id{n}")
        for n in range(3)
    )
    reply = chat.read(Completion("", tool_requests=requests))
    assert [one.call.call_id for one in reply.asked] == ["id0", "id1", "id2"]


def test_a_used_call_id_is_refused_and_gets_one_of_its_own(chat):
    """a call_id that was used before is refused; the refusal has a new call_id"""
    request = ToolRequest("Calculator", {"expression": "1"}, "a")
    other = ToolRequest("Calculator", {"expression": "2"}, "a")
    reply = chat.read(Completion("", tool_requests=(request, other)))
    again = chat.read(Completion("", tool_requests=(request,)))
    asked = [*reply.asked, *again.asked]
    assert len({one.call.call_id for one in asked}) == 3
    assert [one.refusal and one.refusal.kind for one in asked] == [
        None,
        "duplicate_call_id",
        "duplicate_call_id",
    ]


def test_a_call_without_an_id_gets_one(chat):
    """a server that gives no call_id is no reason to mix up two calls"""
    request = ToolRequest("Calculator", {"expression": "1"}, "")
    reply = chat.read(Completion("", tool_requests=(request, request)))
    assert [one.call.call_id for one in reply.asked] == ["call_1", "call_2"]
    assert [one.refusal for one in reply.asked] == [None, None]


@pytest.mark.parametrize("given", [None, [1], '{"expression": "1"}'])
def test_arguments_that_are_no_object_are_refused(chat, given):
    """arguments that are no JSON object are refused, and kept as the input they were"""
    request = ToolRequest("Calculator", given, "a")
    (asked,) = chat.read(Completion("", tool_requests=(request,))).asked
    assert asked.refusal.kind == "invalid_arguments"
    assert asked.call.arguments == {"input": given}


def test_a_call_id_is_text(chat):
    """a server that counts its calls with numbers gets them back as text"""
    request = ToolRequest("Calculator", {"expression": "1"}, 7)
    reply = chat.read(Completion("", tool_requests=(request, request)))
    assert [one.call.call_id for one in reply.asked] == ["7", "7_again_2"]


def test_text_without_a_call_is_the_answer(chat):
    """a message without a call is the answer"""
    reply = chat.read(Completion(" 2 "))
    assert (reply.event, reply.answer) == (Event.FINAL_ANSWER, "2")


def test_an_empty_message_is_unreadable(chat):
    """a message with neither text nor call is a problem; the user says so"""
    chat.request()
    reply = chat.read(Completion(" \n"))
    chat.observe(Observation.failed("", reply.problem))
    (message,) = chat.request()["prompt"]
    assert reply.event == Event.UNREADABLE_TURN
    assert message["role"] == "user"
    assert "unreadable_turn" in message["content"]
