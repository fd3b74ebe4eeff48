"""A hosted model over the wire: its calls, its faults, wrong usage, and the key."""

import json
import traceback

import pytest

from tests.endpoint import Fault, endpoint
from tests.models.listener import Listener
from workbook.fsm import FunctionCalls, Machine
from workbook.guardrails.budget import Budget
from workbook.guardrails.machine import guarded
from workbook.models.base import Completion, ToolRequest, Usage
from workbook.models.hosted import HostedModel, HostedModelError
from workbook.tools.calculator import calculator
from workbook.tools.registry import ToolRegistry
from workbook.traces.writer import TraceWriter

KEY = "sk-made-up-0123456789abcdef"
BOTH = [
    ToolRequest("Calculator", {"expression": "1+1"}, "a"),
    ToolRequest("Calculator", {"expression": "2+2"}, "b"),
]
HELLO = [{"role": "user", "content": "hello"}]


def ours(url, **options):
    """Our client; it tries once, and waits for a second."""
    usual = {"api_key": KEY, "retries": 0, "timeout_s": 1}
    return HostedModel("fake", base_url=url, **{**usual, **options})


STREAMED = pytest.mark.parametrize("on_text", [None, lambda piece: None])


def machine(model, **options):
    tools = ToolRegistry([calculator()])
    return Machine(model, tools, adapter=FunctionCalls, **options)


@STREAMED
def test_calls_go_over_the_wire_and_their_results_back(on_text):
    """two calls in one turn, two observations under their ids, then the answer"""
    with endpoint(BOTH, "2 and 4") as server:
        end = machine(ours(server.url), on_text=on_text).run("1+1, 2+2?")
    assert (end.state, end.answer, end.spent.steps) == ("DONE", "2 and 4", 2)
    sent = server.asked[1]["messages"]
    answered = [(m["tool_call_id"], m["content"]) for m in sent if m["role"] == "tool"]
    assert answered == [("a", "2"), ("b", "4")]
    names = [tool["function"]["name"] for tool in server.asked[0]["tools"]]
    assert names == ["Calculator"]
    assert end.spent.usage.holds


@pytest.mark.parametrize("written", ['{"expression": ', "[1]"])
@STREAMED
def test_arguments_that_are_no_json_are_refused_in_words(on_text, written):
    """half an object as arguments, or none, is no call, and the run goes on"""
    half = ToolRequest("Calculator", written)
    with endpoint([half], "fine") as server:
        end = machine(ours(server.url), on_text=on_text).run("?")
    assert (end.state, end.answer) == ("DONE", "fine")
    assert "Error" in json.dumps(server.asked[1]["messages"])
    cut = Completion("", tool_requests=(half,), finish_reason="length")
    with endpoint(cut) as server:
        assert ours(server.url).chat(HELLO, on_text=on_text).tool_requests == ()


WHOLE = b'{"id":"x","object":"chat.completion","created":1,"model":"m","choices":%s}'
NONE = "sent what is no chat completion"


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault(400, b'{"error": {"message": "too long"}}'), "answered 400: too long"),
        (Fault(500, b"oops"), "answered 500: oops"),
        (Fault(silence_s=9), "has not answered within 1 s: ReadTimeout"),
        (Fault(body=b'{"id": "x", "choi'), NONE),
        (Fault(body=b"[1, 2]"), NONE),
        (Fault(body=b"[" * 100_000), NONE),
        (Fault(body=WHOLE % b"[]"), NONE),
        (Fault(body=WHOLE % b'[{"index": 0, "message": null}]'), NONE),
        (Fault(body=WHOLE % b'[{"message": {"content": 3}}]'), NONE),
        (Fault(body=b'data: {"choices": [{"delta": {"content": "4"}}]}\n\n'), NONE),
        (Fault(body=b'data: {"choices": [{"del'), NONE),
        (Fault(body=b'data: {"choices": []}\n\n'), NONE),
    ],
)
@STREAMED
def test_a_fault_ends_the_run_in_a_sentence(fault, words, on_text):
    """what an endpoint refuses or garbles is said"""
    with endpoint(fault) as server:
        end = machine(ours(server.url), on_text=on_text).run("?")
    assert end.state == "ERROR"
    assert words in end.message


def test_the_key_is_in_no_error_and_no_repr():
    """an endpoint that repeats the key does not get it onto the screen"""
    with endpoint(Fault(401, b'{"error": {"message": "%s"}}' % KEY.encode())) as server:
        model = ours(server.url)
        with pytest.raises(HostedModelError, match=r"401: \[secret\]") as error:
            model.chat(HELLO)
    assert server.keys == [f"Bearer {KEY}"]
    assert KEY not in "".join(traceback.format_exception(error.value))
    assert KEY not in repr(model)


