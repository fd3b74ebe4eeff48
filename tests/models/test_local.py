"""The real model: what it says is its affair, what the runtime does with it is ours."""

import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.endpoint import Fault, endpoint
from tests.models.listener import Listener
from workbook.models.choice import get_text_model, model_health
from workbook.models.embeddings import embed
from workbook.models.hosted import HostedModel
from workbook.models.local import (
    NAME,
    SHARED,
    LocalModelError,
    LocalServer,
    LocalTextModel,
    close_local_server,
    local_server,
)

STOP = "\nObservation:"
ENDLESS = 'root ::= "a" root'
GO = [{"role": "user", "content": "Go."}]
PROMPT = """Answer with the calculator. Use this format.

Question: What is 12 times 7?
Thought: I need to multiply.
Action: Calculator
Action Input: 12*7
Observation: 84
Thought: I know the answer.
Final Answer: 84

Question: A shirt costs $50 and is 10% off. What is the price?
Thought: I need the discount first.
Action: Calculator
Action Input: 50*0.1
Observation: 5
Thought: I know the answer.
Final Answer: 45

Question: A product costs $100 and is 20% off. What is the price?
"""


def test_stop_ends_the_turn_before_the_observation(local):
    """left alone it writes the Observation; a prompt read before is cached"""
    assert STOP in LocalTextModel(max_tokens=64).complete(PROMPT).text
    LocalTextModel(max_tokens=1).complete("Something else altogether.")
    first = local.complete(PROMPT, stop=[STOP])
    assert "Observation:" not in first.text
    assert first.finish_reason == "stop"
    second = local.complete(f"{PROMPT}Thought:", stop=[STOP])
    assert first.usage.cached < 20
    assert second.usage.input > second.usage.cached > 100


def test_it_reports_tokens_and_time(local):
    """a completion has its token counts and llama.cpp's own timings, capped"""
    answer = LocalTextModel(max_tokens=3).complete("One, two,", max_tokens=9)
    assert (answer.usage.output, answer.finish_reason) == (3, "length")
    assert answer.timings["predicted_n"] == 3
    assert answer.timings["predicted_ms"] > 0
    # llama.cpp takes an empty stop sequence for one that has come
    assert local.complete("One, two,", stop=[""], max_tokens=2).usage.output == 2
    assert local.options["max_tokens"] == 512


def test_a_prompt_that_is_too_long_is_refused(local):
    """a prompt longer than the context is refused, with both sizes"""
    with pytest.raises(LocalModelError, match=r"\d+ tokens.*8192"):
        local.complete("a " * 9000)


@pytest.mark.parametrize("prompt", ["", " x\n", "日本語 1234<|im_start|>user"])
def test_it_counts_as_it_reads(local, prompt):
    """the tokens counted before a call are those of the usage after it"""
    assert local.count(prompt) == local.complete(prompt, max_tokens=1).usage.input


def test_it_streams(local):
    """told in pieces, the text, its tokens and its end are those of a whole answer"""
    listener = Listener()
    whole = local.complete("One, two,", stop=["seven"])
    answer = local.complete("One, two,", stop=["seven"], on_text=listener)
    assert len(listener.pieces) > 2
    assert "".join(listener.pieces) == answer.text == whole.text
    assert answer.finish_reason == whole.finish_reason == "stop"
    assert answer.usage.output == whole.usage.output


def test_it_stops_when_it_is_told_to(local):
    """it stops writing, says what it cost, and has time for the next at once"""
    endless = LocalTextModel(grammar=ENDLESS, max_tokens=4000)
    answer = endless.complete("One, two,", on_text=Listener(stop_after=3))
    assert answer.finish_reason == "cancelled"
    assert 3 <= answer.usage.output < 100
    assert answer.usage.input == endless.count("One, two,")
    assert local.complete("One", max_tokens=1).usage.output == 1


# asked as any endpoint is


def test_it_is_asked_as_any_endpoint_is(local, monkeypatch):
    """messages, caps and streams work by its address, without the key or a proxy"""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real-0123456789")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    model = HostedModel(NAME, base_url=local_server().url, max_tokens=6)
    listener = Listener()
    answer = model.chat(GO, on_text=listener)
    assert "".join(listener.pieces) == answer.text
    assert (answer.usage.output, answer.finish_reason) == (6, "length")
    assert "none-needed" in model._client.headers["Authorization"]
    endless = HostedModel(NAME, base_url=local_server().url, grammar=ENDLESS)
    assert endless.chat(GO, on_text=Listener(3)).finish_reason == "cancelled"


