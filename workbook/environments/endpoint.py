"""An OpenAI endpoint on loopback: chat completions that play a script.

What a framework sends to a hosted model can be read here, and no key is needed.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from workbook.models.base import Completion
from workbook.models.script import Script
from workbook.models.script_turns import ScriptTurn

ABOUT = {"id": "chatcmpl-1", "created": int(time.time()), "model": "fake"}


@dataclass
class Bodies:
    """Where the endpoint is; what it was asked, in order, and by which keys."""

    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)


class Exchange(BaseHTTPRequestHandler):
    """One request and its answer."""

    def say(self, status: int, body: bytes) -> None:
        """Send JSON."""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(OSError):  # nobody waits for it any more
            self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Print nothing."""


@contextmanager
def endpoint(*turns: ScriptTurn) -> Iterator[Bodies]:
    """Answer each request with the next turn of a `Script`."""
    script = Script(turns)
    with serve(lambda by, body: by.say(200, completion(play(script, body)))) as told:
        yield told


@contextmanager
def serve(answer: Callable[[Exchange, dict[str, Any]], None]) -> Iterator[Bodies]:
    """Serve on loopback; `answer` gets each exchange with the body of its request."""
    told = Bodies()

    class Handler(Exchange):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told.asked.append(body)
            told.keys.append(self.headers["Authorization"])
            answer(self, body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    told.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield told
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def play(script: Script, body: dict[str, Any]) -> Completion:
    """Return the script's next turn for a request."""
    cap = body.get("max_tokens", body.get("max_completion_tokens"))
    stop, tools = body.get("stop") or (), body.get("tools", ())
    return script.chat(body["messages"], tools=tools, stop=stop, max_tokens=cap)


def completion(answer: Completion, usage: dict[str, Any] | None = None) -> bytes:
    """Return a turn as a chat completion; `usage` {} leaves the counts out."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
    if calls := calls_of(answer):
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "logprobs": None}
    choice |= {"finish_reason": answer.finish_reason}
    whole = {**ABOUT, "object": "chat.completion", "choices": [choice]}
    if usage != {}:
        whole["usage"] = counts(answer) | (usage or {})
    return json.dumps(whole).encode()


def counts(answer: Completion) -> dict[str, Any]:
    """Return what a turn cost, as the API has it."""
    read, wrote = answer.usage.input, answer.usage.output
    spent = {"prompt_tokens": read, "completion_tokens": wrote}
    return {**spent, "total_tokens": read + wrote}


def calls_of(answer: Completion) -> list[dict[str, Any]]:
    """Return the calls of a turn as the API has them; an id a call."""
    calls = []
    for number, call in enumerate(answer.tool_requests, start=1):
        said: Any = call.arguments
        text = said if isinstance(said, str) else json.dumps(said)
        function = {"name": call.name, "arguments": text}
        call_id = call.call_id or f"id_{number}"
        calls.append({"id": call_id, "type": "function", "function": function})
    return calls
