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


def search(run=str, name="Search", description="Searches."):
    """Return a tool that takes one text."""

    def answer(input):
        return {"result": run(input)}

    return Tool(name, description, TEXT, answer, timeout_s=None)


def classic(turns, tool=None, **options):
    """Return the trace of a run of the classic agent."""
    journal, model = Journal(), turns if isinstance(turns, Script) else Script(turns)
    run_classic(model, [tool or search()], "Who?", emit=journal.emit, **options)
    return journal.trace()


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

    journal = Journal()
    with endpoint(ACTION, ANSWER) as server:
        model = ChatOpenAI(model="script", base_url=server.url, api_key="none-needed")
        run_classic(model, [search()], "Who?", emit=journal.emit)
    here, there = classic([ACTION, ANSWER]), journal.trace()
    for trace in (here, there):
        assert trace.events[1]["stop"] == ["\nObservation:", "\n\tObservation:"]
    assert server.asked[0]["messages"][0]["content"] == here.prompt(1)
    assert server.asked[0]["stop"] == here.events[1]["stop"]
    assert (there.prompt(1), end(there)[2]) == (here.prompt(1), "42")


# How a classic run ends


def test_a_repeated_call_ends_with_a_notice_for_an_answer():
    """The agent stops after its iterations; the notice is no answer of the model"""
    script = Script([ACTION], repeat_last=True)
    assert end(classic(script, max_iterations=7)) == (
        "EXHAUSTED",
        "max_iterations",
        NOTICE,
    )
    assert script.asked == 7
    said = classic([f"Thought: done\nFinal Answer: {NOTICE}"])
    assert end(said) == ("DONE", "final_answer", NOTICE)


def fail(text):
    raise KeyboardInterrupt(f"stopped at {text}")


@pytest.mark.parametrize(
    ("turn", "seen", "reason"),
    [
        (ACTION, ["KeyboardInterrupt"], "KeyboardInterrupt"),
        (ConnectionError("closed"), [], "ConnectionError"),
    ],
    ids=["tool", "model"],
)
def test_what_a_tool_or_the_model_raises_ends_the_run(turn, seen, reason):
    """It is recorded, also as the observation of the call, and is not raised"""
    trace = classic([turn], search(fail))
    assert [(e["ok"], e["error"]) for e in trace.of("observation")] == [
        (False, name) for name in seen
    ]
    assert end(trace) == ("ERROR", reason, None)


def test_a_run_that_cannot_begin_is_recorded_too():
    """An agent without tools is refused; the trace still begins and ends"""
    journal = Journal()
    run_classic(Script([ANSWER]), [], "Who?", emit=journal.emit)
    kinds = [event["kind"] for event in journal.trace()]
    assert kinds == ["run_started", "run_finished"]
    assert end(journal.trace()) == ("ERROR", "ValueError", None)


def test_an_unreadable_turn_ends_the_run_or_goes_back_to_the_model():
    """With handle_parsing_errors the model reads why, and no call is made of it"""
    assert end(classic(["I think so."]))[:2] == ("ERROR", "ValueError")
    script = Asked(["I think so.", ANSWER])
    trace = classic(script, handle_parsing_errors=True)
    assert trace.of("tool_call") == []
    assert "Invalid Format: Missing 'Action:'" in script.prompts[1]
    assert end(trace)[2] == "42"


def refuse(text):
    raise ToolFailure("unauthorized", "401 Unauthorized.", hint="Log in again.")


@pytest.mark.parametrize(
    ("name", "words"),
    [("Search", "401 Unauthorized. Log in again."), ("REPL", "not a valid tool")],
)
def test_a_call_that_failed_is_not_ok(name, words):
    """A tool that says no, or is not there: the model reads why, and the run goes on"""
    turn = f"Action: {name}\nAction Input: bridge"
    trace = classic([turn, ANSWER], search(refuse))
    (call,), (seen,) = trace.of("tool_call"), trace.of("observation")
    assert (call["tool"], call["arguments"]) == (name, {"input": "bridge"})
    assert (seen["tool"], seen["ok"], seen["call_id"]) == (name, False, call["call_id"])
    assert words in seen["text"]
    assert words in str(trace.of("model_request")[1])
    assert end(trace)[2] == "42"


def test_braces_in_a_description_are_text():
    """A tool's description goes into a template; its braces are no variables there"""
    tool = search(description='Write {"name": "bridge"}.')
    assert 'Write {"name": "bridge"}.' in classic([ANSWER], tool).prompt(1)


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
    """With stop words the calculator is asked, and asks the model; without, nobody"""
    with_stop, without = stop_word_runs(LocalTextModel(max_tokens=60)).values()
    turns = [run.of("model_turn")[0]["text"] for run in (with_stop, without)]
    assert ["Observation:" in turn for turn in turns] == [False, True]
    assert len(with_stop.of("tool_call")) >= 1
    assert any(inside(with_stop, "model_turn"))
    assert without.of("tool_call") == []
