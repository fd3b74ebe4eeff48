"""Spans on their way to other tools: as OTLP in JSON, or to an exporter of the SDK.

OTLP is OpenTelemetry's own form. The SDK is imported only where it is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbook.record.spans import Span

_KINDS = {"INTERNAL": 1, "CLIENT": 3}  # as OTLP numbers them
_SERVICE = {"service.name": "react-workbook"}


def to_otlp(spans: Sequence[Span]) -> dict[str, Any]:
    """Return spans as OTLP has them in JSON, as collectors and viewers read them."""
    told = [
        {
            "traceId": each.trace_id,
            "spanId": each.span_id,
            **({"parentSpanId": each.parent_id} if each.parent_id else {}),
            "name": each.name,
            "kind": _KINDS[each.kind],
            "startTimeUnixNano": str(each.start_unix_ns),
            "endTimeUnixNano": str(each.end_unix_ns),
            "attributes": _typed(each.attributes),
            "status": {"code": 2, "message": each.error} if each.error else {},
        }
        for each in spans
    ]
    scopes = [{"scope": {"name": __name__}, "spans": told}]
    resource = {"attributes": _typed(_SERVICE)}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": scopes}]}


def _typed(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in attributes.items()]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(each) for each in value]}}
    kind = "intValue" if isinstance(value, int) else "stringValue"
    return {kind: str(value)}  # OTLP writes a number of 64 bits as a text


def export_spans(spans: Sequence[Span], exporter: Any) -> None:
    """Hand spans to an exporter of OpenTelemetry's SDK, which sends or keeps them.

    Raises:
        ModuleNotFoundError: the SDK is not installed; says how to get it.
        RuntimeError: the exporter did not take them.
    """
    try:
        from opentelemetry import trace as api
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import ReadableSpan
        from opentelemetry.sdk.trace.export import SpanExportResult
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    except ModuleNotFoundError as error:
        told = "spans are exported with OpenTelemetry's SDK, which is not installed"
        raise ModuleNotFoundError(
            f"{told}: pip install opentelemetry-sdk", name=error.name
        ) from None

    def context(span: Span, span_id: str) -> api.SpanContext:
        flags = api.TraceFlags(api.TraceFlags.SAMPLED)
        ids = int(span.trace_id, 16), int(span_id, 16)
        return api.SpanContext(*ids, is_remote=False, trace_flags=flags)

    resource, scope = Resource.create(_SERVICE), InstrumentationScope(__name__)
    failed = api.StatusCode.ERROR
    given = [
        ReadableSpan(
            each.name,
            context(each, each.span_id),
            context(each, each.parent_id) if each.parent_id else None,
            resource,
            dict(each.attributes),
            kind=api.SpanKind[each.kind],
            status=api.Status(failed, each.error) if each.error else api.Status(),
            start_time=each.start_unix_ns,
            end_time=each.end_unix_ns,
            instrumentation_scope=scope,
        )
        for each in spans
    ]
    if exporter.export(given) is not SpanExportResult.SUCCESS:
        raise RuntimeError(f"{type(exporter).__name__} did not take the spans")
