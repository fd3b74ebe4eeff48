"""A trace as spans: whose child each is, how long, what it says and what none says."""

import json

import pytest
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as names
from opentelemetry.semconv.attributes import error_attributes
from opentelemetry.trace import SpanKind, StatusCode

from workbook.playground.engines import play
from workbook.traces.spans import to_spans
from workbook.traces.trace import Trace
from workbook.traces.writer import TraceWriter

CONVENTIONS = {value for name, value in vars(names).items() if name.isupper()}
CONVENTIONS |= {error_attributes.ERROR_TYPE}


def run_of(*events):
    """Return the spans of events, each (seconds, kind, fields)."""
    now = iter([0.0, *(at_s for at_s, _, _ in events)])
    writer = TraceWriter(clock=lambda: next(now), unix_clock=lambda: 1001.0, secrets=())
    for _, kind, fields in events:
        writer(kind, **fields)
    return to_spans(writer.trace())


STARTED = (1.0, "run_started", {"engine": "fsm", "question": "secret 1"})
ASKED = (2.0, "model_request", {"prompt": "secret 2", "max_tokens": 99})
SAID = (3.0, "model_turn", {"text": "secret 3", "turn": None, "usage": None})
CALLED = (4.0, "tool_call", {"call_id": "1", "tool": "Sum", "arguments": {"secret": 4}})
SEEN = (5.0, "observation", {"call_id": "1", "tool": "Sum", "ok": True, "text": "4"})
ENDED = (9.0, "run_finished", {"state": "DONE", "reason": "done", "answer": "secret"})


def moved(seconds, event, target):
    about = {"source": "THINK", "event": event, "target": target, "why": ""}
    return seconds, "transition", {**about, "elapsed_s": 0.0}


def at(seconds, event, **other):
    """Return an event at another time, with other fields."""
    return seconds, event[1], {**event[2], **other}


def seconds(span):
    """Return when a span began and ended, as the trace counts."""
    return tuple((ns - 1000 * 10**9) / 1e9 for ns in (span.start_time, span.end_time))


def error_of(span):
    """Return the kind of error that a span ended in."""
    is_error = span.status.status_code is StatusCode.ERROR
    assert is_error == ("error.type" in span.attributes)
    return span.status.description


@pytest.mark.parametrize(
    ("slug", "engine"),
    [("price_question", "langchain"), ("payment_after_a_timeout", "guarded")],
)
def test_spans_hold_together_wherever_a_run_is_cut(slug, engine):
    """ids are unique, parents are there, names are OpenTelemetry's, at every length"""
    trace = play(slug, engine)
    for length in range(len(trace) + 1):
        spans = to_spans(Trace(trace.events[:length]))
        by_id = {span.context.span_id: span for span in spans}
        assert len(by_id) == len(spans)
        assert [span.parent for span in spans].count(None) == min(length, 1)
        assert len({span.context.trace_id for span in spans}) == min(length, 1)
        for span in spans:
            assert span.start_time <= span.end_time
            if span.parent is not None:
                assert by_id[span.parent.span_id].start_time <= span.start_time
            ours = {name for name in span.attributes if name.startswith("workbook.")}
            assert set(span.attributes) - ours <= CONVENTIONS
            json.loads(span.to_json())
    assert len(spans) == 1 + len(trace.of("model_request", "tool_call"))
    below = [s.parent and by_id[s.parent.span_id].name.split()[0] for s in spans]
    assert below.count("execute_tool") == 4 * (engine == "langchain")  # llm-math's


