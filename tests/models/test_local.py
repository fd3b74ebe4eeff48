"""The real model: what it says is its affair, what the runtime does with it is ours."""

import socket
import subprocess
import sys
import threading

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from workbook.models.base import TextModel
from workbook.models.choice import get_model, get_text_model
from workbook.models.hosted import local_model
from workbook.models.langchain import LangChainModel
from workbook.models.local import (
    LocalModelError,
    LocalTextModel,
    close_local_server,
    embed,
    local_server,
)

STOP = "\nObservation:"

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
Thought: Now I take it off.
Action: Calculator
Action Input: 50-5
Observation: 45
Thought: I know the answer.
Final Answer: 45

Question: A product costs $100. 20% is taken off, then 10% is added. What is the final \
price?
"""


def multiply(a: int, b: int) -> int:
    """Multiply two numbers."""
    return a * b


def test_without_stop_it_makes_up_an_observation(local):
    """left alone, the model writes the Observation that only a tool can give"""
    answer = LocalTextModel(max_tokens=64).complete(PROMPT)

    assert STOP in answer.text


def test_stop_ends_the_turn_before_the_observation(local):
    """with the stop sequence the completion ends before any Observation"""
    answer = local.complete(PROMPT, stop=[STOP])

    assert "Observation:" not in answer.text
    assert answer.finish_reason == "stop"


def test_a_prompt_read_before_is_cached(local):
    """the second request with the same beginning reads little of it again"""
    LocalTextModel(max_tokens=1).complete("Something else altogether.")
    first = local.complete(PROMPT, stop=[STOP])
    second = local.complete(f"{PROMPT}Thought:", stop=[STOP])

    assert first.usage.cached < 20
    assert second.usage.cached > 100
    assert second.usage.input > second.usage.cached


def test_it_reports_tokens_and_time(local):
    """a completion carries its token counts and llama.cpp's own timings"""
    answer = LocalTextModel(max_tokens=3).complete("One, two,")

    assert answer.usage.output == 3
    assert answer.finish_reason == "length"
    assert answer.timings["predicted_n"] == 3
    assert answer.timings["predicted_ms"] > 0
    assert isinstance(local, TextModel)


def test_greedy_answers_repeat(local):
    """at temperature 0 the same prompt has the same continuation"""
    model = LocalTextModel(max_tokens=12)
    texts = {model.complete("The three colours are").text for _ in range(3)}

    assert len(texts) == 1


def test_a_grammar_leaves_no_choice(local):
    """with a grammar only what it allows can be written"""
    model = LocalTextModel(grammar='root ::= "yes" | "no"')

    assert model.complete("Is the sky blue?").text in ("yes", "no")


def test_a_prompt_that_is_too_long_is_refused(local):
    """a prompt longer than the context is refused, with both sizes"""
    with pytest.raises(LocalModelError, match=r"\d+ tokens.*8192"):
        local.complete("a " * 9000)


def test_one_server_a_process(local):
    """however many threads ask, one server is loaded, on the loopback interface"""
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(local_server())) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert set(found) == {local_server()}
    assert local_server().url.startswith("http://127.0.0.1:")


def test_chat_client_speaks_to_it(local):
    """ChatOpenAI answers, honours stop, and counts tokens"""
    answer = local_model(max_tokens=8).invoke("Say hello.", stop=["\n"])

    assert answer.content
    assert "\n" not in answer.content
    assert answer.usage_metadata["output_tokens"] <= 8


def test_chat_client_streams(local):
    """the text comes in pieces and the usage with the last of them"""
    chunks = list(local_model(max_tokens=8).stream("Say hello."))

    assert len([chunk for chunk in chunks if chunk.text]) > 2
    counted = [chunk.usage_metadata for chunk in chunks if chunk.usage_metadata]
    assert [usage["output_tokens"] for usage in counted] == [8]


def test_the_real_key_stays_at_home(local, monkeypatch):
    """a key in the environment is never sent to the local server"""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real-0123456789")

    assert local_model().openai_api_key.get_secret_value() == "none-needed"


def test_a_proxy_is_not_asked(local, monkeypatch):
    """proxy settings do not come between the process and itself"""
    close_local_server()  # the next one starts under these settings
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    assert LocalTextModel(max_tokens=2).complete("One").usage.output == 2
    assert local_model(max_tokens=2).invoke("Hi").usage_metadata["output_tokens"] == 2


def test_a_closed_server_is_gone_and_starts_again(local):
    """closing frees the port; the next model starts another server"""
    host, port = (
        local_server().url.removeprefix("http://").removesuffix("/v1").split(":")
    )

    close_local_server()

    with socket.socket() as probe:
        assert probe.connect_ex((host, int(port))) != 0
    assert LocalTextModel(max_tokens=2).complete("One").usage.output == 2


def test_a_server_that_nobody_asks_can_be_closed(real_weights):
    """a process that loads the model and asks it nothing comes to its end"""
    code = (
        "from workbook.models.local import close_local_server, local_server\n"
        "for _ in range(3): local_server(); close_local_server()\n"
        "local_server()"
    )

    done = subprocess.run([sys.executable, "-c", code], timeout=60, check=False)

    assert done.returncode == 0


