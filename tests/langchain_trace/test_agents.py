"""LangChain's two agents as engines, each bounded, each ending in one event."""

import pytest

from workbook.langchain_trace.agents import (
    classic_agent,
    react_executor,
    run_classic,
    run_graph,
)
from workbook.models.base import ToolRequest
from workbook.models.script import Script
from workbook.playground.engines import play
from workbook.playground.scenarios import load
from workbook.tools.calls import ToolFailure

ACTION = "Thought: I look.\nAction: Search\nAction Input: bridge"
ANSWER = "Thought: I know.\nFinal Answer: 42"
CALL = ToolRequest("Search", {"input": "bridge"})
RUNS = pytest.mark.parametrize(
    ("run", "turns"), [(run_classic, [ACTION, ANSWER]), (run_graph, [CALL, "42"])]
)
NOTICE = "Agent stopped due to iteration limit or time limit."


def end(emit):
    """Return how the run ended: state, reason, answer."""
    last = emit.events[-1]
    assert last["kind"] == "run_finished"
    return last["state"], last["reason"], last["answer"]


def kinds(emit, kind, *, inside):
    """Return the events of a kind, made inside a tool or not."""
    return [e for e in emit.trace().of(kind) if ("parent" in e) is inside]


def test_the_price_question_takes_five_calls_and_four_hidden_ones(emit, llm_math):
    """five calls of the agent, four of the calculator, each with its parent"""
    scenario = load("price_question_ja")
    run_classic(scenario.script(), [llm_math], scenario.question, emit=emit)
    calls = emit.trace().of("tool_call")
    assert end(emit) == ("DONE", "final_answer", "88ドル")
    assert len(kinds(emit, "model_turn", inside=False)) == 5
    for kind in ("model_request", "model_turn"):
        hidden = kinds(emit, kind, inside=True)
        assert [e["parent"] for e in hidden] == [call["seq"] for call in calls]
    observed = [e["text"] for e in emit.trace().of("observation")]
    assert observed == ["Answer: 20.0", "Answer: 80", "Answer: 8.0", "Answer: 88"]


def test_a_run_by_function_calls(emit, calculator_tool):
    """on create_agent a call of the model is a call of the tool, and none is hidden"""
    sums = [ToolRequest("Calculator", {"expression": e}) for e in ("100*0.2", "80+8")]
    run_graph(Script([*sums, "88"]), [calculator_tool], "?", emit=emit)
    assert end(emit) == ("DONE", "final_answer", "88")
    assert len(emit.trace().of("model_turn")) == 3
    assert [e["text"] for e in emit.trace().of("observation")] == ["20", "88"]


def test_our_own_calculator_asks_nobody(emit, calculator_tool):
    """the agent runs the tools that it is given: with ours there is no hidden call"""
    script = load("price_question").script()
    run_classic(script, [calculator_tool], "?", emit=emit)
    assert kinds(emit, "model_request", inside=True) == []
    assert end(emit)[2] == "88"


def test_the_engine_takes_a_part_for_llm_math():
    """on the engine langchain an evaluate_math_block of the reader's own is used"""
    parts = {"evaluate_math_block": lambda reply: "Answer: mine"}
    trace = play("price_question", "langchain", parts=parts)
    assert {e["text"] for e in trace.of("observation")} == {"Answer: mine"}


def test_a_repeated_call_ends_with_a_notice_for_an_answer(emit, tool):
    """the classic agent stops after its iterations and answers with a notice"""
    script = Script([ACTION], repeat_last=True)
    search = tool("Search", lambda text: "nothing")
    run_classic(script, [search], "Who?", emit=emit, max_iterations=7)
    assert end(emit) == ("EXHAUSTED", "max_iterations", NOTICE)
    assert script.asked == 7


def test_a_model_that_says_the_notice_itself_has_answered(emit, tool):
    """the notice in the model's own words is an answer like any other"""
    script = Script([f"Thought: done\nFinal Answer: {NOTICE}"])
    run_classic(script, [tool("Search", str)], "Who?", emit=emit)
    assert end(emit) == ("DONE", "final_answer", NOTICE)


def test_the_graph_goes_on_until_its_fuse(emit, tool):
    """create_agent repeats a call until the recursion limit: two nodes a step"""
    script = Script([CALL], repeat_last=True)
    search = tool("Search", lambda text: "nothing")
    run_graph(script, [search], "Who?", emit=emit, recursion_limit=14)
    assert end(emit) == ("EXHAUSTED", "recursion_limit", None)
    assert script.asked == 7


@RUNS
@pytest.mark.parametrize("error", [ConnectionError, KeyboardInterrupt])
def test_what_a_tool_raises_ends_the_run(emit, tool, run, turns, error):
    """an exception in a tool is recorded, ends the run, and is not raised"""

    def fail(text):
        raise error("the service does not answer")

    run(Script(turns), [tool("Search", fail)], "?", emit=emit)
    observed = emit.trace().of("observation")
    assert [(e["ok"], e["error"]) for e in observed] == [(False, error.__name__)]
    assert end(emit) == ("ERROR", error.__name__, None)