def test_a_run_is_an_agent_with_its_calls():
    """chat and execute_tool are below invoke_agent; what was said is in no span"""
    said = at(3.0, SAID, usage={"input": 12, "output": 0, "cached": 3})
    spans = run_of(STARTED, ASKED, said, CALLED, SEEN, ENDED)
    names = ["invoke_agent fsm", "chat", "execute_tool Sum"]
    assert [span.name for span in spans] == names
    kinds = [SpanKind.INTERNAL, SpanKind.CLIENT, SpanKind.INTERNAL]
    assert [span.kind for span in spans] == kinds
    assert [seconds(span) for span in spans] == [(1.0, 9.0), (2.0, 3.0), (4.0, 5.0)]
    assert {error_of(span) for span in spans} == {None}
    run, chat, tool = (dict(span.attributes) for span in spans)
    both = {"gen_ai.conversation.id": run["gen_ai.conversation.id"]}
    served = both | {"gen_ai.provider.name": "_OTHER"}
    assert run == served | {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "fsm",
        "workbook.state": "DONE",
        "workbook.reason": "done",
    }
    assert chat == served | {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.max_tokens": 99,
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.output_tokens": 0,
    }
    assert tool == both | {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "Sum",
        "gen_ai.tool.call.id": "1",
        "gen_ai.tool.type": "function",
    }
    assert "secret" not in "".join(span.to_json() for span in spans)


def test_the_first_observation_closes_the_first_call():
    """of two calls with one id; what is said of no call closes none"""
    other = at(3.5, CALLED, tool="Other", call_id="2")
    notice = at(4.5, SEEN, call_id=None, tool=None)
    failed = [
        at(n, SEEN, ok=False, error=e) for n, e in ((7.0, {"kind": "late"}), (9.0, {}))
    ]
    calls = [
        CALLED,
        notice,
        SEEN,
        at(6.0, CALLED),
        failed[0],
        at(8.0, CALLED),
        failed[1],
    ]
    _, lost, *closed = run_of(STARTED, other, *calls, ENDED)
    assert [seconds(each) for each in closed] == [(4.0, 5.0), (6.0, 7.0), (8.0, 9.0)]
    errors = ["no_observation", None, "late", "_OTHER"]
    assert [error_of(each) for each in (lost, *closed)] == errors


def test_a_model_call_without_an_answer_ends_as_it_is_given_up():
    """a model that was too late has an error; a decision in between changes nothing"""
    late = moved(6.0, "out_of_time", "EXHAUSTED")
    said = (2.5, "decision", {"who": "user", "what": "mode", "why": "", "mode": "plan"})
    end = at(9.0, ENDED, state="EXHAUSTED", reason="out_of_time", answer=None)
    run, chat = run_of(STARTED, ASKED, said, late, end)
    assert (seconds(chat), error_of(chat)) == ((2.0, 6.0), "no_answer")
    assert error_of(run) == "out_of_time"
    _, chat = run_of(STARTED, ASKED, said, SAID)
    assert (seconds(chat), error_of(chat)) == ((2.0, 3.0), None)


def test_models_that_two_tools_ask_at_once_are_told_apart():
    """a turn ends the call of the tool in which it was said, not another's"""
    events = [STARTED, CALLED, at(5.0, CALLED, call_id="2")]
    events += [at(6.0, ASKED, parent=1), at(7.0, ASKED, parent=2)]
    events += [at(8.0, SAID, parent=1), at(9.0, SAID, parent=2)]
    _, *tools, first, second = run_of(*events)
    assert [seconds(first), seconds(second)] == [(6.0, 8.0), (7.0, 9.0)]
    assert [s.parent for s in (first, second)] == [tool.context for tool in tools]


def test_a_run_that_waits_is_no_error_and_one_that_was_cut_is():
    """a run that was suspended is marked PENDING, one that was cut short no end"""
    run, *_ = run_of(STARTED, ASKED, SAID, moved(4.0, "suspended", "PENDING"))
    assert (error_of(run), run.attributes["workbook.state"]) == (None, "PENDING")
    run, *_ = run_of(STARTED, ASKED, SAID)
    assert error_of(run) == "after model_turn"


@pytest.mark.parametrize("tool", ["a\nb\x1b[2J", "x" * 500, "half \ud83d", ""])
def test_a_made_up_tool_breaks_no_name(tool):
    """a name is one short line that can be sent, whatever the model called for"""
    *_, span = run_of(STARTED, at(4.0, CALLED, tool=tool))
    assert len(span.name.splitlines()) == 1
    assert len(span.name) <= 100
    json.dumps(dict(span.attributes), ensure_ascii=False).encode()