def test_a_process_ends_while_the_model_writes(real_weights):
    """who stops waiting for a turn can leave: the end of a program waits for none"""
    code = (
        "import threading, time\n"
        "from workbook.models.local import LocalTextModel, local_server\n"
        "model = LocalTextModel(max_tokens=4_000)\n"
        "model.complete('One', max_tokens=1)\n"
        "threading.Thread(target=model.complete, args=['1 2 3'], daemon=True).start()\n"
        "while not local_server()._in_flight: time.sleep(0.01)\n"
        "time.sleep(0.1)"
    )

    done = subprocess.run([sys.executable, "-c", code], timeout=60, check=False)

    assert done.returncode == 0


def test_a_model_outlives_its_server(local):
    """a model that was made before the server was closed starts the next one"""
    model = LocalTextModel(max_tokens=2)
    model.complete("One")
    before = local_server()
    close_local_server()

    assert model.complete("One").usage.output == 2
    with pytest.raises(LocalModelError, match="does not answer"):
        before.post("/v1/completions", {"prompt": "One"})


def test_tools_are_answered_in_words(local):
    """tools bring no error: the model never sees them, and answers in words"""
    question = [{"role": "user", "content": "What is 6 times 7?"}]
    model = local_model(max_tokens=4)
    plain = model.invoke(question)

    answer = model.bind_tools([multiply]).invoke(question)

    assert answer.tool_calls == []
    assert answer.usage_metadata["input_tokens"] == plain.usage_metadata["input_tokens"]


def test_a_history_with_tool_calls_is_read(local):
    """messages of a run with function calls bring no error either"""
    call = {"name": "multiply", "args": {"a": 6, "b": 7}, "id": "c1"}
    messages = [
        HumanMessage("What is 6 times 7?"),
        AIMessage("", tool_calls=[call]),
        ToolMessage("42", tool_call_id="c1"),
    ]

    answer = local_model(max_tokens=4).invoke(messages)

    assert answer.usage_metadata["output_tokens"] <= 4


def test_an_empty_stop_sequence_stops_nothing(local):
    """llama.cpp takes an empty stop sequence for one that has come"""
    model = LocalTextModel(max_tokens=2)

    assert model.complete("One, two,", stop=[""]).usage.output == 2


def test_a_file_that_is_no_model_is_refused(tmp_path):
    """weights that llama.cpp cannot read are named"""
    from workbook.models.local import LocalServer

    (tmp_path / "bad.gguf").write_bytes(b"not a model")

    with pytest.raises(LocalModelError, match=r"could not load .*bad\.gguf"):
        LocalServer(str(tmp_path / "bad.gguf"))


def test_the_client_fits_the_engines(local):
    """asked by an engine the client gives text and token counts"""
    model = LangChainModel(local_model(max_tokens=4))
    answer = model.complete("One, two,")

    assert (answer.usage.output, answer.finish_reason) == (4, "length")
    assert model.name == "SmolLM2-135M-Instruct"


def test_a_reply_without_an_end_is_cut(local, monkeypatch):
    """the local server, spoken to as any endpoint, ends a runaway reply at the cap"""
    monkeypatch.setattr("workbook.models.hosted.MAX_TOKENS", 12)
    monkeypatch.setenv("OPENAI_BASE_URL", local_server().url)
    monkeypatch.setenv("WORKBOOK_MODEL", "openai:SmolLM2")
    grammar = {"extra_body": {"grammar": 'root ::= "a" root'}}  # it cannot end

    text = get_text_model(**grammar).complete("Count.")
    go = [{"role": "user", "content": "Go."}]
    message = LangChainModel(get_model(**grammar)).chat(go)

    for answer in (text, message):
        assert (answer.usage.output, answer.finish_reason) == (12, "length")


def test_the_cap_is_512_tokens(local, monkeypatch):
    """text and chat, the local model is asked for 512 tokens unless told otherwise"""
    assert local.options["max_tokens"] == local_model().max_tokens == 512
    assert LocalTextModel(max_tokens=3).options["max_tokens"] == 3


def test_a_text_has_a_vector(local):
    """an embedding has length 1 and 576 numbers, the same for the same text"""
    one, other, again = embed(["tea", "milk", "tea"])
    assert len(one) == len(other) == 576
    assert sum(x * x for x in one) == pytest.approx(1, abs=1e-4)
    assert one == pytest.approx(again, abs=1e-3)
    assert one != pytest.approx(other, abs=1e-3)


def test_of_a_long_text_the_beginning_has_a_vector(local):
    """a text longer than a batch is cut, and not refused, also within a character"""
    assert len(embed(["\U0001f375" * 2000])[0]) == 576


def test_nothing_has_no_vector(local):
    """an empty text is told as an error of the model"""
    with pytest.raises(LocalModelError, match="empty"):
        embed([""])
