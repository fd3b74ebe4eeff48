"""The endpoint on loopback, with what can go wrong: faults, and turns in pieces."""

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass

from workbook.environments.endpoint import (
    ABOUT,
    calls_of,
    completion,
    counts,
    play,
    serve,
)
from workbook.models.script import Script


@dataclass
class Fault:
    """An answer that is none: a status, some bytes, or seconds of silence."""

    status: int = 200
    body: bytes = b""
    silence_s: float = 0.0


OVER = Fault(500, b'{"error": {"message": "over"}}')


@contextmanager
def endpoint(*turns, usage=None):
    """Answer each request with the next turn of a `Script`, or a `Fault`.

    `usage` stands in for what the script counts; {} leaves the counts out.
    """
    script = Script([turn for turn in turns if not isinstance(turn, Fault)])
    due, over = list(turns), threading.Event()

    def answer(by, body):
        turn = due.pop(0) if due else OVER
        if isinstance(turn, Fault):
            over.wait(turn.silence_s)
            by.say(turn.status, turn.body)
            return
        said = play(script, body)
        if body.get("stream"):
            stream(by, said, usage)
        else:
            by.say(200, completion(said, usage))

    with serve(answer) as told:
        try:
            yield told
        finally:
            over.set()


def stream(by, answer, usage):
    """Send a turn in pieces, the arguments of a call in two."""
    deltas = [{"role": "assistant", "content": ""}]
    text = answer.text
    deltas += [{"content": text[n : n + 4]} for n in range(0, len(text), 4)]
    for number, call in enumerate(calls_of(answer)):
        said = call["function"]["arguments"]
        first = {**call["function"], "arguments": said[:3]}
        deltas.append({"tool_calls": [{**call, "index": number, "function": first}]})
        rest = {"index": number, "function": {"arguments": said[3:]}}
        deltas.append({"tool_calls": [rest]})
    by.send_response(200)
    by.send_header("Content-Type", "text/event-stream")
    by.end_headers()
    end = {"index": 0, "delta": {}, "finish_reason": answer.finish_reason}
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({"choices": [end]})
    if usage != {}:
        chunks.append({"choices": [], "usage": counts(answer) | (usage or {})})
    about = {**ABOUT, "object": "chat.completion.chunk"}
    for chunk in chunks:
        by.wfile.write(b"data: %s\n\n" % json.dumps({**about, **chunk}).encode())
    by.wfile.write(b"data: [DONE]\n\n")
