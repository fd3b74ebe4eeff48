"""A trace as OpenTelemetry spans, for the tools in which people watch their services.

The names are those of OpenTelemetry's conventions for generative AI (v1.41, all of them
in development). A span is a stretch of time with a parent: the run, each model call,
each tool call. What was said is in no span, for it may be sensitive: the trace has it.
"""

from __future__ import annotations

import os
from collections import defaultdict
from importlib.metadata import entry_points
from typing import Any

from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context

from workbook.models.prompts import clip
from workbook.traces.events import Kind, TraceError, TraceEvent
from workbook.traces.trace import Trace
from workbook.traces.views import error_kind, one_line, totals

UNKNOWN = "_OTHER"  # where the conventions want a word, and the trace has none
EXPORTER = "OTEL_TRACES_EXPORTER"
NO_ERROR = ("DONE", "PENDING")


def to_spans(trace: Trace) -> list[ReadableSpan]:
    """Return the spans of a run: `invoke_agent`, and in it `chat` and `execute_tool`.

    A model call that a tool makes is that tool's child. A call without an answer ends
    with the run, or where it was given up, and has an error; so has a run without an
    end. A trace does not say which model it was.
    """
    if not trace.events:
        return []
    first, last, told = trace.events[0], trace.events[-1], totals(trace)
    began = round(first.get("started_unix_s", 0) * 1e3) * 10**6
    resource = Resource.create({"service.name": "react-workbook"})
    tracer = TracerProvider(ALWAYS_ON, resource).get_tracer(__name__)

    def span(
        operation: str,
        of: str,
        event: TraceEvent,
        end: TraceEvent,
        about: dict[str, Any],
        above: Any = None,
    ) -> Any:
        about |= {"gen_ai.operation.name": operation}
        about |= {"gen_ai.conversation.id": first["trace_id"]}
        made = tracer.start_span(
            clip(one_line(f"{operation} {of}"), 100),
            set_span_in_context(above) if above else Context(),
            SpanKind.CLIENT if operation == "chat" else SpanKind.INTERNAL,
            {
                name: one_line(value) if isinstance(value, str) else value
                for name, value in about.items()
                if value not in (None, "")
            },
            start_time=began + round(event["at_s"] * 1e9),
        )
        if error := about.get("error.type"):
            made.set_status(Status(StatusCode.ERROR, error))
        made.end(began + round(end["at_s"] * 1e9))
        return made

    engine = first.get("engine", "")
    about = {
        "gen_ai.provider.name": UNKNOWN,
        "gen_ai.agent.name": engine,
        "workbook.state": told["state"],
        "workbook.reason": told["reason"],
        "error.type": None if told["state"] in NO_ERROR else told["reason"],
    }
    root = span("invoke_agent", engine, first, last, about)
    ended, tools = _ended(trace), dict[int, Any]()
    spans = [root]
    for event in trace.of(Kind.MODEL_REQUEST, Kind.TOOL_CALL):
        end = ended.get(event["seq"])
        above = tools.get(event.get("parent", -1), root)
        if event["kind"] == Kind.MODEL_REQUEST:
            about = _of_chat(event, end or {})
            made = span("chat", "", event, end or last, about, above)
        else:
            about = _of_tool(event, end)
            made = span("execute_tool", event["tool"], event, end or last, about, above)
            tools[event["seq"]] = made
        spans.append(made)
    return spans


def export(trace: Trace) -> None:
    """Hand a trace's spans to the exporter that OTEL_TRACES_EXPORTER names, or print.

    Each package with an exporter offers it under a name: `otlp_proto_http` is that of
    opentelemetry-exporter-otlp-proto-http, which sends them to a collector.

    TraceError: no installed package has such an exporter, or it did not take them.
    """
    name = os.environ.get(EXPORTER, "console")
    found = tuple(entry_points(group="opentelemetry_traces_exporter", name=name))
    if not found:
        words = f"no spans: no exporter is called {name!r}: install its package"
        raise TraceError(f"{words}, or set {EXPORTER}")
    exporter = found[0].load()()
    result = exporter.export(to_spans(trace))
    exporter.shutdown()
    if result is not SpanExportResult.SUCCESS:
        raise TraceError(f"no spans: the exporter {name!r} did not take them")


def _of_chat(request: TraceEvent, end: TraceEvent) -> dict[str, Any]:
    usage = end.get("usage") or {}
    return {
        "gen_ai.provider.name": UNKNOWN,
        "gen_ai.request.max_tokens": request.get("max_tokens"),
        "gen_ai.usage.input_tokens": usage.get("input"),
        "gen_ai.usage.output_tokens": usage.get("output"),
        "error.type": None if "usage" in end else "no_answer",
    }


def _of_tool(call: TraceEvent, end: TraceEvent | None) -> dict[str, Any]:
    error = "no_observation" if end is None else None
    if end and not end["ok"]:
        error = error_kind(end) or UNKNOWN
    return {
        "gen_ai.tool.name": call["tool"],
        "gen_ai.tool.call.id": call["call_id"],
        "gen_ai.tool.type": "function",
        "error.type": error,
    }


def _ended(trace: Trace) -> dict[int, TraceEvent]:
    """Return the event at which each model call and tool call was over, by its seq.

    For a model call that is the turn, or whatever else came next where it was made; of
    calls with one id, the first observation belongs to the first.
    """
    ended: dict[int, TraceEvent] = {}
    asked: dict[int | None, int] = {}
    made: dict[Any, list[int]] = defaultdict(list)
    for event in trace:
        where = event.get("parent")
        if event["kind"] != Kind.DECISION and where in asked:
            ended[asked.pop(where)] = event
        calls = made[where, event.get("call_id")]
        if event["kind"] == Kind.MODEL_REQUEST:
            asked[where] = event["seq"]
        elif event["kind"] == Kind.TOOL_CALL:
            calls.append(event["seq"])
        elif event["kind"] == Kind.OBSERVATION and calls:
            ended[calls.pop(0)] = event
    return ended
