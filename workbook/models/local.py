"""The real model, without a key: a server in this process, and a way to ask it.

Where `WORKBOOK_LOCAL_SERVER` names the address of a server that several share
(`python -m workbook serve-model`), that one is asked, and none is started here.

`LocalTextModel` keeps everything that the server reports about tokens and time. Its
chat is asked as that of any other endpoint: `HostedModel(NAME, base_url=server.url)`.
"""

import atexit
import json
import os
import socket
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any

import httpx

from workbook.models.base import MAX_TOKENS, Completion, OnText, Usage
from workbook.models.hosted import chunks, error_message
from workbook.models.prompts import stop_sequences
from workbook.models.weights import fetch_weights

SHARED = "WORKBOOK_LOCAL_SERVER"
SEED = 1
NAME = "SmolLM2-135M-Instruct"
CONTEXT_TOKENS = 8192  # it was trained for so many: prompt and answer together


class LocalModelError(RuntimeError):
    """The local model could not be started, or refused a request."""


class ModelServer:
    """llama.cpp's server at an address of this machine, and how it is asked."""

    def __init__(self, address: str) -> None:
        self._in_flight: set[socket.socket] = set()  # requests without an answer yet
        self.url = f"{address}/v1"
        self._client = httpx.Client(
            base_url=address,
            trust_env=False,  # no proxy is between this machine and itself
            timeout=None,
            limits=httpx.Limits(max_keepalive_connections=0),
        )

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send JSON and return the answer, or raise a LocalModelError."""
        with self._sent(path, body) as reply:
            answer: dict[str, Any] = json.loads(reply.read())
        return answer

    def stream(self, path: str, body: dict[str, Any]) -> Generator[dict[str, Any]]:
        """Yield an answer's chunks as they are written; closed early, it stops."""
        with self._sent(path, {**body, "stream": True}) as reply:
            yield from chunks(reply.iter_lines())

    @contextmanager
    def _sent(self, path: str, body: dict[str, Any]) -> Iterator[httpx.Response]:
        connections: list[socket.socket] = []

        def trace(event: str, about: dict[str, Any]) -> None:
            if event == "connection.connect_tcp.complete":
                connections.append(about["return_value"].get_extra_info("socket"))
                self._in_flight.update(connections)

        more: Any = {"json": body, "extensions": {"trace": trace}}
        try:
            with self._client.stream("POST", path, **more) as reply:
                if reply.is_error:
                    said = error_message(reply.read().decode(errors="replace"))
                    raise LocalModelError(f"{NAME}: {said}")
                yield reply
        except httpx.TransportError as error:
            said = f"{NAME} does not answer at {self.url} ({error}). Was it closed?"
            raise LocalModelError(said) from None
        finally:
            self._in_flight.difference_update(connections)

    def close(self) -> None:
        """Give up the requests in flight; a server waits for them for ever."""
        for connection in list(self._in_flight):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class LocalServer(ModelServer):
    """A server in this process, with a GGUF file loaded, on a loopback port.

    The port is a free one unless it is given. Requests are answered in turn.
    """

    def __init__(self, weights: str, port: int = 0) -> None:
        try:
            import xllamacpp
        except ImportError as error:
            raise LocalModelError(
                f"xllamacpp cannot be imported ({error}): run `pip install xllamacpp`"
            ) from error
        params = xllamacpp.CommonParams()
        params.model.path = weights
        params.model_alias = {NAME}
        params.port = port
        params.verbosity = -1
        params.n_ctx = CONTEXT_TOKENS
        params.n_parallel = 1
        params.cache_ram_mib = 0  # only the prompt before is remembered: repeatable
        params.ui = False
        params.embedding = True  # besides completions, which stay as they are
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
        # All cores but one, at most four: threads wait for each other by spinning. On
        # two busy cores, two threads wrote 3 tokens a second and one thread 50.
        threads = max(1, min(4, (os.cpu_count() or 1) - 1))
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        try:
            self._server: Any = xllamacpp.Server(params)
        except RuntimeError as error:
            where = f"{weights}, or could not have port {port or 'any'}"
            said = f"llama.cpp could not load {where}: {error}"
            raise LocalModelError(said) from None
        super().__init__(self._server.listening_address)
        # A server that is closed before its loop has begun waits for it for ever. The
        # loop answers this.
        with suppress(httpx.TransportError):
            self._client.get("/slots")

    def close(self) -> None:
        """Stop the server and free the weights."""
        super().close()
        self._server = None


def shared_server() -> ModelServer | None:
    """Return the server that several share, where the variable names its address.

    LocalModelError: no model answers there.
    """
    address = os.environ.get(SHARED, "").strip().rstrip("/").removesuffix("/v1")
    if not address:
        return None
    try:
        server = ModelServer(address)
        server.post("/tokenize", {"content": "a"})
    except (LocalModelError, httpx.InvalidURL, ValueError) as error:
        raise LocalModelError(
            f"{SHARED}={address}: {NAME} does not answer there ({error!s:.80}). Start"
            " it with `python -m workbook serve-model`, or unset the variable."
        ) from None
    return server


_lock = threading.Lock()
_server: ModelServer | None = None


def local_server() -> ModelServer:
    """Return the shared server, or this process's own; the first call starts that.

    Raises WeightsError or LocalModelError where that cannot be done.
    """
    global _server
    with _lock:
        if _server is None:
            _server = shared_server() or LocalServer(str(fetch_weights()))
            atexit.register(close_local_server)
        return _server


def close_local_server() -> None:
    """Stop the server; the next request of a LocalTextModel starts another."""
    global _server
    with _lock:
        if _server is not None:
            _server.close()
            _server = None


class LocalTextModel:
    """The local model as a `TextModel`, loaded.

    The options are fields of llama.cpp's completion request: `max_tokens`,
    `temperature` (0 unless given), `grammar` (GBNF: what the answer can be), …
    `timings` of its completions are llama.cpp's: `prompt_n` tokens read in `prompt_ms`,
    `cache_n` not read again, `predicted_n` written in `predicted_ms`.
    """

    streams = True

    def __init__(self, **options: Any) -> None:
        self.name = NAME
        usual = {"max_tokens": MAX_TOKENS, "temperature": 0, "seed": SEED}
        self.options = {**usual, **options}
        local_server()

    def complete(
        self,
        prompt: str,
        *,
        stop: Sequence[str] = (),
        max_tokens: int | None = None,
        on_text: OnText | None = None,
    ) -> Completion:
        """Continue the prompt; a server that was closed is started again."""
        body = {**self.options, "prompt": prompt, "stop": stop_sequences(stop)}
        body["timings_per_token"] = True  # they count the tokens where it is stopped
        if max_tokens is not None:
            body["max_tokens"] = min(max_tokens, body["max_tokens"])
        text, reason, timings = "", "stop", {}
        with closing(local_server().stream("/v1/completions", body)) as chunks:
            for chunk in chunks:
                choice, timings = chunk["choices"][0], chunk["timings"]
                text += choice["text"]
                reason = choice["finish_reason"]
                if on_text and choice["text"] and on_text(choice["text"]):
                    reason = "cancelled"
                    break
        cached = timings["cache_n"]
        usage = Usage(cached + timings["prompt_n"], timings["predicted_n"], cached)
        return Completion(text, usage, finish_reason=reason, timings=timings)

    def count(self, prompt: str) -> int:
        """Return how many tokens it will read of a prompt."""
        body = {"content": prompt, "add_special": True}
        return len(local_server().post("/tokenize", body)["tokens"])
