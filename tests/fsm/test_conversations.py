"""Two ways to talk with a model: growing text, and messages with function calls."""

import functools
import json
from dataclasses import replace

import pytest

from workbook.fsm.conversations import STOP, FunctionCalls, TextTurns
from workbook.fsm.machine import Machine
from workbook.fsm.table import Event
from workbook.models.base import Completion, ToolRequest
from workbook.models.script import Script
from workbook.record.writer import TraceWriter
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


SPELLINGS = [
    "Observation: 42",
    "Observation： 42",
    "**Observation:** 42",
    "OBSERVATION: 42",
    "Observation 1: 42",
]


@pytest.mark.parametrize("observation", SPELLINGS)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Let me see.\n", ""),
        ("", ""),
        ("Action: Calculator\n", "\nThought: so it is"),
        ("Thought: add\nAction: Calculator\nAction Input: 1+1\n", "\nFinal Answer: 42"),
        ("Thought: add\n", "\nFinal Answer: 2"),
        ("", "\nAction: Calculator\nAction Input: 1+1"),
        ("Final Answer: 2\n", "\nThought: so it is"),
    ],
)
def test_a_made_up_observation_is_dropped(text, before, after, observation):
    """a made-up Observation is not kept, however it is written and wherever it stands

    The trace says that it was dropped.
    """
    text.request()
    reply = text.read(Completion(f"{before}{observation}{after}"))
    assert "42" not in text.request()["prompt"]
    assert observation in reply.turn["dropped"]


def test_a_turn_that_was_read_whole_has_dropped_nothing(text):
    """where all was read, it is kept to the letter, and the trace names nothing"""
    assert "dropped" not in text.read(Completion(ACTION)).turn


@pytest.mark.parametrize(
    "words",
    ["Final Answer: 88 dol", "Action: Calculator\nAction Input: 12*", "I think that",
     "Observation: 3\nThought: hm\nObservation: 3\nFinal Answer: 88 dol"],
)  # fmt: skip
@pytest.mark.parametrize("adapter", ["text", "chat"])
def test_a_step_that_was_cut_is_none(request, adapter, words):
    """a reply that was cut in the middle of its step is unreadable, not half a step"""
    conversation = request.getfixturevalue(adapter)
    reply = conversation.read(Completion(words, finish_reason="length"))
    assert (reply.event, reply.answer, reply.asked) == (Event.UNREADABLE_TURN, None, ())
    assert reply.turn["cut"] is True
    assert "cut" in reply.problem.message


def test_a_cut_behind_the_step_is_told_and_harms_nothing(text):
    """a cut in words that are dropped leaves the step whole; the trace tells of it"""
    words = "Final Answer: 88\nQuestion: What is the"
    reply = text.read(Completion(words, finish_reason="length"))
    assert (reply.event, reply.answer) == (Event.FINAL_ANSWER, "88")
    assert (reply.turn["cut"], reply.turn["dropped"]) == (True, "Question: What is the")


def test_the_trace_says_that_calls_were_cut(chat):
    """calls in a message that reached its limit are made, and the trace says so"""
    calls = (ToolRequest("Calculator", {"expression": "1"}, "a"),)
    reply = chat.read(Completion("", tool_requests=calls, finish_reason="length"))
    assert (reply.event, reply.turn["cut"]) == (Event.TOOL_REQUESTED, True)


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
    later = chat.read(Completion("", tool_requests=(replace(request, call_id=None),)))
    asked = [*reply.asked, *later.asked]
    assert len({one.call.call_id for one in asked} - {"", "None"}) == 3
    assert [one.refusal for one in asked] == [None, None, None]
    sent = [m["tool_calls"] for m in chat.request()["prompt"] if "tool_calls" in m]
    ids = [call["id"] for calls in sent for call in calls]
    assert ids == [one.call.call_id for one in asked]


def test_a_made_up_id_never_takes_a_genuine_ones_place(chat):
    """an id that the model's side sends is no duplicate of one that we made up

    It is renamed the first time, and refused when it comes a second time.
    """
    request = ToolRequest("Calculator", {"expression": "1"}, "")
    (made,) = chat.read(Completion("", tool_requests=(request,))).asked
    genuine = replace(request, call_id=made.call.call_id)
    (first,) = chat.read(Completion("", tool_requests=(genuine,))).asked
    (second,) = chat.read(Completion("", tool_requests=(genuine,))).asked
    assert len({one.call.call_id for one in (made, first, second)}) == 3
    assert first.refusal is None
    assert second.refusal.kind == "duplicate_call_id"


