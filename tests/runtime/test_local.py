"""The real model: what it writes is its affair, what we make of it is ours."""

import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.runtime.test_hosted import HELLO, Listener, endpoint
from workbook.choice import get_text_model, model_health
from workbook.runtime.hosted import HostedModel
from workbook.runtime.local import (
    NAME,
    SHARED,
    LocalModelError,
    LocalServer,
    LocalTextModel,
    close_local_server,
    local_server,
)
from workbook.runtime.model import Request
from workbook.weights import fetch_weights

IN_CI = pytest.mark.in_ci  # by default the model is asked once
STOP = "\nObservation:"
ENDLESS = 'root ::= "a" root'
STEP = """Question: What is 12 times 7?
Thought: I need to multiply.
Action: Calculator
Action Input: 12*7
Observation: 84
Thought: I know the answer.
Final Answer: 84

"""
PROMPT = f"Use the calculator.\n\n{STEP}{STEP}Question: What is 100 times 0.2?\n"


@pytest.fixture(scope="session")
def weights():
    """The real weights; fetched, once, when this machine has none."""
    return fetch_weights()


@pytest.fixture(scope="session")
def local(weights):
    """The real model, loaded."""
    return LocalTextModel()


def test_stop_ends_the_turn_before_the_observation(local):
    """left alone it writes the Observation; a prompt read before is cached"""
    assert STOP in LocalTextModel(max_tokens=64).complete(PROMPT).text
    LocalTextModel(max_tokens=1).complete("Something else altogether.")
    first = local.complete(PROMPT, stop=[STOP])
    assert "Observation:" not in first.text
    assert first.finish == "stop"
    second = local.complete(f"{PROMPT}Thought:", stop=[STOP])
    assert first.usage.cached < 20
    assert second.usage.input > second.usage.cached > 100


@IN_CI
def test_it_reports_tokens_and_time(local):
    """a response has its token counts, as counted before, and llama.cpp's timings"""
    capped = LocalTextModel(max_tokens=3)
    answer = capped.complete("One, two,", max_tokens=9, stop=[""])  # "" stops nothing
    assert (answer.usage.output, answer.finish) == (3, "length")
    assert answer.timings["predicted_n"] == 3
    assert answer.timings["predicted_ms"] > 0
    request = Request([{"role": "question", "text": "2+2?"}], chat=True)
    assert capped.respond(request).text == capped.complete("Question: 2+2?\n").text
    for prompt in ("", "日本語 1234<|im_start|>user"):
        read = local.complete(prompt, max_tokens=1).usage.input
        assert local.count(prompt) == read
    with pytest.raises(LocalModelError, match=r"\d+ tokens.*8192"):
        local.complete("a " * 9000)


@IN_CI
def test_it_streams(local):
    """its pieces are the whole answer; its listener stops it, and the next is asked"""
    listener = Listener()
    whole = local.complete("One, two,", stop=["seven"])
    answer = local.complete("One, two,", stop=["seven"], on_text=listener)
    assert len(listener.pieces) > 2
    assert "".join(listener.pieces) == answer.text == whole.text
    assert answer.finish == whole.finish == "stop"
    assert answer.usage.output == whole.usage.output
    endless = LocalTextModel(grammar=ENDLESS, max_tokens=4000)
    answer = endless.complete("One, two,", on_text=Listener(stop_after=3))
    assert answer.finish == "cancelled"
    assert 3 <= answer.usage.output < 1000
    assert answer.usage.input == endless.count("One, two,")


@IN_CI
def test_it_is_an_endpoint_like_any_other(local, monkeypatch):
    """messages, caps and streams work by its address, without a key or a proxy"""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    listener = Listener()
    model = HostedModel(NAME, base_url=local_server().url, max_tokens=6)
    answer = model.chat(HELLO, on_text=listener)
    assert "".join(listener.pieces) == answer.text
    assert (answer.usage.output, answer.finish) == (6, "length")
    endless = HostedModel(NAME, base_url=local_server().url, grammar=ENDLESS)
    assert endless.chat(HELLO, on_text=Listener(3)).finish == "cancelled"


