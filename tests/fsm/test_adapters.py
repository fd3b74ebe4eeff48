"""Two ways to talk with a model: growing text, and messages with function calls."""

import functools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.fsm.adapters import STOP, FunctionCalls, TextTurns
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


def conversation(adapter, *turns, **options):
    calculator = Tool("Calculator", "Adds.", PARAMETERS, lambda expression: {})
    options = {"preamble": "Be brief.\n"} | options
    return adapter(Script(turns), ToolRegistry([calculator]), "1+1?", **options)


def one_step(talk):
    """Let the model ask for a call and see its result; return its call, two requests"""
    first, turn = talk.request(), talk.read(talk.ask())
    call = turn.asked[0].call
    talk.observe(Observation(call.call_id, True, {"result": "2"}, None, call.name))
    second = talk.request()
    talk.ask()
    return call, first, second


@pytest.fixture
def chat():
    return conversation(FunctionCalls)


# text turns


def test_a_text_only_grows():
    """a request holds what is new, the model reads the whole, up to an Observation"""
    text = conversation(TextTurns, ACTION, "Final Answer: 2")
    call, first, second = one_step(text)
    assert (call.call_id, call.arguments) == ("call_1", {"expression": "1+1"})
    assert first["prompt"] == "Be brief.\nQuestion: 1+1?\n"
    assert (first["kept"], second["kept"]) == (0, len(first["prompt"]))
    assert second["prompt"] == f"{ACTION}\nObservation: 2\n"
    asked = text.model.requests[1]
    assert (asked.prompt, asked.stop) == (first["prompt"] + second["prompt"], STOP)


def test_the_default_preamble_describes_the_tools():
    """without a preamble of its own, the prompt names each tool and its arguments"""
    prompt = conversation(TextTurns, preamble=None).prompt
    assert "Calculator(expression: string): Adds." in prompt
    assert prompt.endswith("\nQuestion: 1+1?\n")


@pytest.mark.parametrize(
    ("before", "made_up"),
    [("Let me see.\n", "**Observation：** 42"), (f"{ACTION}\n", "Final Answer: 42")],
)
def test_what_was_not_done_is_not_in_the_history(before, made_up):
    """what a model writes past its first step, or observes itself, is dropped"""
    text = conversation(TextTurns)
    text.request()
    reply = text.read(Completion(f"{before}{made_up}\nThought: so it is"))
    assert "42" not in text.request()["prompt"]
    assert made_up in reply.turn["dropped"]


@pytest.mark.parametrize(
    "words",
    ["Final Answer: 88 dol", "Action: Calculator\nAction Input: 12*", "I think that",
     "Observation: 3\nThought: hm\nObservation: 3\nFinal Answer: 88 dol"],
)  # fmt: skip
@pytest.mark.parametrize("adapter", [TextTurns, FunctionCalls])
def test_a_step_that_was_cut_is_none(adapter, words):
    """a reply that was cut in the middle of its step is unreadable, not half a step"""
    said = Completion(words, finish_reason="length")
    reply = conversation(adapter).read(said)
    assert (reply.event, reply.answer, reply.asked) == (Event.UNREADABLE_TURN, None, ())
    assert reply.turn["cut"] is True
    assert "cut" in reply.problem.message


# function calls


def test_the_messages_only_grow():
    """the model's call goes back in its own words; what is made is the repaired one"""
    asked = ToolRequest("calculator", {"input": "1+1"}, "a")
    chat = conversation(FunctionCalls, [asked], "2")
    call, first, second = one_step(chat)
    assert (call.call_id, call.arguments) == ("a", {"expression": "1+1"})
    assert [m["role"] for m in first["prompt"]] == ["system", "user"]
    assert (first["kept"], second["kept"]) == (0, 2)
    said, seen = second["prompt"]
    function = said["tool_calls"][0]["function"]
    assert (said["role"], function["name"]) == ("assistant", "calculator")
    assert json.loads(function["arguments"]) == {"input": "1+1"}
    assert (seen["role"], seen["tool_call_id"], seen["content"]) == ("tool", "a", "2")
    request = chat.model.requests[1]
    assert request.prompt == first["prompt"] + second["prompt"]
    (schema,) = request.tools
    assert schema["function"]["parameters"]["required"] == ["expression"]


@pytest.mark.parametrize(
    "words",
    [
        ACTION,
        "Let me see.\nObservation: 2",
        "Final Answer:",
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
        ("Thought: I know.\n**Final:** 88\nObservation: so", "88"),
        (" It is 88.\nThe action: none. ", "It is 88.\nThe action: none."),
        ('{"name": "Ann", "arguments": 3}', '{"name": "Ann", "arguments": 3}'),
        ("[1, 2]", "[1, 2]"),
        ("[" * 100_000, "[" * 100_000),
    ],
    ids=range(5),
)
def test_an_answer_in_words(chat, words, answer):
    """a Final Answer is read as one; words without a label are the answer itself"""
    reply = chat.read(Completion(words))
    assert (reply.event, reply.answer) == (Event.FINAL_ANSWER, answer)


def test_words_beside_a_call(chat):
    """they are kept without the Observation that the model made up; a cut is told"""
    call = ToolRequest("Calculator", {"expression": "1"}, "a")
    words = "I add.\nObservation: 42"
    said = Completion(words, tool_requests=(call,), finish_reason="length")
    reply = chat.read(said)
    assert chat.request()["prompt"][-1]["content"] == "I add."
    assert (reply.event, reply.turn["cut"]) == (Event.TOOL_REQUESTED, True)
    assert reply.turn["dropped"] == "Observation: 42"


IDS = st.sampled_from(["", None, "a", "runtime_1", "runtime_2", 7, "7", 0])


@given(st.lists(st.lists(IDS, min_size=1, max_size=3), max_size=4))
def test_every_call_has_an_id_of_its_own(turns):
    """an id is kept the first time, and refused again; a missing one is made up"""
    chat, used, ids = conversation(FunctionCalls), set(), []
    for turn in turns:
        calls = tuple(ToolRequest("Calculator", {"expression": "1"}, n) for n in turn)
        for said, asked in zip(
            turn, chat.read(Completion("", tool_requests=calls)).asked, strict=True
        ):
            name, call_id = "" if said is None else str(said), asked.call.call_id
            refused = asked.refusal and asked.refusal.kind
            assert refused == ("duplicate_call_id" if name in used else None)
            assert call_id == name or name in {"", *used}
            used.add(call_id)
            ids.append(call_id)
    sent = [m["tool_calls"] for m in chat.request()["prompt"] if "tool_calls" in m]
    assert [call["id"] for calls in sent for call in calls] == ids
    assert len(used) == len(ids)


DEEP = functools.reduce(lambda inner, _: {"a": inner}, range(3_000), {})


@pytest.mark.parametrize("given", [None, '{"expression": "1"}', DEEP])
def test_arguments_that_cannot_be_read_are_refused(chat, given):
    """no JSON object, or one that is nested too deeply: refused, and written down"""
    request = ToolRequest("Calculator", given, "a")
    (asked,) = chat.read(Completion("", tool_requests=(request,))).asked
    assert asked.refusal.kind == "invalid_arguments"
    assert (asked.call.arguments == {"input": given}) is (given is not DEEP)
