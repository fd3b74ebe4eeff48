"""Two ways to talk with a model: growing text, and messages with function calls."""

import functools
import itertools
import json
from dataclasses import replace

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


def seen(call_id, text="2"):
    return Observation(call_id, True, {"result": text}, None, "Calculator")


def conversation(adapter, **options):
    calculator = Tool("Calculator", "Adds.", PARAMETERS, lambda expression: {})
    model, options = Script([]), {"preamble": "Be brief.\n"} | options
    return adapter(model, ToolRegistry([calculator]), "1+1?", **options)


@pytest.fixture
def tools():
    return conversation(TextTurns).tools


@pytest.fixture
def text():
    return conversation(TextTurns)


@pytest.fixture
def chat():
    return conversation(FunctionCalls)


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


@pytest.mark.parametrize(
    ("words", "event", "turn"),
    [
        (ACTION, Event.TOOL_REQUESTED, "action"),
        ("Action: Nope\nAction Input: 7", Event.TOOL_REQUESTED, "action"),
        ("Thought: yes\nFinal Answer: 2", Event.FINAL_ANSWER, "final"),
        ("I am not sure.", Event.UNREADABLE_TURN, "malformed"),
    ],
)
def test_a_text_is_an_action_an_answer_or_neither(text, words, event, turn):
    """an action is a bound call, or says why not; what is neither says what to write"""
    reply = text.read(Completion(words))
    assert (reply.event, reply.turn["kind"]) == (event, turn)
    assert reply.answer == ("2" if turn == "final" else None)
    assert "dropped" not in reply.turn
    if turn == "action":
        (asked,) = reply.asked
        said = asked.call.call_id, asked.refusal and asked.refusal.kind
        known = asked.call.name == "Calculator"
        assert said == ("call_1", None if known else "unknown_tool")
        bound = {"expression": "1+1"} if known else {"input": "7"}
        assert asked.call.arguments == bound
    if turn == "malformed":
        assert reply.problem.kind == "unreadable_turn"
        assert "Final Answer" in reply.problem.hint


OBSERVED = ["Observation: 42", "**Observation：** 42", "OBSERVATION 1: 42"]
AGAIN = ["Action: Calculator\nAction Input: 42", "Final Answer: 42"]


@pytest.mark.parametrize(
    ("before", "made_up"),
    [
        *itertools.product(["", "Let me see.\n"], OBSERVED),
        *itertools.product([f"{ACTION}\n"], [*OBSERVED, *AGAIN]),
    ],
)
@pytest.mark.parametrize("after", ["", "\nThought: so it is"])
def test_what_was_not_done_is_not_in_the_history(text, before, made_up, after):
    """what a model writes past its first step, or observes itself, is dropped"""
    text.request()
    reply = text.read(Completion(f"{before}{made_up}{after}"))
    assert "42" not in text.request()["prompt"]
    assert made_up in reply.turn["dropped"]


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


@pytest.mark.parametrize(
    "words",
    [
        ACTION,
        "**Action:** Calculator\n**Action Input:** 1+1",
        "Thought: I must look it up.",
        "Let me see.\nObservation: 2",
        "Final Answer:",
        " \n",
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
        (" It is 88.\nThe action: none. ", "It is 88.\nThe action: none."),
        ('{"name": "Ann", "arguments": 3}', '{"name": "Ann", "arguments": 3}'),
        ("[1, 2]", "[1, 2]"),
        ("[" * 100_000, "[" * 100_000),
    ],
    ids=range(6),
)
def test_an_answer_in_words(chat, words, answer):
    """a Final Answer is read as one; words without a label are the answer itself"""
    reply = chat.read(Completion(words))
    assert (reply.event, reply.answer) == (Event.FINAL_ANSWER, answer)
    assert reply.turn["answer"] == answer


def test_words_beside_a_call(chat):
    """they are kept without the Observation that the model made up; a cut is told"""
    call = ToolRequest("Calculator", {"expression": "1"}, "a")
    words = Completion("I add.\nObservation: 42", tool_requests=(call,))
    reply = chat.read(replace(words, finish_reason="length"))
    assert chat.request()["prompt"][-1]["content"] == "I add."
    assert (reply.event, reply.turn["cut"]) == (Event.TOOL_REQUESTED, True)
    assert reply.turn["dropped"] == "Observation: 42"


IDS = st.sampled_from(["", None, "a", "runtime_1", "runtime_2", 7, "7", 0])


@given(st.lists(st.lists(IDS, min_size=1, max_size=3), max_size=4))
def test_every_call_has_an_id_of_its_own(turns):
    """a genuine id is kept the first time, refused again; a missing one is made up"""
    chat, genuine, used, ids = conversation(FunctionCalls), set(), set(), []
    for turn in turns:
        calls = tuple(ToolRequest("Calculator", {"expression": "1"}, n) for n in turn)
        for said, asked in zip(
            turn, chat.read(Completion("", tool_requests=calls)).asked, strict=True
        ):
            name, call_id = "" if said is None else str(said), asked.call.call_id
            refused = asked.refusal and asked.refusal.kind
            assert refused == ("duplicate_call_id" if name in genuine else None)
            assert call_id == name or name in {"", *used}
            genuine |= {name} - {""}
            used.add(call_id)
            ids.append(call_id)
    sent = [m["tool_calls"] for m in chat.request()["prompt"] if "tool_calls" in m]
    assert [call["id"] for calls in sent for call in calls] == ids
    assert len(used) == len(ids)


DEEP = functools.reduce(lambda inner, _: {"a": inner}, range(3_000), {})


@pytest.mark.parametrize("given", [None, [1], '{"expression": "1"}', DEEP])
def test_arguments_that_cannot_be_read_are_refused(chat, given):
    """no JSON object, or one that is nested too deeply: refused, and written down"""
    request = ToolRequest("Calculator", given, "a")
    (asked,) = chat.read(Completion("", tool_requests=(request,))).asked
    assert asked.refusal.kind == "invalid_arguments"
    assert (asked.call.arguments == {"input": given}) is (given is not DEEP)