# the server


def test_a_model_outlives_its_server(local):
    """closing frees the port; whoever asks next, in any thread, starts one server"""
    model = LocalTextModel(max_tokens=2)
    model.complete("One")
    before = local_server()
    host, port = before.url.removeprefix("http://").removesuffix("/v1").split(":")
    assert host == "127.0.0.1"
    close_local_server()
    with socket.socket() as probe:
        assert probe.connect_ex((host, int(port))) != 0
    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(lambda _: local_server(), range(4)))
    assert model.complete("One").usage.output == 2
    assert found == {local_server()}
    with pytest.raises(LocalModelError, match="does not answer"):
        before.post("/v1/completions", {"prompt": "One"})


UNASKED = """
from workbook.models.local import close_local_server, local_server
for _ in range(3):
    local_server()
    close_local_server()
local_server()
"""
WRITING = """
import atexit, os, threading, time
from workbook.models.local import LocalTextModel

@atexit.register  # before the server's own, so that it is called after it
def ended_in_time():
    if time.monotonic() - asked_to_end > 10:
        os._exit(9)

begun = threading.Event()
model = LocalTextModel(max_tokens=4_000)
asked = {"args": ["1 2 3"], "kwargs": {"on_text": lambda text: begun.set()}}
threading.Thread(target=model.complete, **asked, daemon=True).start()
assert begun.wait(60)
asked_to_end = time.monotonic()
"""


@pytest.mark.parametrize("code", [UNASKED, WRITING], ids=["unasked", "writing"])
def test_a_process_can_end(real_weights, code):
    """a program ends at once though the model was not asked, or is still writing"""
    done = subprocess.run([sys.executable, "-c", code], timeout=120, check=False)
    assert done.returncode == 0


def test_a_file_that_is_no_model_is_refused(tmp_path):
    """weights that llama.cpp cannot read are named"""
    (tmp_path / "bad.gguf").write_bytes(b"not a model")
    with pytest.raises(LocalModelError, match=r"could not load .*bad\.gguf"):
        LocalServer(str(tmp_path / "bad.gguf"))


def test_a_library_that_cannot_be_loaded_is_named(monkeypatch):
    """where xllamacpp cannot be imported, one line says how to get it"""
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(LocalModelError, match="run `pip install xllamacpp`"):
        LocalServer("any.gguf")


# one server for a class


@pytest.fixture
def shared(monkeypatch):
    """Return a function that names an address as the class's; undone afterwards."""
    close_local_server()
    yield lambda address: monkeypatch.setenv(SHARED, address)
    close_local_server()


def test_all_ask_the_one_server(real_weights, shared):
    """text model and chat client ask the server of `serve-model`, and load nothing"""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "workbook", "serve-model", f"--port={port}"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        variable, _, address = server.stdout.readline().strip().partition("=")
        assert variable == SHARED
        shared(f"{address}/v1/")
        model = get_text_model("local", max_tokens=4)
        assert model.complete("One, two,").usage.output == 4
        assert local_server().url == f"{address}/v1"
        assert not isinstance(local_server(), LocalServer)
        assert address in model_health("local")[1]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert (done.returncode, str(port) in done.stderr) == (2, True)
    finally:
        server.kill()
        server.communicate()


@pytest.mark.parametrize("wrong", ["http://127.0.0.1:9", "http://127.0.0.1:ten"])
def test_a_server_that_is_not_there_is_named(shared, wrong):
    """an address where no model answers is an error that names it and what to do"""
    shared(wrong)
    with pytest.raises(LocalModelError, match="serve-model") as error:
        local_server()
    assert wrong in str(error.value)
    well, _, fix = model_health("local")
    assert (well, SHARED in fix) == (False, True)


def test_a_page_that_is_no_model_is_named(shared):
    """an address where something else answers is told apart from a model's"""
    with endpoint(Fault(body=b"<html>")) as page:
        shared(page.url)
        with pytest.raises(LocalModelError, match="serve-model"):
            local_server()


# a vector for a text


def test_a_text_has_a_vector(local):
    """an embedding has length 1 and 576 numbers, also of a text that is cut"""
    one, other, again, long = embed(["tea", "milk", "tea", "\U0001f375" * 2000])
    assert len(one) == len(long) == 576
    assert sum(x * x for x in one) == pytest.approx(1, abs=1e-4)
    assert one == pytest.approx(again, abs=1e-3)
    assert one != pytest.approx(other, abs=1e-3)
    with pytest.raises(LocalModelError, match="empty"):
        embed([""])
