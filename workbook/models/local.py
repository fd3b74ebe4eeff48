"""The real model, without a key: three ways to ask the server of `server.py`.

langchain-openai talks to it as it talks to any other. `LocalTextModel` asks it without
LangChain and keeps everything that it says about tokens and time.
"""

from __future__ import annotations

import atexit
import json
import os
import threading
import urllib.error
import urllib.request
import warnings
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from workbook.models.base import Completion, Usage
from workbook.models.prompts import stop_sequences
from workbook.models.weights import WeightsError, fetch_weights

if TYPE_CHECKING:
    from langchain_openai import ChatOpenAI, OpenAI

NAME = "SmolLM2-135M-Instruct"
CONTEXT_TOKENS = 8192
"""The context that the model was trained for: prompt and answer together."""


class LocalModelError(RuntimeError):
    """The local model could not be started, or refused a request."""


class LocalServer:
    """llama.cpp's server with the weights loaded, on a free loopback port.

    Args:
        weights: path of a GGUF file.
        context_tokens: prompt and answer together.
    """

    def __init__(self, weights: str, context_tokens: int = CONTEXT_TOKENS) -> None:
        try:
            import xllamacpp
        except ImportError as error:
            raise LocalModelError(
                f"xllamacpp cannot be imported ({error}): run `pip install xllamacpp`"
            ) from error
        params = xllamacpp.CommonParams()
        params.model.path = weights
        params.model_alias = {NAME}
        params.port = 0
        params.verbosity = -1
        params.n_ctx = context_tokens
        params.n_parallel = 1
        params.cache_ram_mib = 0  # only the prompt before is remembered: repeatable
        params.ui = False
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads()
        try:
            self._server: Any = xllamacpp.Server(params)
        except RuntimeError as error:
            raise LocalModelError(
                f"llama.cpp could not load {weights}: {error}"
            ) from None
        self.address: str = self._server.listening_address
        self.url = f"{self.address}/v1"
        # No proxy stands between this process and itself.
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
        # A server that is closed before its loop has begun waits for it for ever. The
        # loop answers this.
        with suppress(OSError), self._open(f"{self.address}/slots") as response:
            response.read()

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send JSON to an endpoint and return what it answers.

        Raises:
            LocalModelError: the server refused, for instance a prompt too long, or is
                closed.
        """
        request = urllib.request.Request(
            self.address + path,
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        try:
            with self._open(request) as response:
                answer: dict[str, Any] = json.load(response)
        except urllib.error.HTTPError as error:
            raise LocalModelError(f"{NAME}: {_reason(error)}") from None
        except urllib.error.URLError as error:
            raise LocalModelError(
                f"{NAME}: its server does not answer ({error.reason}). Was it closed?"
                " local_server() gives the one that runs."
            ) from None
        return answer

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens of a text as the model splits it; joined, the text again.

        A piece that is no whole character is shown as U+FFFD.
        """
        body = {"content": text, "with_pieces": True}
        pieces = (token["piece"] for token in self.post("/tokenize", body)["tokens"])
        return [
            piece if isinstance(piece, str) else bytes(piece).decode(errors="replace")
            for piece in pieces
        ]

    def close(self) -> None:
        """Stop the server and free the weights."""
        self._server = None


def threads() -> int:
    """Return how many threads compute: all cores but one, at most four.

    They wait for each other by spinning. On two cores with something else running, two
    threads were measured at 3 tokens a second and one thread at 50.
    """
    return max(1, min(4, (os.cpu_count() or 1) - 1))


