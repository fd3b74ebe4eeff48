"""The endpoint on loopback, with what can go wrong: faults, and turns in pieces."""

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass

from workbook.runtime.script import Script
from workbook.worlds.endpoint import completion, serve


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

    def answer(body):
        turn = due.pop(0) if due else OVER
        if isinstance(turn, Fault):
            over.wait(turn.silence_s)
            return turn.status, turn.body
        said = completion(script, body)
        said["usage"] = {} if usage == {} else said["usage"] | (usage or {})
        whole = json.dumps(said).encode()
        return 200, b"".join(pieces(said)) if body.get("stream") else whole

    with serve(answer) as told:
        try:
            yield told
        finally:
            over.set()


def pieces(whole):
    """Yield a chat completion in pieces, the arguments of a call in two."""
    choice = whole["choices"][0]
    text = choice["message"]["content"] or ""
    deltas = [{"role": "assistant", "content": ""}]
    deltas += [{"content": text[n : n + 4]} for n in range(0, len(text), 4)]
    for number, call in enumerate(choice["message"].get("tool_calls", [])):
        said = call["function"]["arguments"]
        first = {**call["function"], "arguments": said[:3]}
        deltas.append({"tool_calls": [{**call, "index": number, "function": first}]})
        rest = {"index": number, "function": {"arguments": said[3:]}}
        deltas.append({"tool_calls": [rest]})
    end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({"choices": [end]})
    if whole["usage"]:
        chunks.append({"choices": [], "usage": whole["usage"]})
    about = {**whole, "object": "chat.completion.chunk"}
    del about["usage"]
    for chunk in chunks:
        yield b"data: %s\n\n" % json.dumps({**about, **chunk}).encode()
    yield b"data: [DONE]\n\n"
