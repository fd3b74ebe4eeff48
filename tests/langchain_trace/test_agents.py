"""LangChain's two agents as engines, each bounded, each ending in one event."""

import pytest

from tests.loop.asked import Asked
from workbook.langchain_trace.agents import (
    classic_agent,
    react_executor,
    run_classic,
    run_graph,
)
from workbook.runtime.calls import ToolFailure
from workbook.runtime.model import ToolRequest
from workbook.runtime.script import Script
from workbook.stage.engines import play
from workbook.stage.scenarios import load

ACTION = "Thought: I look.\nAction: Search\nAction Input: bridge"
ANSWER = "Thought: I know.\nFinal Answer: 42"
CALL = ToolRequest("Search", {"input": "bridge"})
RUNS = pytest.mark.parametrize(
    ("run", "turns"), [(run_classic, [ACTION, ANSWER]), (run_graph, [CALL, "42"])]
)
NOTICE = "Agent stopped due to iteration limit or time limit."


def end(journal):
    """Return how the run ended: state, reason, answer."""
    last = journal.trace().events[-1]
    assert last["kind"] == "run_finished"
    return last["state"], last["reason"], last["answer"]


def kinds(journal, kind, *, inside):
    """Return the events of a kind, made inside a tool or not."""
    return [e for e in journal.trace().of(kind) if ("parent" in e) is inside]


def test_the_price_question_takes_five_calls_and_four_hidden_ones(journal, llm_math):
    """five calls of the agent, four of the calculator, each with its parent"""
    scenario = load("price_question_ja")
    run_classic(scenario.script(), [llm_math], scenario.question, emit=journal.emit)
    calls = journal.trace().of("tool_call")
    assert end(journal) == ("DONE", "final_answer", "88ドル")
    assert len(kinds(journal, "model_turn", inside=False)) == 5
    for kind in ("model_request", "model_turn"):
        hidden = kinds(journal, kind, inside=True)
        assert [e["parent"] for e in hidden] == [call["seq"] for call in calls]
    observed = [e["text"] for e in journal.trace().of("observation")]
    assert observed == ["Answer: 20.0", "Answer: 80", "Answer: 8.0", "Answer: 88"]


def test_a_run_by_function_calls(journal, calculator_tool):
    """on create_agent a call of the model is a call of the tool, and none is hidden"""
    sums = [ToolRequest("Calculator", {"expression": e}) for e in ("100*0.2", "80+8")]
    run_graph(Script([*sums, "88"]), [calculator_tool], "?", emit=journal.emit)
    assert end(journal) == ("DONE", "final_answer", "88")
    assert len(journal.trace().of("model_turn")) == 3
    assert [e["text"] for e in journal.trace().of("observation")] == ["20", "88"]


def test_our_own_calculator_asks_nobody(journal, calculator_tool):
    """the agent runs the tools that it is given: with ours there is no hidden call"""
    script = load("price_question").script()
    run_classic(script, [calculator_tool], "?", emit=journal.emit)
    assert kinds(journal, "model_request", inside=True) == []
    assert end(journal)[2] == "88"


def test_the_engine_takes_a_part_for_llm_math():
    """on the engine langchain an evaluate_math_block of the reader's own is used"""
    parts = {"evaluate_math_block": lambda reply: "Answer: mine"}
    trace = play("price_question", "langchain", parts=parts)
    assert {e["text"] for e in trace.of("observation")} == {"Answer: mine"}


def test_a_repeated_call_ends_with_a_notice_for_an_answer(journal, tool):
    """the classic agent stops after its iterations and answers with a notice"""
    script = Script([ACTION], repeat_last=True)
    search = tool("Search", lambda text: "nothing")
    run_classic(script, [search], "Who?", emit=journal.emit, max_iterations=7)
    assert end(journal) == ("EXHAUSTED", "max_iterations", NOTICE)
    assert script.asked == 7


def test_a_model_that_says_the_notice_itself_has_answered(journal, tool):
    """the notice in the model's own words is an answer like any other"""
    script = Script([f"Thought: done\nFinal Answer: {NOTICE}"])
    run_classic(script, [tool("Search", str)], "Who?", emit=journal.emit)
    assert end(journal) == ("DONE", "final_answer", NOTICE)


def test_the_graph_goes_on_until_its_fuse(journal, tool):
    """create_agent repeats a call until the recursion limit: two nodes a step"""
    script = Script([CALL], repeat_last=True)
    search = tool("Search", lambda text: "nothing")
    run_graph(script, [search], "Who?", emit=journal.emit, recursion_limit=14)
    assert end(journal) == ("EXHAUSTED", "recursion_limit", None)
    assert script.asked == 7


@RUNS
@pytest.mark.parametrize("error", [ConnectionError, KeyboardInterrupt])
def test_what_a_tool_raises_ends_the_run(journal, tool, run, turns, error):
    """an exception in a tool is recorded, ends the run, and is not raised"""

    def fail(text):
        raise error("the service does not answer")

    run(Script(turns), [tool("Search", fail)], "?", emit=journal.emit)
    observed = journal.trace().of("observation")
    assert [(e["ok"], e["error"]) for e in observed] == [(False, error.__name__)]
    assert end(journal) == ("ERROR", error.__name__, None)


