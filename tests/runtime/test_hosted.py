"""A hosted model over the wire: the dialects of endpoints, their faults, the key.

The endpoint is on loopback. Where a case is known from a public report, it is named.
"""

import json
import threading
import traceback
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from workbook.runtime import hosted
from workbook.runtime.calls import ToolCall
from workbook.runtime.hosted import HostedModel, HostedModelError
from workbook.runtime.messages import read_turn
from workbook.runtime.model import Request, ToolRequest, Usage

KEY = "sk-made-up-0123456789abcdef"
HELLO = [{"role": "user", "content": "hello"}]
STREAMED = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


@contextmanager
def endpoint(*answers):
    """Yield the url, the bodies and the keys of an endpoint; its last answer stays.

    An answer is a dict (JSON), a list of chunks, a text, None (silence), a tuple of
    one of these, a status and headers, or a function of the body that returns any.
    """
    found, left = SimpleNamespace(asked=[], keys=[]), list(answers)
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found.asked.append(body)
            found.keys.append(self.headers["Authorization"])
            answer = left.pop(0) if len(left) > 1 else left[0]
            answer = answer(body) if callable(answer) else answer
            over.wait(60 if answer is None else 0)
            answer, *about = answer if isinstance(answer, tuple) else (answer,)
            status, headers = about or (200, {})
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(written(answer).encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_port}/v1"
    with server:
        threading.Thread(target=server.serve_forever, args=(0.02,)).start()
        try:
            yield found
        finally:
            over.set()
            server.shutdown()


def written(answer):
    if isinstance(answer, list):
        lines = [f"data: {json.dumps(each)}\n\n" for each in answer]
        return "".join([*lines, "data: [DONE]\n\n"])
    return answer if isinstance(answer, str) else json.dumps(answer)


def message(finish="stop", **fields):
    full = {"role": "assistant", "content": None, **fields}
    return {"choices": [{"index": 0, "message": full, "finish_reason": finish}]}


def chunk(finish=None, **delta):
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call(name, arguments, **more):
    return {"function": {"name": name, "arguments": arguments}, **more}


class Listener:
    """An `on_text` that keeps the pieces, and stops the model after so many."""

    def __init__(self, stop_after=None):
        self.pieces, self.stop_after = [], stop_after

    def __call__(self, text):
        self.pieces.append(text)
        return len(self.pieces) == self.stop_after


def ours(url, **options):
    """Return our client; it asks once."""
    usual = {"api_key": KEY, "retries": 0, "timeout_s": 60}
    return HostedModel("fake", base_url=url, **{**usual, **options})


def read(whole, pieces=None, stream=True):
    """Return what our client makes of an answer, whole or streamed."""
    with endpoint(pieces if stream and pieces else whole) as server:
        listener = Listener() if stream else None
        return ours(server.url).chat(HELLO, on_text=listener)


def calls_in(response):
    return [(each.name, each.arguments) for each in response.calls]


def test_a_request_has_what_was_asked_for(monkeypatch):
    """messages, or a text as one of the user; temperature 0 and cap 512 unless given"""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # is not asked
    parts = [{"role": "system", "text": "Go.\n"}, {"role": "question", "text": "2+2?"}]
    both = [HELLO[0] | {"role": "system"}, *HELLO]
    tools = [{"type": "function", "function": {"name": "look"}}]
    with endpoint(message(content="4")) as server:
        model = ours(server.url)
        model.chat(both, tools=tools, stop="\nO")
        model.respond(Request(parts, chat=True))
        model.respond(Request(parts))
        ours(server.url, temperature=None, top_p=0.5, max_tokens=None).complete("Go.")
    full, chat, text, own = server.asked
    usual = {"model": "fake", "temperature": 0, "max_tokens": 512}
    assert full == {**usual, "messages": both, "tools": tools, "stop": ["\nO"]}
    assert [each["role"] for each in chat["messages"]] == ["system", "user"]
    as_text = [{"role": "user", "content": "Go.\nQuestion: 2+2?\n"}]
    assert text == {**usual, "messages": as_text}
    alone = [{"role": "user", "content": "Go."}]
    assert own == {"model": "fake", "messages": alone, "top_p": 0.5}


@pytest.mark.parametrize(("own", "asked", "cap"), [(9, None, 9), (9, 4, 4), (4, 9, 4)])
def test_the_smaller_cap_holds(monkeypatch, own, asked, cap):
    """it goes under the name that the endpoint knows: OpenAI's is another one"""
    with endpoint(message(content="4")) as server:
        monkeypatch.setattr(hosted, "OPENAI", server.url)
        for url in (server.url, None):
            ours(url, max_tokens=own).complete("?", max_tokens=asked)
    caps = [{n: v for n, v in sent.items() if "tokens" in n} for sent in server.asked]
    assert caps == [{"max_tokens": cap}, {"max_completion_tokens": cap}]


