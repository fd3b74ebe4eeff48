"""A trace as OpenTelemetry spans, for the tools in which people watch their services.

The names are those of OpenTelemetry's conventions for generative AI (v1.41, all of them
in development). A span is a stretch of time with a parent: the run, each model call,
each tool call. Transitions and decisions have no length, and stay in the trace.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from workbook.models.prompts import clip
from workbook.record.events import Kind, TraceEvent, to_line
from workbook.record.logs import error_kind, one_line, totals
from workbook.record.trace import Trace

UNKNOWN = "_OTHER"  # where the conventions want a word, and the trace has none
SENSITIVE = (".messages", ".arguments", ".result")  # how such an attribute ends


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time of a run; times are nanoseconds since 1970."""

    name: str
    kind: str  # INTERNAL, or CLIENT for a call to a model
    trace_id: str  # 32 hexadecimal digits
    span_id: str  # 16 of them
    parent_id: str | None
    start_unix_ns: int
    end_unix_ns: int
    attributes: Mapping[str, Any]
    error: str | None = None  # the kind of error that it ended in


def to_spans(
    trace: Trace,
    *,
    model: str | None = None,
    provider: str = UNKNOWN,
    content: bool = False,
    started_unix_s: float = 0.0,
) -> list[Span]:
    """Return the spans of a run: `invoke_agent`, and in it `chat` and `execute_tool`.

    A model call that a tool makes is that tool's child. A call without an answer ends
    where it was given up, with an error, and so does a run without an end. The ids come
    from the trace's id and the events' numbers, so they are the same each time.

    Args:
        trace: of any engine; an empty one has no spans.
        model: the model's name, which a trace does not know.
        provider: who serves it, as "openai".
        content: with the question, prompts, turns, arguments, results and the answer.
            They are sensitive: without it no such text is in a span.
        started_unix_s: when the run began, for a trace that does not say so (schema 1).
    """
    if not trace.events:
        return []
    first, ended = trace.events[0], _ended(trace)
    began = round(first.get("started_unix_s", started_unix_s) * 1e3) * 10**6
    clock = accumulate((event["at_s"] for event in trace), max)  # it never goes back
    ns = {e["seq"]: began + round(s * 1e9) for e, s in zip(trace, clock, strict=True)}
    run_id = str(first["trace_id"])
    about_all = {"gen_ai.conversation.id": run_id}
    served = {"gen_ai.provider.name": provider, "gen_ai.request.model": model}

    def span(
        seq: int, stop: int, above: Span | None, operation: str, of: Any, about: Any
    ) -> Span:
        about |= about_all | {"gen_ai.operation.name": operation}
        about |= {} if operation == "execute_tool" else served
        return Span(
            clip(one_line(f"{operation} {of or ''}"), 100),
            "CLIENT" if operation == "chat" else "INTERNAL",
            _digest(run_id, 32),
            _digest(f"{run_id}/{seq if above else 'run'}", 16),
            above.span_id if above else None,
            ns[seq],
            min(stop, above.end_unix_ns) if above else stop,
            {
                key: _valid(value)
                for key, value in about.items()
                if value not in (None, "", [])
                and (content or not key.endswith(SENSITIVE))
            },
            about["error.type"],
        )

    agent, is_ours = first.get("engine"), "adapter" in first
    last = max(ns.values())
    root = span(first["seq"], last, None, "invoke_agent", agent, _of_run(trace))
    spans, tools = [root], dict[int, Span]()
    for event in trace.of(Kind.MODEL_REQUEST, Kind.TOOL_CALL):
        seq = event["seq"]
        above, end = tools.get(event.get("parent", -1), root), ended.get(seq)
        if above.end_unix_ns < ns[seq]:  # nobody waits for that tool any more
            above = root
        stop = ns[end["seq"]] if end else above.end_unix_ns
        if event["kind"] == Kind.MODEL_REQUEST:
            prompt = trace.prompt(seq) if content else None
            about = _of_chat(event, end, prompt, is_ours)
            spans.append(span(seq, stop, above, "chat", model, about))
        else:
            name, about = event["tool"], _of_tool(event, end)
            tools[seq] = span(seq, stop, above, "execute_tool", name, about)
            spans.append(tools[seq])
    return spans


