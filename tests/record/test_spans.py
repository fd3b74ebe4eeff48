"""A trace as spans: whose child each is, how long, what it says and what none says."""

import json
import subprocess
import sys
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as names
from opentelemetry.semconv.attributes import error_attributes

from workbook.fsm.machine import Machine
from workbook.langchain_trace.agents import run_graph
from workbook.langchain_trace.function_calls import as_function_calls
from workbook.models.script import Script
from workbook.record.spans import to_spans
from workbook.record.trace import Trace
from workbook.record.writer import TraceWriter
from workbook.stage.engines import play
from workbook.stage.scenarios import load, scenario_tools
from workbook.tools.registry import ToolRegistry

RUNS = [
    ("price_question", "naive"),
    ("price_question", "langchain"),
    ("tool_raises", "langchain"),
    ("tool_raises", "fsm"),
    ("call_id_used_again", "fsm_calls"),
    ("cancelled_by_user", "fsm"),
    ("payment_after_a_timeout", "guarded"),
    ("endless_retry", "guarded"),
]
CONVENTIONS = {value for name, value in vars(names).items() if name.isupper()} | {
    error_attributes.ERROR_TYPE
}


def spans_of(slug, engine, **options):
    """Return the spans of a scenario's run."""
    return to_spans(play(slug, engine), **options)


def run_of(*events, **options):
    """Return the spans of events, each (seconds, kind, fields)."""
    now = iter([0.0, *(at_s for at_s, _, _ in events)])
    writer = TraceWriter(clock=lambda: next(now), unix_clock=lambda: 1001.0, secrets=())
    for _, kind, fields in events:
        writer(kind, **fields)
    return to_spans(writer.trace(), **options)


STARTED = (1.0, "run_started", {"engine": "fsm", "question": "2+2?"})
ASKED = (2.0, "model_request", {"prompt": "Question: 2+2?\n"})
SAID = (3.0, "model_turn", {"text": "I add.", "turn": None, "usage": None})
CALLED = (4.0, "tool_call", {"call_id": "1", "tool": "Sum", "arguments": {"a": "2+2"}})
SEEN = (5.0, "observation", {"call_id": "1", "tool": "Sum", "ok": True, "text": "4"})
ENDED = (9.0, "run_finished", {"state": "DONE", "reason": "done", "answer": "4"})


def at(seconds, event, **other):
    """Return an event at another time, with other fields."""
    return seconds, event[1], {**event[2], **other}


def seconds(span):
    """Return when a span began and ended, as the trace counts."""
    return tuple(
        (ns - 1000 * 10**9) / 1e9 for ns in (span.start_unix_ns, span.end_unix_ns)
    )


def tree(spans, without=()):
    """Return the operations as a tree, each (operation, children), names apart."""
    below = defaultdict(list)
    for span in spans:
        below[span.parent_id].append(span)

    def branch(span):
        operation = span.attributes["gen_ai.operation.name"]
        inside = [] if operation in without else below[span.span_id]
        return operation, [branch(each) for each in inside]

    (root,) = below[None]
    return branch(root)


def assert_well_formed(spans):
    """Check ids, parents and times."""
    by_id = {span.span_id: span for span in spans}
    assert len(by_id) == len(spans)
    assert [span.parent_id for span in spans].count(None) == 1
    assert {len(span.trace_id) for span in spans} == {32}
    for span in spans:
        assert (len(span.span_id), int(span.span_id, 16) > 0) == (16, True)
        assert span.start_unix_ns <= span.end_unix_ns
        if span.parent_id is not None:
            parent = by_id[span.parent_id]
            assert parent.start_unix_ns <= span.start_unix_ns
            assert span.end_unix_ns <= parent.end_unix_ns


@pytest.mark.parametrize(("slug", "engine"), RUNS)
def test_spans_hold_together_wherever_a_run_is_cut(slug, engine):
    """ids are unique, parents are there, times within the parent's, at every length"""
    trace = play(slug, engine)
    for length in range(1, len(trace) + 1):
        assert_well_formed(to_spans(Trace(trace.events[:length])))


