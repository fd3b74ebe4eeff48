"""An OpenAI endpoint on loopback: chat completions that play a script.

What a framework sends to a hosted model can be read here, and no key is needed.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from workbook.runtime.model import Response
from workbook.runtime.script import Script


@dataclass
class Bodies:
    """Where the endpoint is; what it was asked, in order, and by which keys."""

    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)


@contextmanager
def endpoint(*turns: Any) -> Iterator[Bodies]:
    """Answer each request with the next turn of a `Script`."""
    script = Script(turns)

    def answer(body: dict[str, Any]) -> tuple[int, bytes]:
        return 200, json.dumps(completion(play(script, body))).encode()

    with serve(answer) as bodies:
        yield bodies


@contextmanager
def serve(answer: Callable[[dict[str, Any]], tuple[int, bytes]]) -> Iterator[Bodies]:
    """Serve on loopback; `answer` makes a status and JSON of a request's body."""
    bodies = Bodies()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            bodies.asked.append(body)
            bodies.keys.append(self.headers["Authorization"])
            status, reply = answer(body)
            with suppress(OSError):  # nobody waits for it any more
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

        def log_message(self, *args: Any) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    bodies.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield bodies
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def play(script: Script, body: dict[str, Any]) -> Response:
    """Return the script's next turn for a request."""
    cap = body.get("max_tokens", body.get("max_completion_tokens"))
    stop, tools = body.get("stop") or (), body.get("tools", ())
    return script.chat(body["messages"], tools=tools, stop=stop, max_tokens=cap)


def completion(answer: Response) -> dict[str, Any]:
    """Return a turn as a chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
    if answer.calls:
        message["tool_calls"] = calls_of(answer)
    choice = {"index": 0, "message": message, "finish_reason": answer.finish}
    read, wrote = answer.usage.input, answer.usage.output
    usage = {"prompt_tokens": read, "completion_tokens": wrote}
    usage["total_tokens"] = read + wrote
    about = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0}
    return {**about, "model": "fake", "choices": [choice], "usage": usage}


def calls_of(answer: Response) -> list[dict[str, Any]]:
    """Return the calls of a turn as the API has them; an id for each."""
    calls = []
    for number, call in enumerate(answer.calls, start=1):
        given: Any = call.arguments
        text = given if isinstance(given, str) else json.dumps(given)
        about = {"id": call.call_id or f"id_{number}", "type": "function"}
        calls.append({**about, "function": {"name": call.name, "arguments": text}})
    return calls
