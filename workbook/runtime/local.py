"""The small real model, without a key: llama.cpp in this process, and how to ask it.

Where `WORKBOOK_LOCAL_SERVER` is the address of a server that several share, that one
is asked and none is started here. Either is an endpoint like any other, too:
`HostedModel(NAME, base_url=local_server().url)` asks it with messages.
"""

import atexit
import os
import socket
import threading
from collections.abc import Generator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from weakref import WeakSet

import httpx

from .hosted import chunks, error_message
from .model import Model, Request, Response, Usage

SHARED = "WORKBOOK_LOCAL_SERVER"
NAME = "SmolLM2-135M-Instruct"
FILE, SIZE = "SmolLM2-135M-Instruct.Q4_1.gguf", 98_362_432  # bytes
CONTEXT_TOKENS = 8192  # it was trained for so many: prompt and answer together
USUAL = {"max_tokens": 512, "temperature": 0, "seed": 1}


class LocalModelError(RuntimeError):
    """The local model could not be started, or refused a request."""


class ModelServer:
    """llama.cpp's server at an address of this machine."""

    def __init__(self, address: str) -> None:
        self.url = f"{address}/v1"
        self._connections = WeakSet[socket.socket]()  # those in use
        self._client = httpx.Client(
            base_url=address,
            trust_env=False,  # no proxy is between this machine and itself
            timeout=None,
            limits=httpx.Limits(max_keepalive_connections=0),
        )

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to JSON; LocalModelError if it is refused."""
        [answer] = self.stream(path, body)
        return answer

    def stream(self, path: str, body: dict[str, Any]) -> Generator[dict[str, Any]]:
        """Yield an answer, in chunks if `body` asks so; closing it ends the writing."""
        traced = {"trace": self._note_connection}
        sent = self._client.build_request("POST", path, json=body, extensions=traced)
        try:
            with closing(self._client.send(sent, stream=True)) as reply:
                if reply.is_error:
                    words = error_message(reply.read().decode(errors="replace"))
                    raise LocalModelError(f"{NAME}: {words}")
                yield from chunks(reply)
        except httpx.TransportError as error:
            why = f"{NAME} does not answer at {self.url} ({error}). Was it closed?"
            raise LocalModelError(why) from None

    def _note_connection(self, event: str, about: dict[str, Any]) -> None:
        if event == "connection.connect_tcp.complete":
            self._connections.add(about["return_value"].get_extra_info("socket"))

    def close(self) -> None:
        """Give up the requests in flight; the server would wait for them for ever."""
        for connection in [*self._connections]:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class LocalServer(ModelServer):
    """A server in this process, with a GGUF file, at a port of the loopback; 0: any."""

    def __init__(self, weights: str, port: int = 0) -> None:
        try:
            import xllamacpp
        except ImportError as error:
            how = f"xllamacpp cannot be imported ({error}): run `pip install xllamacpp`"
            raise LocalModelError(how) from error
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
            why = f"llama.cpp could not load {where}: {error}"
            raise LocalModelError(why) from None
        super().__init__(self._server.listening_address)
        # A server that is closed before its loop runs waits for it for ever; only the
        # loop answers this.
        with suppress(httpx.TransportError):
            self._client.get("/slots")

    def close(self) -> None:
        """Stop the server and free the weights."""
        super().close()
        self._server = None


def shared_server() -> ModelServer | None:
    """Return the server that the variable names; LocalModelError if none is there."""
    address = os.environ.get(SHARED, "").strip().rstrip("/").removesuffix("/v1")
    if not address:
        return None
    try:
        server = ModelServer(address)
        server.post("/tokenize", {"content": "a"})
    except (LocalModelError, httpx.InvalidURL, ValueError) as error:
        raise LocalModelError(
            f"{SHARED}={address}: {NAME} does not answer there ({error!s:.80})."
            " Start it there, or unset the variable."
        ) from None
    return server


_lock = threading.Lock()
_server: ModelServer | None = None


def local_server() -> ModelServer:
    """Return the shared server, or this process's own; LocalModelError says why not."""
    global _server
    with _lock:
        if _server is None:
            _server = shared_server() or LocalServer(str(weights_path() or _fetched()))
            atexit.register(close_local_server)
        return _server


def close_local_server() -> None:
    """Stop the server; the next request of a LocalTextModel starts another."""
    global _server
    with _lock:
        if _server is not None:
            _server.close()
            _server = None


def weights_file() -> Path:
    """Return where the weights are, or will be: `WORKBOOK_CACHE` names the folder."""
    import platformdirs

    folder = os.environ.get("WORKBOOK_CACHE")
    usual = platformdirs.user_cache_dir("react-workbook")
    return Path(folder or usual).expanduser().absolute() / FILE


def weights_path() -> Path | None:
    """Return the weights if they are there and whole, by their size; otherwise None."""
    path = weights_file()
    return path if path.is_file() and path.stat().st_size == SIZE else None


def _fetched() -> Path:
    try:  # where the workbook is around this room
        from ..weights import fetch_weights
    except ImportError:
        raise LocalModelError(f"There are no weights: {weights_file()}") from None
    return fetch_weights()


class LocalTextModel(Model):
    """The local model, loaded; it continues a text and calls no functions.

    The options are fields of llama.cpp's completion request, such as `grammar` (GBNF).
    So are the `timings` of its responses: `prompt_n` tokens read in `prompt_ms`,
    `cache_n` not read again, `predicted_n` written in `predicted_ms`.
    """

    name = NAME
    streams = True

    def __init__(self, **options: Any) -> None:
        self.options = {**USUAL, **options}
        local_server()

    def respond(self, request: Request) -> Response:
        """Return the continuation; a server that was closed is started again."""
        body = {**self.options, "prompt": request.text, "stop": request.stop}
        body["stream"] = body["timings_per_token"] = True  # counts, also if stopped
        if request.max_tokens is not None:
            body["max_tokens"] = min(request.max_tokens, body["max_tokens"])
        text, finish, timings = "", "stop", {}
        with closing(local_server().stream("/v1/completions", body)) as pieces:
            for piece in pieces:
                choice, timings = piece["choices"][0], piece["timings"]
                new, finish = choice["text"], choice["finish_reason"]
                text += new
                if new and request.on_text and request.on_text(new):
                    finish = "cancelled"
                    break
        cached = timings["cache_n"]
        usage = Usage(cached + timings["prompt_n"], timings["predicted_n"], cached)
        return Response(text, usage, (), finish, {}, timings)

    def count(self, text: str) -> int:
        """Return how many tokens it reads of a text."""
        body = {"content": text, "add_special": True}
        return len(local_server().post("/tokenize", body)["tokens"])