PARENTS = st.sampled_from([None, 0, 1, 2, 3, 4, 99])
EVENTS = st.lists(
    st.tuples(st.sampled_from([ASKED, SAID, CALLED, SEEN]), PARENTS, st.floats(-9, 9)),
    max_size=12,
)


@settings(max_examples=200, deadline=None)
@given(EVENTS)
def test_spans_of_any_events_hold_together(events):
    """also where events come in no order, times go back and parents are not there"""
    told = [
        at(now, event, **({} if parent is None else {"parent": parent}))
        for event, parent, now in events
    ]
    spans = run_of(STARTED, *told)
    assert_well_formed(spans)
    kinds = [event[1] for event in told]
    count = kinds.count("model_request") + kinds.count("tool_call")
    assert len(spans) == 1 + count


def test_an_empty_trace_has_no_spans():
    """where nothing happened there is nothing to show"""
    assert to_spans(Trace(())) == []


@pytest.mark.parametrize("events", [[ENDED], [ASKED, SAID], [CALLED], [SAID], [SEEN]])
def test_a_run_that_did_not_begin_is_a_run(events):
    """a trace that lacks its beginning has an agent all the same, without a name"""
    spans = run_of(*events)
    assert_well_formed(spans)
    assert spans[0].name == "invoke_agent"


def test_a_run_is_an_agent_with_its_calls():
    """invoke_agent is the root; chat and execute_tool are below, in their order"""
    spans = run_of(STARTED, ASKED, SAID, CALLED, SEEN, ENDED, model="gpt-4o-mini")
    assert [span.name for span in spans] == [
        "invoke_agent fsm",
        "chat gpt-4o-mini",
        "execute_tool Sum",
    ]
    assert [span.kind for span in spans] == ["INTERNAL", "CLIENT", "INTERNAL"]
    assert [seconds(span) for span in spans] == [(1.0, 9.0), (2.0, 3.0), (4.0, 5.0)]
    assert {span.error for span in spans} == {None}


def test_a_model_without_a_name_is_chat_alone():
    """a trace does not know the model: then nothing is made up"""
    assert run_of(STARTED, ASKED, SAID)[1].name == "chat"
    assert "gen_ai.request.model" not in run_of(STARTED, ASKED, SAID)[1].attributes


def test_attributes_are_those_of_the_conventions():
    """operation, provider, model, tokens, tool and ids are called as others do"""
    asked = at(2.0, ASKED, stop=["\nObservation:"], max_tokens=99)
    usage = {"input": 12, "output": 0, "cached": 3}
    spans = run_of(
        STARTED, asked, at(3.0, SAID, usage=usage), CALLED, SEEN, ENDED,
        model="m", provider="openai",
    )  # fmt: skip
    run, chat, tool = (dict(span.attributes) for span in spans)
    conversation = run.pop("gen_ai.conversation.id")
    assert run == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m",
        "gen_ai.agent.name": "fsm",
        "workbook.state": "DONE",
        "workbook.reason": "done",
    }
    assert chat == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m",
        "gen_ai.conversation.id": conversation,
        "gen_ai.request.max_tokens": 99,
        "gen_ai.request.stop_sequences": ["\nObservation:"],
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.output_tokens": 0,
    }
    assert tool == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.conversation.id": conversation,
        "gen_ai.tool.name": "Sum",
        "gen_ai.tool.call.id": "1",
        "gen_ai.tool.type": "function",
    }


@pytest.mark.parametrize(("slug", "engine"), RUNS)
def test_no_attribute_is_made_up(slug, engine):
    """each name is one of OpenTelemetry's own list, or begins with workbook"""
    spans = spans_of(slug, engine, content=True, model="m")
    used = {key for span in spans for key in span.attributes}
    assert {key for key in used if not key.startswith("workbook.")} <= CONVENTIONS