@RUNS
def test_what_the_model_raises_ends_the_run(emit, tool, run, turns):
    """an exception of the model is recorded and not raised"""
    script = Script([turns[0], ConnectionError("closed")])
    run(script, [tool("Search", str)], "?", emit=emit)
    assert end(emit) == ("ERROR", "ConnectionError", None)
    assert emit.events[-1]["message"] == "closed"


def test_a_run_that_cannot_begin_is_recorded_too(emit):
    """a classic agent without tools is refused; the trace still begins and ends"""
    run_classic(Script([ANSWER]), [], "Who?", emit=emit)
    assert [e["kind"] for e in emit.events] == ["run_started", "run_finished"]
    assert end(emit) == ("ERROR", "ValueError", None)


def test_an_unreadable_turn_ends_the_classic_agent(emit, tool):
    """by default a turn that the parser refuses ends the run"""
    run_classic(Script(["I think so."]), [tool("Search", str)], "?", emit=emit)
    turn = emit.trace().of("model_turn")[0]["turn"]
    assert (turn["kind"], turn["reason"]) == ("malformed", "no_step")
    assert end(emit)[:2] == ("ERROR", "ValueError")


def test_an_unreadable_turn_may_be_told_to_the_model(emit, tool):
    """with handle_parsing_errors the model is told, and no tool call is made of it"""
    script = Script(["I think so.", ANSWER])
    run_classic(
        script, [tool("Search", str)], "?", emit=emit, handle_parsing_errors=True
    )
    assert emit.trace().of("tool_call") == []
    assert "Invalid Format: Missing 'Action:'" in script.requests[1].prompt
    assert end(emit)[2] == "42"


def test_an_unreadable_turn_is_the_graphs_answer(emit, tool):
    """an agent that calls functions takes any text for its answer"""
    run_graph(Script(["I think so."]), [tool("Search", str)], "?", emit=emit)
    assert end(emit) == ("DONE", "final_answer", "I think so.")


@pytest.mark.parametrize(
    ("run", "asks"),
    [
        (run_classic, "Action: Python REPL\nAction Input: 2**10"),
        (run_graph, ToolRequest("Python REPL", {"input": "2**10"})),
    ],
)
def test_a_made_up_tool_is_answered_with_an_error(emit, tool, run, asks):
    """a call of a tool that does not exist has one observation, and it is not ok"""
    run(Script([asks, ANSWER]), [tool("Search", str)], "?", emit=emit)
    (call,) = emit.trace().of("tool_call")
    (observed,) = emit.trace().of("observation")
    assert (call["tool"], call["arguments"]) == ("Python REPL", {"input": "2**10"})
    assert observed["call_id"] == call["call_id"]
    assert observed["ok"] is False
    assert "not a valid tool, try one of [Search]" in observed["text"]
    assert end(emit)[0] == "DONE"


def test_braces_in_a_description_are_text(emit, tool):
    """a tool's description goes into a template; its braces are no variables there"""
    search = tool("Search", str, 'Write {"name": "bridge"}.')
    run_classic(Script([ANSWER]), [search], "?", emit=emit)
    assert 'Write {"name": "bridge"}.' in emit.trace().prompt(1)


def test_generate_works_with_initialize_agent_only(tool):
    """early_stopping_method="generate" raises for an agent made of runnables"""
    search = tool("Search", lambda text: "nothing")
    options = {"max_iterations": 2, "early_stopping_method": "generate"}
    turns = [ACTION, ACTION, ANSWER]
    old = classic_agent(Script(turns), [search], **options)
    assert old.invoke({"input": "Who?"})["output"] == "42"
    new = react_executor(Script(turns), [search], **options)
    with pytest.raises(ValueError, match="unsupported early_stopping_method"):
        new.invoke({"input": "Who?"})


@pytest.mark.parametrize("run", [run_classic, run_graph])
def test_a_thing_that_is_no_model_is_named(emit, tool, run):
    """what cannot be asked ends the run with a sentence that says so"""
    run(object(), [tool("Search", str)], "?", emit=emit)
    assert end(emit)[:2] == ("ERROR", "TypeError")
    assert "a object cannot" in emit.events[-1]["message"]


@RUNS
def test_a_tool_that_says_no_has_failed(emit, tool, run, turns):
    """Its words reach the model, and its observation is not `ok`; the run goes on"""

    def refuse(text):
        raise ToolFailure("unauthorized", "401 Unauthorized.", hint="Log in again.")

    run(Script(turns), [tool("Search", refuse)], "?", emit=emit)
    (observation,) = emit.trace().of("observation")
    assert not observation["ok"]
    assert "401 Unauthorized. Log in again." in observation["text"]
    (_, request) = emit.trace().of("model_request")
    assert "401 Unauthorized. Log in again." in str(request["prompt"])
    assert end(emit)[2] == "42"


def test_a_tool_may_give_the_answer_itself(emit):
    """a tool with return_direct ends the run, and the run has succeeded"""
    from langchain_core.tools import Tool as TextTool

    search = TextTool("Search", lambda text: NOTICE, "Find.", return_direct=True)
    run_classic(Script([ACTION]), [search], "?", emit=emit)
    assert end(emit) == ("DONE", "final_answer", NOTICE)
