"""A chat-completions endpoint on loopback, answered by a script.

What a framework sends to a hosted model can be read here, and no key is needed.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from workbook.runtime.script import Script


class Server(NamedTuple):
    """Where the endpoint is, and what it was asked, in order."""

    url: str
    asked: list[dict[str, Any]]


@contextmanager
def endpoint(*turns: Any) -> Iterator[Server]:
    """Answer each request with the next turn of a `Script`, whole or as a stream."""
    script = Script(turns)

    def answer(body: dict[str, Any]) -> tuple[int, bytes]:
        whole = completion(script, body)
        if not body.get("stream"):
            return 200, json.dumps(whole).encode()
        choice = whole["choices"][0]
        choice["delta"] = choice.pop("message")
        for number, call in enumerate(choice["delta"].get("tool_calls", ())):
            call["index"] = number
        chunk = json.dumps({**whole, "object": "chat.completion.chunk"})
        return 200, f"data: {chunk}\n\ndata: [DONE]\n\n".encode()

    with serve(answer) as server:
        yield server


@contextmanager
def serve(answer: Callable[[dict[str, Any]], tuple[int, bytes]]) -> Iterator[Server]:
    """Serve on loopback; `answer` makes a status and JSON of a request's body."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(body)
            status, reply = answer(body)
            kind = "text/event-stream" if body.get("stream") else "application/json"
            with suppress(OSError):  # the client has closed the connection
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

        def log_message(self, *args: Any) -> None:
            """Print nothing."""

    asked: list[dict[str, Any]] = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        threading.Thread(target=http.serve_forever, args=(0.02,)).start()
        try:
            yield Server(f"http://127.0.0.1:{http.server_port}/v1", asked)
        finally:
            http.shutdown()


def completion(script: Script, body: dict[str, Any]) -> dict[str, Any]:
    """Return a script's next turn as a chat completion; each call has an id."""
    turn = script.chat(
        body["messages"],
        tools=body.get("tools", ()),
        stop=body.get("stop") or (),
        max_tokens=body.get("max_tokens", body.get("max_completion_tokens")),
    )
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    for number, call in enumerate(turn.calls, start=1):
        given: Any = call.arguments
        text = given if isinstance(given, str) else json.dumps(given)
        about = {"id": call.call_id or f"id_{number}", "type": "function"}
        function = {"name": call.name, "arguments": text}
        message.setdefault("tool_calls", []).append({**about, "function": function})
    choice = {"index": 0, "message": message, "finish_reason": turn.finish}
    read, wrote = turn.usage.input, turn.usage.output
    usage = {"prompt_tokens": read, "completion_tokens": wrote}
    usage["total_tokens"] = read + wrote
    about = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0}
    return {**about, "model": "fake", "choices": [choice], "usage": usage}
