"""A hosted model over the wire: calls that succeed, faults, and usage that is wrong."""

import json

import pytest

from tests.endpoint import Fault, endpoint
from workbook.fsm import FunctionCalls, Machine, TextTurns
from workbook.guardrails.budget import Budget
from workbook.guardrails.machine import guarded
from workbook.langchain_trace.agents import graph_agent
from workbook.models.base import ToolRequest
from workbook.models.hosted import hosted_model
from workbook.models.langchain import LangChainModel
from workbook.record.writer import TraceWriter
from workbook.tools.calculator import calculator
from workbook.tools.registry import ToolRegistry

KEY = "sk-made-up-0123456789abcdef"
BOTH = [
    ToolRequest("Calculator", {"expression": "1+1"}, "a"),
    ToolRequest("Calculator", {"expression": "2+2"}, "b"),
]
WHOLE = b'{"id":"x","object":"chat.completion","created":1,"model":"m","choices":%s}'
STREAMED = pytest.mark.parametrize("streamed", [False, True])


def machine(url, adapter=FunctionCalls, streamed=False, **options):
    """Return a machine on a hosted model that tries once, and waits for a second."""
    hosted = hosted_model("fake", base_url=url, api_key=KEY, max_retries=0, timeout=1)
    on_text = (lambda piece: None) if streamed else None
    tools = ToolRegistry([calculator()])
    options |= {"adapter": adapter, "on_text": on_text}
    return Machine(LangChainModel(hosted), tools, **options)


@STREAMED
def test_calls_go_over_the_wire_and_their_results_back(streamed):
    """two calls in one turn, two observations under their ids, then the answer"""
    told = TraceWriter()
    with endpoint(BOTH, "2 and 4") as server:
        end = machine(server.url, streamed=streamed, hook=told).run("1+1, 2+2?")
    assert (end.state, end.answer, end.spent.steps) == ("DONE", "2 and 4", 2)
    seen = [event["text"] for event in told.trace().of("observation")]
    assert seen == ["2", "4"]
    sent = server.asked[1]["messages"]
    answered = [(m["tool_call_id"], m["content"]) for m in sent if m["role"] == "tool"]
    assert answered == [("a", "2"), ("b", "4")]
    assert [tool["function"]["name"] for tool in server.asked[0]["tools"]] == [
        "Calculator"
    ]
    assert end.spent.usage.holds


def test_create_agent_makes_the_same_calls():
    """LangChain's own agent comes to the same answer from the same endpoint"""
    with endpoint(BOTH, "2 and 4") as server:
        hosted = hosted_model("fake", base_url=server.url, api_key=KEY)
        said = graph_agent(hosted, [calculator()]).invoke({"messages": ["?"]})
    assert said["messages"][-1].content == "2 and 4"
    assert [m.content for m in said["messages"] if m.type == "tool"] == ["2", "4"]


@STREAMED
def test_a_text_agent_asks_the_same_endpoint(streamed):
    """text turns are sent as one message, and the observation comes with the next"""
    turns = ["Action: Calculator\nAction Input: 40+2", "Final Answer: 42"]
    with endpoint(*turns) as server:
        end = machine(server.url, TextTurns, streamed).run("40+2?")
    assert (end.state, end.answer) == ("DONE", "42")
    assert "Observation: 42" in server.asked[1]["messages"][0]["content"]
    assert server.asked[0]["stop"] == ["\nObservation:"]


@STREAMED
def test_arguments_that_are_no_json_are_refused_in_words(streamed):
    """half an object as arguments is no call, and the run goes on"""
    half = ToolRequest("Calculator", '{"expression": ')
    with endpoint([half], "fine") as server:
        end = machine(server.url, streamed=streamed).run("?")
    assert (end.state, end.answer) == ("DONE", "fine")
    assert "Error" in json.dumps(server.asked[1]["messages"])


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault(400, b'{"error": {"message": "too long"}}'), "400 - too long"),
        (Fault(401, b'{"error": {"message": "no key"}}'), "401 - no key"),
        (Fault(429, b'{"error": {"message": "slowly"}}'), "429 - slowly"),
        (Fault(500, b"oops"), "500"),
        (Fault(silence_s=9), "does not answer"),
        (Fault(body=b'{"id": "x", "choi'), "no chat completion"),
        (Fault(body=b""), "no chat completion"),
        (Fault(body=b"<html>a proxy</html>"), "no chat completion"),
        (Fault(body=b"[1, 2]"), "no chat completion"),
        (Fault(body=b'{"hello": 1}'), "no chat completion"),
        (Fault(body=WHOLE % b"[]"), "no chat completion"),
        (Fault(body=WHOLE % b"null"), "no chat completion"),
        (Fault(body=WHOLE % b"[{}]"), "no chat completion"),
        (Fault(body=WHOLE % b'[{"index": 0, "message": null}]'), "no chat completion"),
    ],
)
@STREAMED
def test_a_fault_ends_the_run_in_a_sentence(fault, words, streamed):
    """what an endpoint refuses or garbles is said, without the key"""
    with endpoint(fault) as server:
        end = machine(server.url, streamed=streamed).run("?")
    assert end.state == "ERROR"
    assert words in end.message
    assert KEY not in end.message


USAGES = [
    {},
    {"prompt_tokens": -(10**9)},
    {"prompt_tokens": None},
    {"prompt_tokens": "many"},
    {"completion_tokens": -5},
    {"prompt_tokens": 0, "completion_tokens": 0},
    {"prompt_tokens_details": {"cached_tokens": 10**6}},
]


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize("usage", USAGES, ids=str)
def test_usage_that_cannot_be_widens_no_budget(usage):
    """what was counted wrongly or not at all is estimated, and the trace says so"""
    calls = [ToolRequest("Calculator", {"expression": f"{n}+1"}) for n in range(9)]
    told, budget = TraceWriter(), Budget(tokens=900)
    with endpoint(*calls, "done", usage=usage) as server:
        model = machine(server.url).model
        options = {"adapter": FunctionCalls, "hook": told, "budget": budget}
        end = guarded(model, [calculator()], **options).run("?")
    assert end.state == "EXHAUSTED"
    assert 0 < end.spent.usage.input <= 900
    turns = told.trace().of("model_turn")
    assert turns
    assert all(turn["usage"]["estimated"] for turn in turns)
