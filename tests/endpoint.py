"""An OpenAI endpoint on loopback: chat completions that play a script, and faults."""

import json
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from workbook.models.script import Script


@dataclass
class Fault:
    """An answer that is none: a status, some bytes, or seconds of silence."""

    status: int = 200
    body: bytes = b""
    silence_s: float = 0.0


@dataclass
class Bodies:
    """What was asked, in order, and by which keys."""

    url: str = ""
    asked: list = field(default_factory=list)
    keys: list = field(default_factory=list)


@contextmanager
def endpoint(*turns, usage=None):
    """Answer each request with the next turn of a `Script`, or a `Fault`.

    `usage` stands in for what the script counts; None as a value leaves it out.
    """
    script = Script([turn for turn in turns if not isinstance(turn, Fault)])
    told, due, over = Bodies(), list(turns), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told.asked.append(body)
            told.keys.append(self.headers["Authorization"])
            turn = due.pop(0) if due else Fault(500, b'{"error": {"message": "over"}}')
            if isinstance(turn, Fault):
                over.wait(turn.silence_s)
                self.say(turn.status, turn.body)
                return
            cap = body.get("max_tokens", body.get("max_completion_tokens"))
            said = {"stop": body.get("stop") or (), "max_tokens": cap}
            answer = script.chat(body["messages"], tools=body.get("tools", ()), **said)
            counts = {
                "prompt_tokens": answer.usage.input,
                "completion_tokens": answer.usage.output,
                "total_tokens": answer.usage.input + answer.usage.output,
                **(usage or {}),
            }
            if body.get("stream"):
                self.stream(answer, counts)
                return
            message = {"role": "assistant", "content": answer.text or None}
            if calls := [*calls_of(answer)]:
                message["tool_calls"] = calls
            choice = {"index": 0, "message": message, "logprobs": None}
            choice["finish_reason"] = answer.finish_reason
            whole = {**ABOUT, "object": "chat.completion", "choices": [choice]}
            if usage != {}:
                whole["usage"] = counts
            self.say(200, json.dumps(whole).encode())

        def stream(self, answer, counts):
            """Send a turn in pieces, the arguments of a call in two."""
            deltas = [{"role": "assistant", "content": ""}]
            text = answer.text
            deltas += [{"content": text[n : n + 4]} for n in range(0, len(text), 4)]
            for number, call in enumerate(calls_of(answer)):
                said = call["function"]["arguments"]
                first = {**call["function"], "arguments": said[:3]}
                part = {**call, "index": number, "function": first}
                deltas.append({"tool_calls": [part]})
                rest = {"index": number, "function": {"arguments": said[3:]}}
                deltas.append({"tool_calls": [rest]})
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            about = {**ABOUT, "object": "chat.completion.chunk"}
            for delta in deltas:
                self.chunk({**about, "choices": [{"index": 0, "delta": delta}]})
            end = {"index": 0, "delta": {}, "finish_reason": answer.finish_reason}
            self.chunk({**about, "choices": [end]})
            if usage != {}:
                self.chunk({**about, "choices": [], "usage": counts})
            self.wfile.write(b"data: [DONE]\n\n")

        def chunk(self, data):
            self.wfile.write(b"data: %s\n\n" % json.dumps(data).encode())

        def say(self, status, body):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(OSError):  # nobody waits for it any more
                self.wfile.write(body)

        def log_message(self, *args):
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    told.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield told
    finally:
        over.set()
        server.shutdown()
        thread.join()
        server.server_close()


ABOUT = {"id": "chatcmpl-1", "created": int(time.time()), "model": "fake"}


def calls_of(answer):
    """Yield the calls of a turn as the API has them; an id a call."""
    for number, call in enumerate(answer.tool_requests, start=1):
        said = call.arguments
        said = said if isinstance(said, str) else json.dumps(said)
        function = {"name": call.name, "arguments": said}
        call_id = call.call_id or f"id_{number}"
        yield {"id": call_id, "type": "function", "function": function}