@RUNS
def test_what_the_model_raises_ends_the_run(journal, tool, run, turns):
    """an exception of the model is recorded and not raised"""
    script = Script([turns[0], ConnectionError("closed")])
    run(script, [tool("Search", str)], "?", emit=journal.emit)
    assert end(journal) == ("ERROR", "ConnectionError", None)
    assert journal.trace().events[-1]["message"] == "closed"


def test_a_run_that_cannot_begin_is_recorded_too(journal):
    """a classic agent without tools is refused; the trace still begins and ends"""
    run_classic(Script([ANSWER]), [], "Who?", emit=journal.emit)
    assert [e["kind"] for e in journal.trace().events] == [
        "run_started",
        "run_finished",
    ]
    assert end(journal) == ("ERROR", "ValueError", None)


def test_an_unreadable_turn_ends_the_classic_agent(journal, tool):
    """by default a turn that the parser refuses ends the run"""
    run_classic(Script(["I think so."]), [tool("Search", str)], "?", emit=journal.emit)
    turn = journal.trace().of("model_turn")[0]["turn"]
    assert (turn["kind"], turn["reason"]) == ("malformed", "no_step")
    assert end(journal)[:2] == ("ERROR", "ValueError")


def test_an_unreadable_turn_may_go_back_to_the_model(journal, tool):
    """with handle_parsing_errors the model reads why, and no tool call is made of it"""
    script = Asked(["I think so.", ANSWER])
    run_classic(
        script,
        [tool("Search", str)],
        "?",
        emit=journal.emit,
        handle_parsing_errors=True,
    )
    assert journal.trace().of("tool_call") == []
    assert "Invalid Format: Missing 'Action:'" in script.prompts[1]
    assert end(journal)[2] == "42"


def test_an_unreadable_turn_is_the_graphs_answer(journal, tool):
    """an agent that calls functions takes any text for its answer"""
    run_graph(Script(["I think so."]), [tool("Search", str)], "?", emit=journal.emit)
    assert end(journal) == ("DONE", "final_answer", "I think so.")


@pytest.mark.parametrize(
    ("run", "asks"),
    [
        (run_classic, "Action: Python REPL\nAction Input: 2**10"),
        (run_graph, ToolRequest("Python REPL", {"input": "2**10"})),
    ],
)
def test_a_made_up_tool_is_answered_with_an_error(journal, tool, run, asks):
    """a call of a tool that does not exist has one observation, and it is not ok"""
    run(Script([asks, ANSWER]), [tool("Search", str)], "?", emit=journal.emit)
    (call,) = journal.trace().of("tool_call")
    (observed,) = journal.trace().of("observation")
    assert (call["tool"], call["arguments"]) == ("Python REPL", {"input": "2**10"})
    assert observed["call_id"] == call["call_id"]
    assert observed["ok"] is False
    assert "not a valid tool, try one of [Search]" in observed["text"]
    assert end(journal)[0] == "DONE"


def test_braces_in_a_description_are_text(journal, tool):
    """a tool's description goes into a template; its braces are no variables there"""
    search = tool("Search", str, 'Write {"name": "bridge"}.')
    run_classic(Script([ANSWER]), [search], "?", emit=journal.emit)
    assert 'Write {"name": "bridge"}.' in journal.trace().prompt(1)


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
def test_a_thing_that_is_no_model_is_named(journal, tool, run):
    """what cannot be asked ends the run with a sentence that says so"""
    run(object(), [tool("Search", str)], "?", emit=journal.emit)
    assert end(journal)[:2] == ("ERROR", "TypeError")
    assert "a object cannot" in journal.trace().events[-1]["message"]


@RUNS
def test_a_tool_that_says_no_has_failed(journal, tool, run, turns):
    """Its words reach the model, and its observation is not `ok`; the run goes on"""

    def refuse(text):
        raise ToolFailure("unauthorized", "401 Unauthorized.", hint="Log in again.")

    run(Script(turns), [tool("Search", refuse)], "?", emit=journal.emit)
    (observation,) = journal.trace().of("observation")
    assert not observation["ok"]
    assert "401 Unauthorized. Log in again." in observation["text"]
    (_, request) = journal.trace().of("model_request")
    assert "401 Unauthorized. Log in again." in str(request["prompt"])
    assert end(journal)[2] == "42"


def test_a_tool_may_give_the_answer_itself(journal):
    """a tool with return_direct ends the run, and the run has succeeded"""
    from langchain_core.tools import Tool as TextTool

    search = TextTool("Search", lambda text: NOTICE, "Find.", return_direct=True)
    run_classic(Script([ACTION]), [search], "?", emit=journal.emit)
    assert end(journal) == ("DONE", "final_answer", NOTICE)