@pytest.mark.parametrize(
    ("adapter", "turn", "reasons"),
    [
        ({"adapter": "TextTurns"}, {"kind": "action"}, ["stop"]),
        ({"adapter": "TextTurns"}, {"kind": "malformed", "cut": True}, ["length"]),
        (
            {},
            {"kind": "calls", "calls": [{"call_id": "", "tool": "t", "arguments": {}}]},
            ["tool_calls"],
        ),
        ({}, {"kind": "final"}, None),
    ],
)
def test_why_a_model_stopped_is_told_where_it_is_known(adapter, turn, reasons):
    """stop, length or tool_calls; nothing where the trace does not say"""
    spans = run_of(at(1.0, STARTED, **adapter), ASKED, at(3.0, SAID, turn=turn))
    assert spans[1].attributes.get("gen_ai.response.finish_reasons") == reasons


TEXTS = [
    "the question",
    "the prompt",
    "the turn",
    "an argument",
    "a result",
    "an answer",
]


def everything(**options):
    """Return the spans of a run in which each text is known."""
    return run_of(
        at(1.0, STARTED, question="the question"),
        at(2.0, ASKED, prompt="the prompt"),
        at(3.0, SAID, text="the turn"),
        at(4.0, CALLED, arguments={"a": "an argument"}),
        at(5.0, SEEN, text="a result"),
        at(9.0, ENDED, answer="an answer"),
        **options,
    )


def test_what_was_said_is_in_no_span():
    """questions, prompts, arguments and results are sensitive: they are left out"""
    assert [text for text in TEXTS if text in str(everything())] == []


def test_what_was_said_can_be_asked_for():
    """with content=True they are there, as the conventions write messages"""
    run, chat, tool = (span.attributes for span in everything(content=True))
    said = {"role": "user", "parts": [{"type": "text", "content": "the question"}]}
    assert json.loads(run["gen_ai.input.messages"]) == [said]
    answer = {"role": "assistant", "parts": [{"type": "text", "content": "an answer"}]}
    assert json.loads(run["gen_ai.output.messages"]) == [answer]
    assert "the prompt" in chat["gen_ai.input.messages"]
    assert "the turn" in chat["gen_ai.output.messages"]
    assert json.loads(tool["gen_ai.tool.call.arguments"]) == {"a": "an argument"}
    assert tool["gen_ai.tool.call.result"] == "a result"


def test_messages_keep_their_calls():
    """of a list of messages each has its role, its text, its calls and their answers"""
    function = {"name": "Sum", "arguments": '{"a": 1}'}
    prompt = [
        {"role": "system", "content": "Be brief."},
        {"role": "assistant", "tool_calls": [{"id": "1", "function": function}]},
        {"role": "tool", "tool_call_id": "1", "content": "1"},
    ]
    _, chat = run_of(STARTED, at(2.0, ASKED, prompt=prompt), SAID, content=True)
    system, asked, answered = json.loads(chat.attributes["gen_ai.input.messages"])
    assert system["parts"] == [{"type": "text", "content": "Be brief."}]
    assert asked["parts"] == [{"type": "tool_call", "id": "1", **function}]
    response = {"type": "tool_call_response", "id": "1", "response": "1"}
    assert (answered["role"], answered["parts"]) == ("tool", [response])


@pytest.mark.parametrize("content", [False, True])
@pytest.mark.parametrize("place", ["question", "prompt", "text", "tool", "call_id"])
def test_a_secret_is_in_no_span(place, content):
    """what the writer took out of the trace is not in its spans"""
    writer, key = TraceWriter(), "sk-abcdefghijKLMNOP1234"
    for _, kind, fields in (STARTED, ASKED, SAID, CALLED, SEEN, ENDED):
        writer(kind, **fields | ({place: key} if place in fields else {}))
    assert key not in str(to_spans(writer.trace(), content=content))


def test_a_model_that_a_tool_asks_is_the_tools_child():
    """llm-math's hidden calls hang below the calculator, and that below the agent"""
    spans = spans_of("price_question", "langchain")
    by_id = {span.span_id: span for span in spans}
    above = [by_id[span.parent_id].name for span in spans[1:] if span.name == "chat"]
    assert above.count("execute_tool Calculator") == 4
    assert above.count("invoke_agent langchain") == 5
    tools = [span for span in spans if span.name == "execute_tool Calculator"]
    assert {span.parent_id for span in tools} == {spans[0].span_id}


