"""The real model, without a key: a server in this process, and two ways to ask it.

langchain-openai talks to it as it talks to any other. `LocalTextModel` asks it without
LangChain and keeps everything that it says about tokens and time.
"""

from __future__ import annotations

import atexit
import os
import threading
import warnings
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

import httpx

from workbook.models.base import Completion, Usage
from workbook.models.prompts import stop_sequences
from workbook.models.weights import fetch_weights

if TYPE_CHECKING:
    from langchain_openai import ChatOpenAI

NAME = "SmolLM2-135M-Instruct"
CONTEXT_TOKENS = 8192
"""The context that the model was trained for: prompt and answer together."""


class LocalModelError(RuntimeError):
    """The local model could not be started, or refused a request."""


class LocalServer:
    """llama.cpp's server with a GGUF file loaded, on a free loopback port."""

    def __init__(self, weights: str) -> None:
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
        params.n_ctx = CONTEXT_TOKENS
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
        self.url = f"{self._server.listening_address}/v1"
        self._client = httpx.Client(
            base_url=self._server.listening_address,
            trust_env=False,  # no proxy stands between this process and itself
            timeout=None,
            limits=httpx.Limits(max_keepalive_connections=0),
        )
        # A server that is closed before its loop has begun waits for it for ever. The
        # loop answers this.
        with suppress(httpx.TransportError):
            self._client.get("/slots")

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send JSON to an endpoint and return what it answers.

        Raises:
            LocalModelError: the server refused, for instance a prompt too long, or is
                closed.
        """
        try:
            reply = self._client.post(path, json=body)
        except httpx.TransportError as error:
            raise LocalModelError(
                f"{NAME}: its server does not answer ({error}). Was it closed?"
                " local_server() gives the one that runs."
            ) from None
        answer: dict[str, Any] = reply.json()
        if reply.is_error:
            raise LocalModelError(f"{NAME}: {answer['error']['message']}")
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

    LangChain's clients (`local_model`) know the old address: make new ones.
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
        options: more fields of llama.cpp's completion request: `grammar` (GBNF; the
            answer can only be what it allows), `top_k`, …

    `timings` of its completions are llama.cpp's: `prompt_n` tokens read in `prompt_ms`,
    `cache_n` not read again, `predicted_n` written in `predicted_ms`.
    """

    def __init__(
        self,
        *,
        max_tokens: int = MAX_TOKENS,
        temperature: float = 0.0,
        seed: int = SEED,
        **options: Any,
    ) -> None:
        self.name = NAME
        sampling = {"temperature": temperature, "seed": seed}
        self.options = {"max_tokens": max_tokens, **sampling, **options}

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


def local_model(**options: Any) -> ChatOpenAI:
    """Return the local model as langchain-openai's `ChatOpenAI`.

    It calls no functions, and `bind_tools` warns of it: the model was not trained for
    that, and its chat template has no place for tools. A request with tools is
    answered as one without.

    Args:
        options: fields of `ChatOpenAI`; `extra_body={"grammar": …}` passes a grammar.
    """
    import openai

    usual = {
        "model": NAME,
        "base_url": local_server().url,
        "api_key": "none-needed",  # never the real one
        "temperature": 0,
        "seed": SEED,
        "max_tokens": MAX_TOKENS,
        "stream_usage": True,
        "http_client": openai.DefaultHttpxClient(trust_env=False),
        "http_async_client": openai.DefaultAsyncHttpxClient(trust_env=False),
    }
    model: ChatOpenAI = _chat_class()(**{**usual, **options})
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
