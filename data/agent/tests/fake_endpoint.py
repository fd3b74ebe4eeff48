"""An endpoint on loopback that speaks chat completions and answers from a script."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def call(name, arguments, call_id="call_a"):
    """Return a function call as the API has it; `arguments` may be a broken text."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    function = {"name": name, "arguments": text}
    return {"id": call_id, "type": "function", "function": function}


def refusal(status, message):
    """Return an answer that is an error."""
    return status, {"error": {"message": message}}


class Server:
    """What an endpoint was asked, and what it says next.

    A turn is a text, a list of calls, a (status, body), or a number: seconds of
    silence. After the last turn it says the last one again.
    """

    def __init__(self, turns):
        self.turns, self.asked, self.url = list(turns), [], ""
        self.over = threading.Event()

    def answer(self, body):
        """Return the status and the body of the next answer."""
        self.asked.append(body)
        turn = self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]
        if isinstance(turn, tuple):
            return turn
        if isinstance(turn, int):
            self.over.wait(turn)
            return refusal(503, "too late")
        calls = turn if isinstance(turn, list) else []
        message = {"role": "assistant", "content": None if calls else turn}
        if calls:
            message["tool_calls"] = calls
        reason, written = ("tool_calls" if calls else "stop"), len(str(turn)) // 4
        most = body.get("max_tokens", written)
        if written > most:  # cut in the middle of the last call, as real ones are
            reason, written = "length", most
            function = message["tool_calls"][-1]["function"]
            function["arguments"] = function["arguments"][: 4 * most]
        usage = {"prompt_tokens": len(str(body)) // 4, "completion_tokens": written}
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return 200, {"choices": [choice], "usage": usage}


@contextmanager
def endpoint(*turns) -> Iterator[Server]:
    """Run an endpoint that answers with these turns, one a request."""
    script = Server(turns)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, answer = script.answer(body)
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            with suppress(OSError):  # nobody waits for it any more
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        def log_message(self, *args):
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    script.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield script
    finally:
        script.over.set()
        server.shutdown()
        thread.join()
        server.server_close()
