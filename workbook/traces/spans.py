"""A trace as OpenTelemetry spans, for the tools in which people watch their services.

The names are those of OpenTelemetry's conventions for generative AI (v1.41, all of them
in development). A span is a stretch of time with a parent: the run, each model call,
each tool call. What was said is in no span, for it may be sensitive: the trace has it.
This module alone needs OpenTelemetry's SDK: `pip install opentelemetry-sdk`.
"""

from __future__ import annotations

import os
from importlib.metadata import entry_points
from typing import Any

from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context

from workbook.models.prompts import clip
from workbook.traces.events import Kind, TraceEvent
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
    run_id = str(first["trace_id"])
    began = round(first.get("started_unix_s", 0) * 1e3) * 10**6
    resource = Resource.create({"service.name": "react-workbook"})
    tracer = TracerProvider(ALWAYS_ON, resource).get_tracer(__name__)

    def span(
        event: TraceEvent, end: TraceEvent, about: dict[str, Any], above: Any = None
    ) -> Any:
        operation, error = about["gen_ai.operation.name"], about.get("error.type")
        of = about.get("gen_ai.agent.name") or about.get("gen_ai.tool.name") or ""
        about |= {"gen_ai.conversation.id": run_id}
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
        if error:
            made.set_status(Status(StatusCode.ERROR, error))
        made.end(began + round(end["at_s"] * 1e9))
        return made

    about = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": UNKNOWN,
        "gen_ai.agent.name": first.get("engine"),
        "workbook.state": told["state"],
        "workbook.reason": told["reason"],
        "error.type": None if told["state"] in NO_ERROR else told["reason"],
    }
    ended = _ended(trace)
    root, tools = span(first, last, about), dict[int, Any]()
    spans = [root]
    for event in trace.of(Kind.MODEL_REQUEST, Kind.TOOL_CALL):
        end = ended.get(event["seq"])
        is_tool = event["kind"] == Kind.TOOL_CALL
        about = _of_tool(event, end) if is_tool else _of_chat(event, end or {})
        above = tools.get(event.get("parent", -1), root)
        spans.append(span(event, end or last, about, above))
        if is_tool:
            tools[event["seq"]] = spans[-1]
    return spans


def export(trace: Trace, exporter: SpanExporter | None = None) -> None:
    """Hand a trace's spans to an exporter: OTEL_TRACES_EXPORTER's, or else "console".

    Each package with an exporter offers it under a name: `otlp_proto_http` is that of
    opentelemetry-exporter-otlp-proto-http, which sends them to a collector.

    Raises:
        ValueError: no installed package has an exporter of that name.
        RuntimeError: the exporter did not take them.
    """
    name = os.environ.get(EXPORTER, "console")
    if exporter is None:
        found = tuple(entry_points(group="opentelemetry_traces_exporter", name=name))
        if not found:
            words = f"no exporter is called {name!r}: install its package"
            raise ValueError(f"{words}, or set {EXPORTER}")
        exporter = found[0].load()()
    result = exporter.export(to_spans(trace))
    exporter.shutdown()
    if result is not SpanExportResult.SUCCESS:
        raise RuntimeError(f"the exporter {name!r} did not take the spans")


def _of_chat(request: TraceEvent, end: TraceEvent) -> dict[str, Any]:
    usage = end.get("usage") or {}
    return {
        "gen_ai.operation.name": "chat",
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
        "gen_ai.operation.name": "execute_tool",
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
