"""LangChain's agents on our models and tools, their traces, and the debug log."""

import pytest
from langchain_core.tools import tool as langchain_tool
from langchain_core.utils.function_calling import convert_to_openai_tool

from tests.lessons.asked import Asked
from workbook.lessons.langchain_handler import DebugLog, TraceHandler
from workbook.lessons.old_and_new_agents import (
    OurModel,
    classic_agent,
    graph_agent,
    llm_math_tool,
    math_script,
    run_classic,
    stop_word_runs,
    to_langchain,
)
from workbook.runtime.calls import ToolFailure
from workbook.runtime.journal import Journal
from workbook.runtime.local import LocalTextModel
from workbook.runtime.model import Response, ToolRequest, Usage
from workbook.runtime.script import Script
from workbook.runtime.tools import Tool, to_openai
from workbook.runtime.trace import Kind
from workbook.stage.engines import play
from workbook.worlds.endpoint import endpoint

ACTION = "Thought: I look.\nAction: Search\nAction Input: bridge"
ANSWER = "Thought: I know.\nFinal Answer: 42"
NOTICE = "Agent stopped due to iteration limit or time limit."
TEXT = {"type": "object", "properties": {"input": {"type": "string"}}}
TRIED = {
    "refused": ToolFailure("unauthorized", "401 Unauthorized.", hint="Log in again."),
    "stopped": KeyboardInterrupt("stopped"),
}


def search(description="Searches."):
    """Return a tool that takes one text and raises what is `TRIED`."""

    def answer(input):
        if input in TRIED:
            raise TRIED[input]
        return {"result": input}

    return Tool("Search", description, TEXT, answer, timeout_s=None)


def classic(*turns, tools=None, model=None, **options):
    """Return the trace of a run of the classic agent, and its model."""
    journal, model = Journal(), model or Asked(turns)
    tools = [search()] if tools is None else tools
    run_classic(model, tools, "Who?", emit=journal.emit, **options)
    return journal.trace(), model


def end(trace):
    """Return how a run ended: state, reason, answer."""
    assert trace.events[-1]["kind"] == "run_finished"
    return tuple(trace.end[name] for name in ("state", "reason", "answer"))


def inside(trace, kind):
    """Return the parents of the events of a kind, None outside of tools."""
    return [event.get("parent") for event in trace.of(kind)]


def test_the_price_question_takes_five_calls_and_four_hidden_ones():
    """Five calls of the agent, and one inside each call of the calculator"""
    trace = play("price_question_ja", "langchain")
    calls = [event["seq"] for event in trace.of("tool_call")]
    nested = [None, calls[0], None, calls[1], None, calls[2], None, calls[3], None]
    assert inside(trace, "model_request") == inside(trace, "model_turn") == nested
    observed = [event["text"] for event in trace.of("observation")]
    assert observed == ["Answer: 20.0", "Answer: 80", "Answer: 8.0", "Answer: 88"]
    assert end(trace) == ("DONE", "final_answer", "88ドル")


def test_a_hosted_model_is_sent_the_same_prompts():
    """`ChatOpenAI` gets the classic prompt as one message, with both stop words"""
    from langchain_openai import ChatOpenAI

    tools = [search('Write {"name": "bridge"}.')]  # braces are no variables
    with endpoint(ACTION, ANSWER) as server:
        model = ChatOpenAI(model="script", base_url=server.url, api_key="none-needed")
        there, _ = classic(model=model, tools=tools)
    here, _ = classic(ACTION, ANSWER, tools=tools)
    for trace in (here, there):
        assert trace.events[1]["stop"] == ["\nObservation:", "\n\tObservation:"]
        assert trace.prompt(1) == server.asked[0]["messages"][0]["content"]
        assert 'Write {"name": "bridge"}.' in trace.prompt(1)
        assert end(trace) == ("DONE", "final_answer", "42")
    assert server.asked[0]["stop"] == here.events[1]["stop"]