def test_machine_and_langchain_give_the_same_tree_but_for_the_hidden_calls():
    """on the price question they differ by llm-math's four model calls, and only so"""
    theirs, ours = (spans_of("price_question", e) for e in ("langchain", "fsm"))
    assert tree(ours) == (
        "invoke_agent",
        [("chat", []), ("execute_tool", [])] * 4 + [("chat", [])],
    )
    assert tree(theirs) != tree(ours)
    assert tree(theirs, without=["execute_tool"]) == tree(ours)
    assert len(theirs) - len(ours) == 4


def test_with_function_calls_the_trees_are_the_same():
    """create_agent and the machine, asked by function calls, have equal trees"""
    scenario, writers = load("price_question"), (TraceWriter(), TraceWriter())
    texts, tools = scenario.turns, scenario_tools(scenario)
    run_graph(Script(texts), tools, scenario.question, emit=writers[0])
    turns = [as_turn(text, tools) for text in texts]
    machine = Machine(ChatOnly(Script(turns)), ToolRegistry(tools), hook=writers[1])
    machine.run(scenario.question)
    theirs, ours = (to_spans(writer.trace()) for writer in writers)
    assert tree(theirs) == tree(ours)
    assert len(ours) == 10


class ChatOnly:
    """A script that is asked as a chat model."""

    def __init__(self, script):
        self.name, self.chat = script.name, script.chat


def as_turn(text, tools):
    """Return a text turn as a script writes function calls."""
    found = as_function_calls(text, tools)
    calls = [{"name": c.name, "arguments": c.arguments} for c in found.tool_requests]
    return {"text": found.text, "calls": calls} if calls else found.text


def test_two_calls_with_one_id_are_two_spans():
    """the first observation closes the first of them"""
    again, seen = at(6.0, CALLED), at(7.0, SEEN, ok=False, error={"kind": "late"})
    _, _, first, second = run_of(STARTED, ASKED, CALLED, SEEN, again, seen, ENDED)
    assert [seconds(first), seconds(second)] == [(4.0, 5.0), (6.0, 7.0)]
    assert [first.error, second.error] == [None, "late"]


@pytest.mark.parametrize("call_id", [None, ""])
def test_an_observation_without_an_id_closes_its_tools_call(call_id):
    """a trace without ids is told by the tools' names"""
    other = at(4.0, CALLED, tool="Other", call_id="")
    called, seen = at(4.5, CALLED, call_id=""), at(5.0, SEEN, call_id=call_id)
    _, first, second = run_of(STARTED, other, called, seen, ENDED)
    assert (first.error, second.error) == ("no_observation", None)


def test_a_notice_to_the_model_closes_no_call():
    """an observation of no tool, as of an unreadable turn, belongs to no call"""
    notice = at(4.5, SEEN, call_id=None, tool=None)
    _, _, call = run_of(STARTED, ASKED, CALLED, notice, SEEN)
    assert seconds(call) == (4.0, 5.0)


def test_a_call_without_an_observation_is_closed_with_the_run():
    """what was running as a run was cut short ends there, and is marked"""
    run, chat, tool = run_of(STARTED, ASKED, SAID, CALLED)
    assert (seconds(tool), tool.error) == ((4.0, 4.0), "no_observation")
    assert (run.error, run.attributes["workbook.state"]) == ("no_end", "no end")
    assert chat.error is None


def test_a_model_call_without_an_answer_ends_as_it_is_given_up():
    """a model that was too late has an error, and no tokens"""
    about = {
        "source": "THINK",
        "event": "out_of_time",
        "target": "EXHAUSTED",
        "why": "",
    }
    moved = (6.0, "transition", {**about, "elapsed_s": 4.0})
    end = at(9.0, ENDED, state="EXHAUSTED", reason="out_of_time", answer=None)
    run, chat = run_of(STARTED, ASKED, moved, end)
    assert (seconds(chat), chat.error) == ((2.0, 6.0), "no_answer")
    assert (run.error, run.attributes["error.type"]) == ("out_of_time", "out_of_time")