def _reason(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(error)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return str(error)


_lock = threading.Lock()
_server: LocalServer | None = None


def local_server() -> LocalServer:
    """Return this process's server; the first call fetches the weights and loads them.

    Raises:
        WeightsError: the weights could not be had.
        LocalModelError: llama.cpp could not start.
    """
    global _server
    with _lock:
        if _server is None:
            _server = LocalServer(str(fetch_weights()))
            atexit.register(close_local_server)
        return _server


def close_local_server() -> None:
    """Stop the server, if there is one; a `LocalTextModel` then starts another.

    LangChain's clients (`local_model`, `local_completion`) know the old address: make
    new ones.
    """
    global _server
    with _lock:
        if _server is not None:
            _server.close()
            _server = None


MAX_TOKENS = 256
SEED = 1

NO_FUNCTIONS = (
    f"{NAME} calls no functions: its chat template leaves the tools out, so it never"
    " sees them and answers in words. Give it a text prompt with Action and Action"
    " Input, or choose a hosted model for function calls."
)


class LocalTextModel:
    """The local model as a `TextModel`.

    Args:
        max_tokens: the answer is cut after so many tokens.
        temperature: 0 is greedy: always the likeliest token.
        seed: of the dice, where temperature is above 0.
        grammar: GBNF; the answer can only be what it allows.
        options: more fields of llama.cpp's completion request (`top_k`, …).

    `timings` of its completions are llama.cpp's: `prompt_n` tokens read in `prompt_ms`,
    `cache_n` not read again, `predicted_n` written in `predicted_ms`.
    """

    def __init__(
        self,
        *,
        max_tokens: int = MAX_TOKENS,
        temperature: float = 0.0,
        seed: int = SEED,
        grammar: str | None = None,
        **options: Any,
    ) -> None:
        self.name = NAME
        self.options = {
            "max_tokens": max_tokens,
            "temperature": temperature,
            "seed": seed,
            **({"grammar": grammar} if grammar else {}),
            **options,
        }

    @property
    def server(self) -> LocalServer:
        """The server that answers, started when there is none."""
        return local_server()

    def complete(self, prompt: str, *, stop: Sequence[str] = ()) -> Completion:
        """Continue the prompt. Raises `WeightsError` and `LocalModelError`."""
        body = {**self.options, "prompt": prompt, "stop": stop_sequences(stop)}
        answer = self.server.post("/v1/completions", body)
        choice, usage = answer["choices"][0], answer["usage"]
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
        return Completion(
            text=choice["text"],
            usage=Usage(usage["prompt_tokens"], usage["completion_tokens"], cached),
            finish_reason=choice["finish_reason"],
            timings=answer.get("timings", {}),
        )

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens of a text as this model splits it."""
        return self.server.tokenize(text)


def local_text_model(**options: Any) -> LocalTextModel:
    """Return the local model, loaded, as a `TextModel`; see `LocalTextModel`.

    Raises:
        WeightsError: the weights could not be had.
        LocalModelError: llama.cpp could not start.
    """
    model = LocalTextModel(**options)
    _ = model.server
    return model


def local_or_none(**options: Any) -> LocalTextModel | None:
    """Return `local_text_model()`; where it cannot be had, say why and return None."""
    try:
        return local_text_model(**options)
    except (WeightsError, LocalModelError) as error:
        print(f"The local model is not there. {error}")
        return None


def local_model(**options: Any) -> ChatOpenAI:
    """Return the local model as langchain-openai's `ChatOpenAI`.

    It calls no functions, and `bind_tools` warns of it: the model was not trained for
    that, and its chat template has no place for tools. A request with tools is
    answered as one without.

    Args:
        options: fields of `ChatOpenAI`; `extra_body={"grammar": …}` passes a grammar.
    """
    options = {**_client_options(), "stream_usage": True, **options}
    model: ChatOpenAI = _chat_class()(**options)
    return model


@cache
def _chat_class() -> Any:
    from langchain_openai import ChatOpenAI

    class LocalChatModel(ChatOpenAI):
        """`ChatOpenAI` that says when tools will not reach the model."""

        def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
            if tools:
                warnings.warn(NO_FUNCTIONS, stacklevel=2)
            return super().bind_tools(tools, **kwargs)

    return LocalChatModel


def local_completion(**options: Any) -> OpenAI:
    """Return the local model as langchain-openai's `OpenAI`: text in, text out.

    It suits a ReAct prompt better than the chat endpoint: nothing is put around it.
    """
    from langchain_openai import OpenAI

    return OpenAI(**{**_client_options(), **options})


def _client_options() -> dict[str, Any]:
    import openai

    return {
        "model": NAME,
        "base_url": local_server().url,
        "api_key": "none-needed",  # never the real one
        "temperature": 0,
        "seed": SEED,
        "max_tokens": MAX_TOKENS,
        "http_client": openai.DefaultHttpxClient(trust_env=False),
        "http_async_client": openai.DefaultAsyncHttpxClient(trust_env=False),
    }
