"""LangChain's agents on our models and tools, as lesson 03 and its lab run them."""

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool as langchain_tool
from langchain_core.utils.function_calling import convert_to_openai_tool

from tests.lessons.asked import Asked
from workbook.lessons.old_and_new_agents import (
    OurModel,
    run_classic,
    stop_word_runs,
    to_langchain,
)
from workbook.runtime.calls import ToolFailure
from workbook.runtime.journal import Journal
from workbook.runtime.local import LocalTextModel
from workbook.runtime.model import ToolRequest
from workbook.runtime.script import Script
from workbook.runtime.tools import Tool, to_openai
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


# How a classic run ends


@pytest.mark.parametrize(
    ("turns", "options", "right"),
    [
        ([ACTION] * 9, {"max_iterations": 7}, ("EXHAUSTED", "max_iterations", NOTICE)),
        ([f"Final Answer: {NOTICE}"], {}, ("DONE", "final_answer", NOTICE)),
        ([ConnectionError("closed")], {}, ("ERROR", "ConnectionError", None)),
        ([ANSWER], {"tools": []}, ("ERROR", "ValueError", None)),
        (["I think so."], {}, ("ERROR", "ValueError", None)),
    ],
    ids=["iterations", "a notice that a model wrote", "model", "no tool", "unreadable"],
)
def test_how_a_classic_run_ends(turns, options, right):
    """The notice is no answer of the model; what is raised is recorded"""
    trace, _ = classic(*turns, **options)
    assert (trace.events[0]["kind"], end(trace)) == ("run_started", right)
    assert len(trace.of("tool_call")) == options.get("max_iterations", 0)


def test_what_a_tool_raises_ends_the_run_and_is_its_observation():
    """It is recorded, and is not raised"""
    trace, _ = classic(ACTION.replace("bridge", "stopped"))
    [seen] = trace.of("observation")
    assert (seen["ok"], seen["error"]) == (False, "KeyboardInterrupt")
    assert end(trace) == ("ERROR", "KeyboardInterrupt", None)


def test_an_unreadable_turn_goes_back_to_the_model():
    """With handle_parsing_errors the model reads why, and no call is made of it"""
    trace, script = classic("I think so.", ANSWER, handle_parsing_errors=True)
    assert trace.of("tool_call") == []
    assert "Invalid Format: Missing 'Action:'" in script.prompts[1]
    assert end(trace)[2] == "42"


@pytest.mark.parametrize(
    ("name", "words"),
    [("Search", "401 Unauthorized. Log in again."), ("REPL", "not a valid tool")],
)
def test_a_call_that_failed_is_not_ok(name, words):
    """A tool refuses, or does not exist: the model reads why, and the run goes on"""
    trace, script = classic(f"Action: {name}\nAction Input: refused", ANSWER)
    (call,), (seen,) = trace.of("tool_call"), trace.of("observation")
    assert (call["tool"], call["arguments"]) == (name, {"input": "refused"})
    assert (seen["tool"], seen["ok"], seen["call_id"]) == (name, False, call["call_id"])
    assert words in seen["text"]
    assert words in script.prompts[1]
    assert end(trace)[2] == "42"


# Models and tools


@langchain_tool
def multiply(a: int, b: int) -> int:
    """Multiply two numbers."""
    return a * b


def test_a_model_of_ours_drives_todays_agent():
    """Each result is tied to its call, with ids or without"""
    free = ToolRequest("multiply", {"a": 6, "b": 7})
    script = Asked([[free, free], ToolRequest(*free[:2], "one"), free, "It is 42."])
    agent = create_agent(OurModel(model=script), [multiply])
    found = agent.invoke({"messages": [("user", "6 by 7?")]})["messages"]
    ids = [message.tool_call_id for message in found if message.type == "tool"]
    assert (len(ids), len({*ids}), found[-1].content) == (4, 4, "It is 42.")
    assert "one" in ids
    assert script.requests[1].messages[-1]["content"] == "42"
    assert script.requests[1].tools[0]["function"]["name"] == "multiply"


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


@pytest.mark.in_ci
def test_the_real_model_makes_up_an_observation_without_stop_words():
    """With stop words the calculator is called and calls the model; without, not"""
    with_stop, without = stop_word_runs(LocalTextModel(max_tokens=60)).values()
    turns = [run.of("model_turn")[0]["text"] for run in (with_stop, without)]
    assert ["Observation:" in turn for turn in turns] == [False, True]
    assert any(inside(with_stop, "model_turn"))
    assert without.of("tool_call") == []