def _ended(trace: Trace) -> dict[int, TraceEvent]:
    """Return the event at which each model call and tool call was over, by its seq.

    For a model call that is the turn, or whatever else came next where it was made; of
    calls with one id, the first observation belongs to the first.
    """
    ended: dict[int, TraceEvent] = {}
    asked: dict[int | None, int] = {}
    made: list[TraceEvent] = []
    for event in trace:
        where = event.get("parent")
        if event["kind"] != Kind.DECISION and where in asked:
            ended[asked.pop(where)] = event
        if event["kind"] == Kind.MODEL_REQUEST:
            asked[where] = event["seq"]
        elif event["kind"] == Kind.TOOL_CALL:
            made.append(event)
        elif event["kind"] == Kind.OBSERVATION:
            by = "call_id" if event["call_id"] else "tool"
            call = next((each for each in made if each[by] == event[by]), None)
            if call:
                made.remove(call)
                ended[call["seq"]] = event
    return ended


def _of_run(trace: Trace) -> dict[str, Any]:
    first, end, told = trace.events[0], trace.end or {}, totals(trace)
    failed = told["state"] not in ("DONE", "PENDING")
    return {
        "gen_ai.agent.name": first.get("engine"),
        "gen_ai.input.messages": _messages("user", first.get("question")),
        "gen_ai.output.messages": _messages("assistant", end.get("answer")),
        "workbook.state": told["state"],
        "workbook.reason": told["reason"],
        "error.type": (told["reason"] if end else "no_end") if failed else None,
    }


def _of_chat(
    request: TraceEvent, end: TraceEvent | None, prompt: Any, is_ours: bool
) -> dict[str, Any]:
    about = {
        "gen_ai.request.max_tokens": request.get("max_tokens"),
        "gen_ai.request.stop_sequences": request.get("stop"),
        "gen_ai.input.messages": _messages("user", prompt),
    }
    if end is None or end["kind"] != Kind.MODEL_TURN:
        return about | {"error.type": "no_answer"}
    turn, usage = end["turn"] or {}, end["usage"] or {}
    calls = [
        {"id": c.get("call_id"), "name": c.get("tool"), "arguments": c.get("arguments")}
        for c in turn.get("calls", ())
    ]
    reason = "stop" if is_ours else None  # a machine tells of a turn that was cut
    reason = "length" if "cut" in turn else "tool_calls" if calls else reason
    said = {"content": end["text"], "tool_calls": calls}
    return about | {
        "gen_ai.usage.input_tokens": usage.get("input"),
        "gen_ai.usage.output_tokens": usage.get("output"),
        "gen_ai.response.finish_reasons": [reason] if reason else None,
        "gen_ai.output.messages": _messages("assistant", [said]),
        "error.type": None,
    }


def _of_tool(call: TraceEvent, end: TraceEvent | None) -> dict[str, Any]:
    error: str | None = "no_observation"
    if end:
        error = None if end["ok"] else error_kind(end) or UNKNOWN
    return {
        "gen_ai.tool.name": call["tool"],
        "gen_ai.tool.call.id": call["call_id"],
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.arguments": _json(call["arguments"]),
        "gen_ai.tool.call.result": end and end["text"],
        "error.type": error,
    }


def _messages(role: str, said: Any) -> str | None:
    """Return a text, or messages, as JSON in the parts that the conventions have."""
    if not said:
        return None
    given = said if isinstance(said, list) else [{"content": said}]
    return _json(
        [{"role": each.get("role", role), "parts": [*_parts(each)]} for each in given]
    )


def _parts(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    content, answered = message.get("content"), message.get("tool_call_id")
    if answered is not None:
        yield {"type": "tool_call_response", "id": answered, "response": content}
    elif content:
        yield {"type": "text", "content": content}
    for call in message.get("tool_calls") or ():
        yield {"id": call.get("id"), **call.get("function", call), "type": "tool_call"}


def _json(value: Any) -> str:
    return to_line(value)[:-1].decode()


def _valid(value: Any) -> Any:
    """Return a value that can be sent: half a surrogate pair cannot."""
    if isinstance(value, list):
        return [_valid(each) for each in value]
    return value.encode(errors="replace").decode() if isinstance(value, str) else value


def _digest(text: str, digits: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:digits]