@pytest.mark.parametrize(
    ("turn", "options", "right"),
    [
        (f"Final Answer: {NOTICE}", {}, ("DONE", "final_answer", NOTICE)),
        (ACTION, {"max_iterations": 2}, ("EXHAUSTED", "max_iterations", NOTICE)),
        (ANSWER, {"tools": []}, ("ERROR", "ValueError", None)),
    ],
)
def test_how_a_classic_run_ends(turn, options, right):
    """The notice is no answer of the model; what is raised is recorded

    The other ways are the `ends.langchain` of the scenarios.
    """
    trace, _ = classic(turn, turn, **options)
    assert (trace.events[0]["kind"], end(trace)) == ("run_started", right)


def test_a_call_that_failed_is_not_ok():
    """A tool refuses, is not there, or raises: the model reads why, if the run goes on

    A turn that could not be read goes back to the model, and no call is made of it.
    """
    tried = [("Search", "refused"), ("REPL", "refused"), ("Search", "stopped")]
    turns = [f"Action: {name}\nAction Input: {text}" for name, text in tried]
    trace, script = classic("I think so.", *turns, handle_parsing_errors=True)
    assert "Invalid Format: Missing 'Action:'" in script.prompts[1]
    assert "401 Unauthorized. Log in again." in script.prompts[2]
    assert "not a valid tool" in script.prompts[3]
    calls, seen = trace.of("tool_call"), trace.of("observation")
    asked = [(call["tool"], call["arguments"]["input"]) for call in calls]
    assert asked == tried
    assert [(e["tool"], e["ok"]) for e in seen] == [(name, False) for name, _ in tried]
    assert [e["call_id"] for e in seen] == [call["call_id"] for call in calls]
    assert seen[2]["error"] == "KeyboardInterrupt"
    assert end(trace) == ("ERROR", "KeyboardInterrupt", None)


@langchain_tool
def multiply(a: int, b: int) -> int:
    """Multiply two numbers."""
    return a * b


def test_todays_agent_runs_on_our_model_and_is_traced():
    """Each result is tied to its call, without an id and with one that comes again"""
    free = ToolRequest("multiply", {"a": 6, "b": 7})
    one, journal = ToolRequest(*free[:2], "one"), Journal()
    first = Response(calls=[one], usage=Usage(7, 2, 3))
    script = Asked([first, [one, free], free, "It is 42."])
    agent, question = graph_agent(script, [multiply]), {"messages": [("user", "6*7?")]}
    config = {"callbacks": [TraceHandler(journal.emit)], "recursion_limit": 20}
    found = agent.invoke(question, config=config)["messages"]
    ids = [message.tool_call_id for message in found if message.type == "tool"]
    assert (ids[:2], len({*ids}), found[-1].content) == (["one"] * 2, 3, "It is 42.")
    assert script.requests[1].messages[-1]["content"] == "42"
    assert script.requests[1].tools[0]["function"]["name"] == "multiply"
    trace = journal.trace()
    kinds = "run_started model_request model_turn tool_call observation model_request"
    assert [event["kind"] for event in trace][:6] == kinds.split()
    assert trace.events[0]["question"] == "6*7?"
    assert trace.prompt(1) == [{"role": "user", "content": "6*7?"}]
    turn, call, seen = trace.events[2:5]
    assert turn["usage"] == {"input": 7, "output": 2, "cached": 3}
    assert turn["calls"] == [one.fields()]
    assert (call["call_id"], call["arguments"]) == ("one", {"a": 6, "b": 7})
    assert (seen["call_id"], seen["ok"], seen["text"]) == ("one", True, "42")
    called = {event["call_id"] for event in trace.of("tool_call")}
    assert len(called) == 4
    assert called == {event["call_id"] for event in trace.of("observation")}
    assert trace.end["answer"] == "It is 42."


def test_what_any_agent_raises_is_the_end_of_its_run():
    """The handler alone writes it down"""
    journal, agent = Journal(), graph_agent(Script([ConnectionError("closed")]), [])
    with pytest.raises(ConnectionError):
        agent.invoke({"messages": "?"}, {"callbacks": [TraceHandler(journal.emit)]})
    assert end(journal.trace()) == ("ERROR", "ConnectionError", None)


