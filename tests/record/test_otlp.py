"""Spans leave the workbook as OTLP, and through OpenTelemetry's own exporters."""

import json
import sys

import pytest
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from workbook.record.otlp import export_spans, to_otlp
from workbook.record.spans import to_spans
from workbook.stage.engines import play

RUNS = [
    ("price_question", "langchain"),
    ("tool_raises", "fsm"),
    ("endless_retry", "guarded"),
]


@pytest.mark.parametrize(("slug", "engine"), RUNS)
def test_an_exporter_of_the_sdk_gets_the_same_spans(slug, engine):
    """what OpenTelemetry's own exporter received is what the spans say"""
    spans, exporter = to_spans(play(slug, engine), content=True), InMemorySpanExporter()
    export_spans(spans, exporter)
    received = exporter.get_finished_spans()
    assert len(received) == len(spans)
    for ours, theirs in zip(spans, received, strict=True):
        assert theirs.name == ours.name
        assert theirs.kind is SpanKind[ours.kind]
        assert f"{theirs.context.trace_id:032x}" == ours.trace_id
        assert f"{theirs.context.span_id:016x}" == ours.span_id
        above = theirs.parent and f"{theirs.parent.span_id:016x}"
        assert above == ours.parent_id
        assert theirs.start_time == ours.start_unix_ns
        assert theirs.end_time == ours.end_unix_ns
        assert dict(theirs.attributes) == ours.attributes
        assert (theirs.status.status_code is StatusCode.ERROR) == (
            ours.error is not None
        )
        assert theirs.status.description == ours.error
        assert theirs.resource.attributes["service.name"] == "react-workbook"
        json.loads(theirs.to_json())


@pytest.mark.parametrize(("slug", "engine"), RUNS)
def test_otlp_holds_the_same_spans(slug, engine):
    """OTLP in JSON: hexadecimal ids, times as texts, each value with its type"""
    spans = to_spans(play(slug, engine))
    (resource,) = json.loads(json.dumps(to_otlp(spans)))["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    assert len(scope["spans"]) == len(spans)
    for ours, theirs in zip(spans, scope["spans"], strict=True):
        assert theirs["traceId"] == ours.trace_id
        assert theirs["spanId"] == ours.span_id
        above = {"parentSpanId": ours.parent_id} if ours.parent_id else {}
        assert above.items() <= theirs.items()
        assert bool(above) == ("parentSpanId" in theirs)
        assert theirs["startTimeUnixNano"] == str(ours.start_unix_ns)
        assert theirs["endTimeUnixNano"] == str(ours.end_unix_ns)
        assert theirs["kind"] == {"INTERNAL": 1, "CLIENT": 3}[ours.kind]
        assert theirs["status"].get("message") == ours.error
        assert theirs["status"].get("code", 0) == (2 if ours.error else 0)
        found = {each["key"]: each["value"] for each in theirs["attributes"]}
        assert found.keys() == ours.attributes.keys()
    chat = {each["key"]: each["value"] for each in scope["spans"][1]["attributes"]}
    assert chat["gen_ai.operation.name"] == {"stringValue": "chat"}
    assert chat["gen_ai.usage.input_tokens"].keys() == {"intValue"}
    assert chat["gen_ai.usage.input_tokens"]["intValue"].isdigit()
    stops = chat["gen_ai.request.stop_sequences"]["arrayValue"]["values"]
    assert stops[0] == {"stringValue": "\nObservation:"}


def test_without_the_sdk_one_is_told_what_to_install(monkeypatch):
    """where OpenTelemetry's SDK is missing, the error says how to get it"""
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(ModuleNotFoundError, match="pip install opentelemetry-sdk"):
        export_spans([], InMemorySpanExporter())


def test_spans_that_were_not_taken_are_not_lost_in_silence():
    """an exporter that fails is an error that names it"""

    class Full(InMemorySpanExporter):
        def export(self, spans):
            return SpanExportResult.FAILURE

    with pytest.raises(RuntimeError, match="Full"):
        export_spans(to_spans(play("price_question", "fsm")), Full())