def refusing(name, status=400):
    """Return an answer that refuses a field of this name, and streams without it."""

    def answer(body):
        if name in body:
            return {"error": {"message": f"Unsupported: '{name}'"}}, status, {}
        return [chunk(content="Final Answer: 4\nObservation: 5"), chunk("stop")]

    return answer


@pytest.mark.parametrize(
    ("name", "status"),
    [("temperature", 400), ("stop", 400), ("max_tokens", 422), ("stream_options", 400)],
)
def test_a_field_that_nobody_asked_for_is_left_out_where_it_is_refused(name, status):
    """QwenLM/qwen-code#921, tmc/langchaingo#1355: asked again once, and remembered"""
    with endpoint(refusing(name, status)) as server:
        model = ours(server.url)
        for _ in range(2):
            reply = model.complete("2+2?", stop=["\nObservation:"], on_text=Listener())
            assert reply.text == "Final Answer: 4"
    assert [name in body for body in server.asked] == [True, False, False]
    cap = server.asked[-1].get("max_completion_tokens")
    assert cap == (512 if name == "max_tokens" else None)


def test_a_field_that_was_asked_for_is_not_left_out_in_silence():
    """a temperature of yours that the model refuses is an error with its words"""
    refused = pytest.raises(HostedModelError, match="answered 400: Unsupported")
    with endpoint(refusing("temperature")) as server, refused:
        ours(server.url, temperature=0.7).complete("?")
    assert len(server.asked) == 1


PATH, OBJECT = '{"path": "a"}', {"path": "a"}
LOOK, CLOCK = ("look", PATH), ("clock", "{}")


@STREAMED
def test_what_is_reported_is_kept(stream):
    """text, calls, usage and reason are the same in one piece and in many"""
    both = [call(*LOOK, id="c1", index=0), call(*CLOCK, id="c2", index=1)]
    cached = {"prompt_tokens_details": {"cached_tokens": 1}}
    used = {"usage": {"prompt_tokens": 3, "completion_tokens": 2, **cached}}
    pieces = [
        chunk(role="assistant", content="I "),
        chunk(content="look."),
        chunk(tool_calls=[call("look", PATH[:4], id="c1", index=0, type="function")]),
        chunk(tool_calls=[{"function": {"arguments": PATH[4:]}, "index": 0}]),
        chunk("tool_calls", tool_calls=both[1:]),
        {"choices": [], **used},
    ]
    whole = message("tool_calls", content="I look.", tool_calls=both) | used
    answer = read(whole, pieces, stream)
    assert (answer.text, answer.finish) == ("I look.", "tool_calls")
    assert answer.calls == (ToolRequest(*LOOK, "c1"), ToolRequest(*CLOCK, "c2"))
    assert (answer.usage, answer.extra) == (Usage(3, 2, 1), {})


THREE = ("", '{"path":', ' "a"}')
CALLS = {  # of each piece: name, arguments, index, id
    "no index: openai-python#2806": ([(*LOOK, None, "a")], [LOOK]),
    "no index, in turn": (
        [("look", "", None, "a"), (*CLOCK, None, "b"), (None, PATH, None, "a")],
        [LOOK, CLOCK],
    ),
    "no index, no id": ([(*LOOK, None, None), (*CLOCK, None, None)], [LOOK, CLOCK]),
    "no index, in pieces": (
        [("look", "", None, "a"), (None, PATH, None, None), (*CLOCK, None, "b")],
        [LOOK, CLOCK],
    ),
    "the name again: hermes-agent#12230": (
        [("look", n, 0, "a") for n in THREE],
        [LOOK],
    ),
    "another id": ([("look", "", 0, "a"), (None, PATH, 0, "b")], [LOOK]),
    "the same index": ([(*LOOK, 0, "a"), (*CLOCK, 0, "b")], [LOOK, CLOCK]),
    "an object between: llama.cpp#20198": (
        [("", "", 0, ""), ("look", OBJECT, 0, ""), (None, "", 0, "")],
        [("look", OBJECT)],
    ),
}