def test_a_model_may_get_no_stop_words():
    """They are cut from the request, though LangChain sends them"""
    turn = "Action: Search\nAction Input: a\nObservation: made up"
    for sends_stop, text in (True, turn.partition("\nObs")[0]), (False, turn):
        model = OurModel(model=Script([turn]), sends_stop=sends_stop)
        assert model.invoke("?", stop=["\nObservation:"]).text == text


def double(n):
    if n == 13:
        raise RuntimeError("unlucky")
    return {"result": 2 * n}


LIMITED = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 20}}}
DOUBLE = Tool("Double", "Doubles a number.", LIMITED, double, timeout_s=None)


@pytest.mark.parametrize("text", [True, False])
def test_a_tool_is_handed_over_with_its_schema_and_held_to_nothing(text):
    """As in tutorials, a tool is called beyond its limit and lets exceptions out"""
    tool = to_langchain(DOUBLE, text=text)
    assert text or convert_to_openai_tool(tool) == to_openai(DOUBLE)
    assert tool.invoke("21" if text else {"n": 21}) == "42"
    with pytest.raises(RuntimeError, match="unlucky"):
        tool.invoke("13" if text else {"n": 13})
    call = {"type": "tool_call", "id": "1", "name": "Search"}
    seen = to_langchain(search()).invoke(call | {"args": {"input": "refused"}})
    assert (seen.status, "401" in seen.content) == ("error", True)


@pytest.mark.parametrize("error", [OSError("no space left"), KeyboardInterrupt("stop")])
@pytest.mark.parametrize("kind", Kind)
def test_a_run_whose_trace_cannot_be_written_is_whole(kind, error):
    """Whichever event it ends at, it has one end, and each call one observation"""
    journal, left = Journal(), [kind]

    def emit(kind, /, **fields):
        seq = journal.emit(kind, **fields)
        if kind in left:
            left.clear()
            raise error
        return seq

    run_classic(Script([ACTION, ANSWER]), [search()], "?", emit=emit)
    trace = journal.trace()
    kinds = [event["kind"] for event in trace]
    assert kinds.count("tool_call") == kinds.count("observation")
    assert (kinds.count("run_started"), kinds.count("run_finished")) == (1, 1)
    assert kinds[-1] == "run_finished"
    if kind == Kind.TOOL_CALL:
        assert end(trace)[1] == type(error).__name__


def test_the_log_has_a_row_for_each_event_and_marks_four():
    """The first prompt, turn, tool call, and scratchpad; a dot for each level"""
    turns = ["Action: Calculator\nAction Input: 1+1", "Final Answer: 2"]
    log, tools = DebugLog(), [llm_math_tool(math_script())]
    agent = classic_agent(Script(turns), tools)
    agent.invoke({"input": "1+1?"}, config={"callbacks": [log]})
    assert len(log.rows) == 18
    assert len("".join(log.printed).splitlines()) > 100
    hidden = log.rows[8]
    assert (hidden["event"], hidden["what runs"]) == ("····llm/start", "OurModel")
    found = {row["place"]: row["text"] for row in log.rows if row["place"]}
    assert list(found) == ["first prompt", "turn", "tool", "scratchpad"]
    assert found["first prompt"].endswith("\nQuestion: 1+1?\nThought:")
    assert (found["turn"], found["tool"]) == (turns[0], "input: 1+1")
    assert found["scratchpad"] == f"{turns[0]}\nObservation: Answer: 2\nThought:"


@pytest.mark.in_ci
def test_the_real_model_makes_up_an_observation_without_stop_words():
    """With stop words the calculator is called and calls the model; without, not"""
    with_stop, without = stop_word_runs(LocalTextModel(max_tokens=60)).values()
    turns = [run.of("model_turn")[0]["text"] for run in (with_stop, without)]
    assert ["Observation:" in turn for turn in turns] == [False, True]
    assert any(inside(with_stop, "model_turn"))
    assert without.of("tool_call") == []