def port_of(server):
    return int(server.url.removeprefix("http://127.0.0.1:").removesuffix("/v1"))


@IN_CI
def test_a_model_outlives_its_server(local):
    """closing frees the port; whoever asks next, in any thread, starts one server"""
    before = local_server()
    close_local_server()
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port_of(before))) != 0
    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(lambda _: local_server(), range(4)))
    assert local.complete("One", max_tokens=2).usage.output == 2
    assert found == {local_server()}
    with pytest.raises(LocalModelError, match="does not answer"):
        before.post("/v1/completions", {"prompt": "One"})


UNASKED = """
from workbook.runtime.local import close_local_server, local_server
for _ in range(3):
    local_server()
    close_local_server()
local_server()
"""
WRITING = """
import atexit, os, threading
from workbook.runtime.local import LocalTextModel

written, begun = [], threading.Event()

@atexit.register  # before the server's own, so that it is called after it
def nobody_waited():
    if written:
        os._exit(9)

def write():
    model = LocalTextModel(max_tokens=4_000, grammar='root ::= "a" root')
    written.append(model.complete("1 2 3", on_text=lambda text: begun.set()))

threading.Thread(target=write, daemon=True).start()
assert begun.wait(60)
"""


@IN_CI
@pytest.mark.parametrize("code", [UNASKED, WRITING], ids=["unasked", "writing"])
def test_a_process_can_end(weights, code):
    """a program ends although the model was not asked, or is still writing"""
    done = subprocess.run([sys.executable, "-c", code], timeout=300, check=False)
    assert done.returncode == 0


def test_what_cannot_be_loaded_is_named(tmp_path, monkeypatch):
    """weights that llama.cpp cannot read; a library that cannot be imported"""
    (tmp_path / "bad.gguf").write_bytes(b"not a model")
    with pytest.raises(LocalModelError, match=r"could not load .*bad\.gguf"):
        LocalServer(str(tmp_path / "bad.gguf"))
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(LocalModelError, match="run `pip install xllamacpp`"):
        LocalServer("any.gguf")


@pytest.fixture
def shared(monkeypatch):
    """Return a function that names an address as the class's; undone afterwards."""
    close_local_server()
    yield lambda address: monkeypatch.setenv(SHARED, address)
    close_local_server()


@IN_CI
def test_all_ask_the_one_server(weights, shared):
    """where the variable names a server, it is asked, and nothing is loaded here"""
    server = LocalServer(str(weights))
    shared(f"{server.url}/")
    try:
        assert get_text_model("local", max_tokens=4).complete("One").usage.output == 4
        assert local_server().url == server.url
        assert not isinstance(local_server(), LocalServer)
        assert server.url in model_health("local")[1]
        with pytest.raises(LocalModelError, match=f"not have port {port_of(server)}"):
            LocalServer(str(weights), port_of(server))
    finally:
        server.close()


@pytest.mark.parametrize("wrong", ["http://127.0.0.1:9", "http://127.0.0.1:ten", None])
def test_a_server_that_is_not_there_is_named(shared, wrong):
    """an address without a model, or with another page, is named with what to do"""
    with endpoint("<html>") as page:
        shared(address := wrong or page.url.removesuffix("/v1"))
        with pytest.raises(LocalModelError, match=f"{address}.*unset"):
            local_server()
        well, _, fix = model_health("local")
    assert (well, SHARED in fix) == (False, True)


def test_weights_that_are_missing_are_named(shared, monkeypatch, tmp_path):
    """without the workbook around it, the runtime fetches nothing"""
    monkeypatch.setenv("WORKBOOK_CACHE", str(tmp_path))
    monkeypatch.setitem(sys.modules, "workbook.weights", None)
    with pytest.raises(LocalModelError, match=f"no weights: {tmp_path}"):
        local_server()