@pytest.mark.parametrize(("pieces", "calls"), CALLS.values(), ids=CALLS)
def test_a_streamed_call_is_put_together(pieces, calls):
    """whatever an endpoint leaves out or repeats, a call is one call"""
    stream = []
    for name, arguments, index, call_id in pieces:
        more = {"index": index} if index is not None else {}
        stream.append(chunk(tool_calls=[call(name, arguments, id=call_id, **more)]))
    assert calls_in(read([*stream, chunk("stop")])) == calls
    both = [call(*LOOK, id="a"), call(*LOOK, id="a")]  # of a whole answer: two
    assert calls_in(read(message(tool_calls=both))) == [LOOK, LOOK]


SIGN = "a\u2028b\u2029c\u0085d"  # httpx-sse#34, dify#39008: no end of a line
HI = [chunk(content=SIGN), chunk("stop")]
FIRST, LAST = (json.dumps(each, ensure_ascii=False) for each in HI)


@pytest.mark.parametrize(
    "lines",
    [
        f"data:{FIRST}\r\n\r\ndata:{LAST}\r\n\r\n",  # opencodex#1170, odysseus#1701
        f": wait\n\nevent: x\ndata: {FIRST}\n\n\n\nid: 2\ndata: {LAST}",
        f"data: {FIRST}\n\ndata: {LAST}\n\ndata: [DONE]\n\ndata: {{broken",
        json.dumps(message(None, content=SIGN), indent=2),
    ],
    ids=["no blank", "comments", "more", "not streamed"],
)
@STREAMED
def test_a_stream_is_read_however_its_lines_are_written(lines, stream):
    """blanks, ends, comments, a whole answer in its place; also where none was asked"""
    answer = read(lines, stream=stream)
    assert (answer.text, answer.finish) == (SIGN, "stop")


ODD = {
    "Roo-Code#9105": {"choices": None, "usage": {"prompt_tokens": 3}},
    "ATOM#1711": {"usage": {"prompt_tokens": 3, "completion_tokens": 1}},
    "agent-framework#5734": {"choices": [{"delta": None, "finish_reason": None}]},
    "null fields": chunk(content=None, tool_calls=None, refusal=None),
    "a message besides": {"choices": [{"delta": {}, "message": {"content": "Ho"}}]},
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_a_chunk_may_lack_what_it_should_have(odd):
    """what is missing in a piece costs neither the text nor the end"""
    found = read([HI[0], odd, HI[1]])
    assert (found.text, found.finish) == (SIGN, "stop")


PARTS = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
    {"type": "text", "text": "Os"},
    {"type": "text", "text": "lo"},
    {"type": "reasoning", "text": "hm"},
]


HALF = ("a\ud83d", ["a", "\ud83d"], "a\ufffd")  # KohakuTerrarium#48
WORDS = (PARTS, [PARTS[:2], "lo"], "Oslo")  # gptel#1035, vercel/ai#8072


@pytest.mark.parametrize(
    ("content", "pieces", "text"), [WORDS, HALF], ids=["parts", "half"]
)
@STREAMED
def test_content_is_made_a_text(content, pieces, text, stream):
    """of parts the words are read, not the thinking; half a character is replaced"""
    streamed = [chunk(content=piece) for piece in pieces]
    assert read(message(content=content), [*streamed, HI[1]], stream).text == text


@STREAMED
def test_what_nobody_here_knows_goes_back_as_it_came(stream):
    """tinyhumansai/openhuman#3548: a thought's signature, with a call or a message"""
    signature = {"google": {"thought_signature": "s1gn"}}
    made = call(*LOOK, id="c1", type="function", extra_content=signature)
    extra = {"reasoning_content": "I look.", "reasoning_details": [{"n": 1}, {"n": 2}]}
    known = {"refusal": None, "annotations": [], "audio": None, "function_call": None}
    pieces = [
        chunk(reasoning_content="I ", reasoning_details=[{"n": 1}], **known),
        chunk(reasoning_content="look.", reasoning_details=[{"n": 2}]),
        chunk("tool_calls", tool_calls=[{**made, "index": 0}]),
    ]
    first = read(message(tool_calls=[made], **extra, **known), pieces, stream)
    registry = SimpleNamespace(bind_call=lambda name, *about: ToolCall(name, {}, "c1"))
    part = read_turn(first.fields(), registry, True, set()).part
    with endpoint(message(content="done")) as server:
        ours(server.url).respond(Request([part], chat=True))
    [sent] = server.asked[0]["messages"]
    assert sent == {"role": "assistant", "content": "", "tool_calls": [made], **extra}