@pytest.mark.parametrize(
    ("statuses", "waits"), [([429, 500, 503], [1.0, 2.0]), ([400], []), ([401], [])]
)
def test_a_busy_endpoint_is_asked_again(monkeypatch, statuses, waits):
    """it waits a little longer each time, at most so often; a refusal ends it"""
    waited = []
    monkeypatch.setattr("workbook.models.hosted.time.sleep", waited.append)
    refused = pytest.raises(HostedModelError, match=str(statuses[-1]))
    with endpoint(*map(Fault, statuses), "never sent") as server, refused:
        ours(server.url, retries=2).complete("?")
    assert (waited, len(server.asked)) == (waits, len(statuses))


def test_a_stream_is_stopped_when_it_is_told_to():
    """pieces are told as they come; what was written up to then is the answer"""
    listen = Listener(stop_after=2)
    with endpoint("one two three") as server:
        answer = ours(server.url).complete("?", on_text=listen)
    assert answer == Completion("one two ", finish_reason="cancelled")
    assert listen.pieces == ["one ", "two "]


def test_an_error_in_a_stream_is_said():
    """what an endpoint says in place of the next piece is in the sentence"""
    said = b'data: {"error": {"message": "overloaded"}}\n\n'
    refused = pytest.raises(HostedModelError, match="overloaded")
    with endpoint(Fault(body=said)) as server, refused:
        ours(server.url).complete("?", on_text=lambda piece: False)


@STREAMED
def test_what_is_reported_is_kept(on_text):
    """text, calls, usage and reason are the same in one piece and in many"""
    turn = Completion("I add.", tool_requests=tuple(BOTH), finish_reason="tool_calls")
    cached = {"prompt_tokens_details": {"cached_tokens": 2}}
    with endpoint(turn, usage=cached) as server:
        answer = ours(server.url).chat(HELLO, on_text=on_text)
    assert (answer.text, answer.tool_requests) == ("I add.", tuple(BOTH))
    assert answer.finish_reason == "tool_calls"
    assert answer.usage == Usage(3, answer.usage.output, 2)


@pytest.mark.parametrize(("own", "asked", "cap"), [(9, None, 9), (9, 4, 4), (4, 9, 4)])
def test_every_request_has_a_cap(own, asked, cap):
    """the smaller cap holds, by the name that the endpoint knows"""
    with endpoint("a" * 99) as server:
        model = ours(server.url, max_tokens=own)
        answer = model.complete("?", stop="\nO", max_tokens=asked)
    assert (answer.usage.output, answer.finish_reason) == (cap, "length")
    (sent,) = server.asked
    assert (sent["max_tokens"], sent["stop"]) == (cap, ["\nO"])
    assert sent["messages"] == [{"role": "user", "content": "?"}]
    assert HostedModel("m").options["max_completion_tokens"] == 512


USAGES = [
    {"prompt_tokens": -(10**9)},
    {"prompt_tokens": None},
    {"completion_tokens": "many"},
    {"prompt_tokens_details": {"cached_tokens": 10**6}},
    {"prompt_tokens_details": "none"},
]


@pytest.mark.parametrize("usage", USAGES, ids=str)
def test_usage_that_cannot_be_is_none(usage):
    """a good answer is not lost because its tokens were counted wrongly"""
    with endpoint("done", usage=usage) as server:
        answer = ours(server.url).complete("?")
    assert (answer.text, answer.usage) == ("done", Usage())


@pytest.mark.parametrize("url", ["http://localhost:port/v1", "http://[::1/v1"])
def test_an_address_that_is_none_is_named(url):
    """what cannot be an endpoint's address is said so, with one that could"""
    with pytest.raises(HostedModelError, match="is no address of an endpoint"):
        HostedModel("fake", base_url=url)


def test_usage_that_cannot_be_widens_no_budget():
    """what was counted wrongly is estimated, and the trace says so"""
    calls = [ToolRequest("Calculator", {"expression": f"{n}+1"}) for n in range(9)]
    told, wrong = TraceWriter(), {"prompt_tokens": -(10**9)}
    with endpoint(*calls, "done", usage=wrong) as server:
        options = {"adapter": FunctionCalls, "hook": told, "budget": Budget(tokens=900)}
        end = guarded(ours(server.url), [calculator()], **options).run("?")
    assert end.state == "EXHAUSTED"
    assert all(turn["usage"]["estimated"] for turn in told.trace().of("model_turn"))
