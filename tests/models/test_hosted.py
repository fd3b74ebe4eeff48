"""A hosted model: its key is asked for by name, and shown nowhere."""

import asyncio
import json
import threading
import traceback
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from workbook.models.choice import MissingKey, UnknownModel, get_model
from workbook.models.hosted import HostedModelError

SECRET = "sk-very-secret-0123456789"


class Endpoint(BaseHTTPRequestHandler):
    """An endpoint that refuses everybody and repeats their key."""

    def do_POST(self):
        asked = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.bodies.append(json.loads(asked))
        self.server.keys.append(self.headers["Authorization"])
        said = f"no such key: {self.headers['Authorization']}"
        body = json.dumps({"error": {"message": said}}).encode()
        self.send_response(401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Print nothing."""


@pytest.fixture
def endpoint(monkeypatch):
    server = HTTPServer(("127.0.0.1", 0), Endpoint)
    server.keys, server.bodies = [], []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def test_a_missing_key_is_named():
    """without a key the message names the variable and what needs none"""
    with pytest.raises(MissingKey) as error:
        get_model("gpt-4o-mini")

    for words in ("'gpt-4o-mini'", "OPENAI_API_KEY", "OPENAI_BASE_URL", "local"):
        assert words in str(error.value)


@pytest.mark.parametrize("key", ["“sk-quoted”", "sk-two words", "sk-\x07"])
def test_a_key_copied_wrongly_is_said_without_showing_it(monkeypatch, key):
    """a key with impossible characters is refused before it is sent"""
    monkeypatch.setenv("OPENAI_API_KEY", key)

    with pytest.raises(MissingKey, match="copy the key again") as error:
        get_model("gpt-4o-mini")
    assert key not in str(error.value)


def test_a_line_break_behind_the_key_is_forgiven(monkeypatch):
    """space around a key does not belong to it"""
    monkeypatch.setenv("OPENAI_API_KEY", f" {SECRET}\n")

    assert get_model("m").openai_api_key.get_secret_value() == SECRET


def test_an_endpoint_of_ones_own_needs_no_key(endpoint):
    """with OPENAI_BASE_URL set a placeholder is sent in place of a key"""
    with pytest.raises(Exception, match="no such key"):
        get_model("llama3.2:3b", max_retries=0).invoke("hi")

    assert endpoint.keys == ["Bearer none-needed"]


@pytest.mark.parametrize(
    "url", ["localhost:11434/v1", "http://[1", "http://", "ollama"]
)
def test_a_base_url_that_is_none_is_said(monkeypatch, url):
    """without http:// in front nothing can be asked, and the message shows how"""
    monkeypatch.setenv("OPENAI_BASE_URL", url)

    with pytest.raises(UnknownModel, match=r"OPENAI_BASE_URL.*http://localhost"):
        get_model("llama3.2:3b")


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"api_key": SECRET}, SECRET),
        ({"base_url": "http://127.0.0.1:9/v1"}, "none-needed"),
    ],
)
def test_a_key_or_an_endpoint_may_be_given(options, key):
    """what is given as an option need not stand in the environment"""
    assert get_model("m", **options).openai_api_key.get_secret_value() == key


def test_an_endpoint_that_does_not_answer_is_named(monkeypatch):
    """an error about a connection says which host it was, and where that is set"""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")

    with pytest.raises(Exception, match="Connection error") as error:
        get_model("m", max_retries=0).invoke("hi")
    (note,) = error.value.__notes__
    assert note == "127.0.0.1 does not answer: see OPENAI_BASE_URL."


def test_the_key_is_in_no_repr(monkeypatch):
    """neither the model nor a bound one shows the key"""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    model = get_model("gpt-4o-mini")

    assert SECRET not in f"{model!r} {model} {model.bind(stop=['x'])!r}"
    assert SECRET not in str(model.model_dump())


def invoke(model):
    model.invoke("hi")


def stream(model):
    list(model.stream("hi"))


def ainvoke(model):
    asyncio.run(model.ainvoke("hi"))


def astream(model):
    async def read():
        return [chunk async for chunk in model.astream("hi")]

    asyncio.run(read())


@pytest.mark.parametrize("ask", [invoke, stream, ainvoke, astream])
def test_the_key_is_in_no_error(endpoint, monkeypatch, ask):
    """an endpoint that repeats the key does not get it onto the screen"""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    model = get_model("gpt-4o-mini", max_retries=0)

    with pytest.raises(HostedModelError, match=r"AuthenticationError.*secret") as error:
        ask(model)

    assert endpoint.keys == [f"Bearer {SECRET}"]
    assert SECRET not in "".join(traceback.format_exception(error.value))


@pytest.mark.parametrize(
    ("options", "cap"),
    [({}, 512), ({"max_tokens": 9}, 9), ({"max_completion_tokens": 9}, 9)],
)
@pytest.mark.parametrize("own", [False, True])
def test_every_request_has_a_cap(endpoint, monkeypatch, options, cap, own):
    """512 tokens unless asked otherwise, by the name that the endpoint knows"""
    if not own:
        monkeypatch.delenv("OPENAI_BASE_URL")
    model = get_model("m", api_key=SECRET, **options)

    sent = model._get_request_payload("hi")

    assert sent["max_tokens" if own else "max_completion_tokens"] == cap
    assert len({"max_tokens", "max_completion_tokens"} & sent.keys()) == 1


@pytest.mark.parametrize("ask", [invoke, stream, ainvoke, astream])
def test_the_cap_is_sent(endpoint, ask):
    """however the model is asked, the cap is in the request"""
    with pytest.raises(Exception, match="no such key"):
        ask(get_model("m", max_retries=0))

    assert [body["max_tokens"] for body in endpoint.bodies] == [512]