def test_a_run_without_call_ids_calls_in_every_turn(tools):
    """an endpoint that sends no ids gets every call made, turn after turn"""
    call = ToolRequest("Calculator", {"expression": "1"}, "")
    trace = TraceWriter(secrets=())
    model = Script([call, call, [call, call], "2"])
    Machine(model, tools, hook=trace, adapter=FunctionCalls).run("1+1?")
    seen = trace.trace().of("observation")
    assert [one["ok"] for one in seen] == [True] * 4
    assert len({one["call_id"] for one in seen}) == 4


@pytest.mark.parametrize("given", [None, [1], '{"expression": "1"}'])
def test_arguments_that_are_no_object_are_refused(chat, given):
    """arguments that are no JSON object are refused, and kept as the input they were"""
    request = ToolRequest("Calculator", given, "a")
    (asked,) = chat.read(Completion("", tool_requests=(request,))).asked
    assert asked.refusal.kind == "invalid_arguments"
    assert asked.call.arguments == {"input": given}


def test_arguments_nested_too_deeply_are_refused(chat):
    """arguments that are nested too deeply to be read are an observation, no crash"""
    deep = functools.reduce(lambda inner, _: {"a": inner}, range(3_000), {})
    request = ToolRequest("Calculator", deep, "a")
    (asked,) = chat.read(Completion("", tool_requests=(request,))).asked
    assert asked.refusal.kind == "invalid_arguments"


def test_a_call_id_is_text(chat):
    """a server that counts its calls with numbers gets them back as text"""
    request = ToolRequest("Calculator", {"expression": "1"}, 7)
    reply = chat.read(Completion("", tool_requests=(request, request)))
    zero = chat.read(Completion("", tool_requests=(replace(request, call_id=0),)))
    asked = [*reply.asked, *zero.asked]
    assert [one.call.call_id for one in asked][::2] == ["7", "0"]
    assert [one.refusal is None for one in asked] == [True, False, True]


def test_text_without_a_call_is_the_answer(chat):
    """a message without a call is the answer"""
    reply = chat.read(Completion(" 2 "))
    assert (reply.event, reply.answer) == (Event.FINAL_ANSWER, "2")


@pytest.mark.parametrize(
    "words",
    [
        ACTION,
        "**Action:** Calculator\n**Action Input:** 1+1",
        f"{ACTION}\nObservation: 2\nFinal Answer: 2",
        "Action: Calculator",
        "Thought: I must look it up.",
        "Observation: 2",
        "Let me see.\nObservation: 2",
        "Final Answer:",
        '{"name": "Calculator", "arguments": {"expression": "1+1"}}',
        '```json\n{"name": "Calculator", "parameters": {"expression": "1+1"}}\n```',
        '<tool_call>\n{"name": "Calculator", "arguments": {}}\n</tool_call>',
    ],
)
def test_a_step_in_words_is_no_answer(chat, words):
    """a step that is written in words is unreadable here, and never the answer

    The model is told to call the tool as a function; what it made up is not kept.
    """
    chat.request()
    reply = chat.read(Completion(words))
    assert (reply.event, reply.answer) == (Event.UNREADABLE_TURN, None)
    assert "function" in reply.problem.hint
    assert "Observation" not in json.dumps(chat.request()["prompt"])


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("Final Answer: 88", "88"),
        ("Thought: I know.\n**Final:** 88\nObservation: so", "88"),
        ("It is 88.\nThe action: none.", "It is 88.\nThe action: none."),
        ('{"name": "Ann", "arguments": 3}', '{"name": "Ann", "arguments": 3}'),
        ("[1, 2]", "[1, 2]"),
        ("{" * 100_000, "{" * 100_000),
        ("[" * 100_000, "[" * 100_000),
    ],
    ids=range(7),
)
def test_an_answer_in_words(chat, words, answer):
    """a Final Answer is read as one; words without a label are the answer itself"""
    reply = chat.read(Completion(words))
    assert (reply.event, reply.answer) == (Event.FINAL_ANSWER, answer)
    assert reply.turn["answer"] == answer


def test_a_made_up_observation_beside_a_call_is_dropped(chat):
    """words beside a call are kept without the Observation that the model made up"""
    call = ToolRequest("Calculator", {"expression": "1"}, "a")
    reply = chat.read(Completion("I add.\nObservation: 42", tool_requests=(call,)))
    assert chat.request()["prompt"][-1]["content"] == "I add."
    assert reply.turn["dropped"] == "Observation: 42"


def test_an_empty_message_is_unreadable(chat):
    """a message with neither text nor call is a problem; the user says so"""
    chat.request()
    reply = chat.read(Completion(" \n"))
    chat.observe(Observation.failed("", reply.problem))
    (message,) = chat.request()["prompt"]
    assert reply.event == Event.UNREADABLE_TURN
    assert message["role"] == "user"
    assert "unreadable_turn" in message["content"]