def test_a_decision_in_between_does_not_end_a_model_call():
    """what a guard says while the model thinks changes nothing"""
    said = (2.5, "decision", {"who": "user", "what": "mode", "why": "", "mode": "plan"})
    _, chat = run_of(STARTED, ASKED, said, SAID)
    assert (seconds(chat), chat.error) == ((2.0, 3.0), None)


def test_a_tool_that_goes_on_when_nobody_waits_is_not_stretched():
    """a model call after the tool's own observation hangs below the agent"""
    late = [at(6.0, ASKED, parent=1), at(7.0, SAID, parent=1)]
    run, tool, chat = run_of(STARTED, CALLED, SEEN, *late, ENDED)
    assert seconds(tool) == (4.0, 5.0)
    assert (chat.parent_id, seconds(chat)) == (run.span_id, (6.0, 7.0))


def test_a_failed_tool_says_what_kind_of_error_it_was():
    """error.type is the error's kind, in words that do not change from call to call"""
    _, _, tool = run_of(
        STARTED, ASKED, CALLED, at(5.0, SEEN, ok=False, error="KeyError")
    )
    assert (tool.error, tool.attributes["error.type"]) == ("KeyError", "KeyError")
    _, _, tool = run_of(STARTED, ASKED, CALLED, at(5.0, SEEN, ok=False))
    assert tool.error == "_OTHER"


def test_a_run_that_waits_is_no_error():
    """a run that was suspended is closed where it waits, and marked PENDING"""
    about = {"source": "PENDING_APPROVAL", "event": "suspended", "target": "PENDING"}
    moved = (4.0, "transition", {**about, "why": "", "elapsed_s": 0.0})
    run, _ = run_of(STARTED, ASKED, SAID, moved)
    assert (run.error, run.attributes["workbook.state"]) == (None, "PENDING")
    assert seconds(run) == (1.0, 4.0)


@pytest.mark.parametrize(
    ("options", "began"), [({}, 0), ({"started_unix_s": 50.5}, 50.5)]
)
def test_an_older_trace_says_no_day(options, began):
    """a trace of schema 1 begins at 0, or when its reader says so"""
    trace = play("price_question", "fsm")
    first = {
        name: value
        for name, value in trace.events[0].items()
        if name not in ("schema", "started_unix_s")
    }
    spans = to_spans(Trace((first, *trace.events[1:])), **options)
    assert_well_formed(spans)
    expected = began * 10**9 + round(first["at_s"] * 1e9)
    assert spans[0].start_unix_ns == pytest.approx(expected, abs=1000)


def test_the_ids_are_the_same_each_time():
    """spans of one trace made twice are the same, those of another run are others"""
    trace = play("price_question", "fsm")
    assert to_spans(trace) == to_spans(trace)
    others = {span.span_id for span in spans_of("price_question", "fsm")}
    assert not others & {span.span_id for span in to_spans(trace)}


@pytest.mark.parametrize("tool", ["a\nb\x1b[2J", "x" * 500, "half \ud83d", ""])
def test_a_made_up_tool_breaks_no_name(tool):
    """a name is one short line that can be sent, whatever the model called for"""
    *_, span = run_of(STARTED, at(4.0, CALLED, tool=tool))
    assert len(span.name.splitlines()) == 1
    assert len(span.name) <= 100
    json.dumps(dict(span.attributes), ensure_ascii=False).encode()


def test_reading_traces_needs_no_opentelemetry():
    """nothing of OpenTelemetry is imported until spans are exported"""
    code = (
        "import sys, pkgutil, importlib, workbook.record as room\n"
        "for each in pkgutil.iter_modules(room.__path__, room.__name__ + '.'):\n"
        "    importlib.import_module(each.name)\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == "[]", run.stderr