@pytest.mark.parametrize("finish", ["length", "error"])
@STREAMED
def test_a_call_that_was_cut_is_no_call(finish, stream):
    """whole ones before it are kept; razzant/claudexor#144: an error is an end too"""
    written = [PATH, OBJECT, '{"pa', "", "[1]"]
    made = [call("look", text, index=n) for n, text in enumerate(written)]
    pieces = [chunk(tool_calls=made), chunk(finish)]
    answer = read(message(finish, tool_calls=made), pieces, stream)
    assert calls_in(answer) == [LOOK, ("look", OBJECT)]
    assert answer.fields()["finish"] == finish


@pytest.mark.parametrize(
    "odd", [{"completion_tokens": "many"}, {"prompt_tokens_details": "none"}], ids=str
)
def test_usage_that_cannot_be_is_none(odd):
    """a good answer is not lost because its tokens were counted wrongly"""
    usage = {"prompt_tokens": 3, "completion_tokens": 1, **odd}
    answer = read(message(content="done") | {"usage": usage})
    assert (answer.text, answer.usage) == ("done", Usage())


def test_a_stream_is_stopped_by_its_listener():
    """the pieces come one by one; what was written up to then is the answer"""
    listener = Listener(stop_after=2)
    pieces = [chunk(content=word) for word in ("", "one ", "two ", "three")]
    with endpoint([*pieces, chunk("stop")]) as server:
        answer = ours(server.url).complete("?", on_text=listener)
    assert (answer.text, answer.finish, answer.calls) == ("one two ", "cancelled", ())
    assert listener.pieces == ["one ", "two "]


NONE = "sent what is no chat completion"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (({"error": {"message": "long"}}, 400, {}), "answered 400: long"),
        (("oops", 500, {}), "answered 500: oops"),
        # inspect_ai#1534, OpenJarvis#970
        ({"error": {"message": "over", "code": 502}}, "sent an error: .*over"),
        ([chunk(content="a"), {"error": {"message": "over"}}], "sent an error: .*over"),
        (message(refusal="Not that."), "refused: Not that."),
        (message("content_filter", content="Half"), "refused: Half"),
        ('{"id": "x", "choi', NONE),
        ("[" * 100_000, NONE),
        (message(content=3), NONE),
        (message(tool_calls=["look"]), NONE),
        ([chunk(content="4")], f"{NONE}.*broke off"),
        ([], NONE),
    ],
)
@STREAMED
def test_a_fault_is_one_sentence_with_the_host(answer, words, stream):
    """what an endpoint refuses, garbles or breaks off is an error that says so"""
    with pytest.raises(HostedModelError, match=f"^127.0.0.1 {words}") as error:
        read(answer, stream=stream)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


def test_an_endpoint_that_is_not_there_is_named():
    """one that is silent, one that is gone, and an address that can be none"""
    with endpoint(None) as server:
        gone = ours(server.url, timeout_s=0.2)
        with pytest.raises(HostedModelError, match=r"within 0\.2 s: ReadTimeout"):
            gone.chat(HELLO)
    with pytest.raises(HostedModelError, match=r"does not answer.*OPENAI_BASE_URL"):
        gone.chat(HELLO)
    with pytest.raises(HostedModelError, match=r"is no address of an endpoint.*https"):
        HostedModel("fake", base_url="http://localhost:port/v1")


def test_the_key_is_in_no_error_and_no_repr():
    """an endpoint that repeats the key does not get it onto the screen"""
    with endpoint(({"error": {"message": KEY}}, 401, {})) as server:
        model = ours(server.url)
        with pytest.raises(HostedModelError, match=r"401: \[secret\]") as error:
            model.chat(HELLO)
    assert server.keys == [f"Bearer {KEY}"]
    assert KEY not in "".join(traceback.format_exception(error.value))
    assert KEY not in repr(model)


@pytest.mark.parametrize(
    ("statuses", "asked", "waits"),
    [
        ([429, 500, 503], {}, [1.0, 2.0]),
        ([408, 529, 200], {"Retry-After": "7.5"}, [7.5, 7.5]),
        ([503, 200], {"Retry-After": "3600"}, [30.0]),
        ([503, 200], {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, [1.0]),
        ([401], {}, []),
    ],
)
def test_a_busy_endpoint_is_asked_again(monkeypatch, statuses, asked, waits):
    """twice at most, after the time it asks for; a refusal ends it at once"""
    waited = []
    monkeypatch.setattr(hosted.time, "sleep", waited.append)
    answers = [(message(content="Hi"), each, asked) for each in statuses]
    with endpoint(*answers) as server:
        try:
            found = ours(server.url, retries=2).complete("?").text
        except HostedModelError as error:
            found = str(error)
    assert ("Hi" if statuses[-1] == 200 else f"answered {statuses[-1]}") in found
    assert (waited, len(server.asked)) == (waits, len(statuses))
