"""SmolLM2-135M-Instruct on llama.cpp, in this process.

One server a process, on a free port of the loopback interface; it speaks OpenAI's API.
"""

from __future__ import annotations

import atexit
import json
import os
import threading
import urllib.error
import urllib.request
from contextlib import suppress
from typing import Any

from workbook.models.weights import fetch_weights

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
