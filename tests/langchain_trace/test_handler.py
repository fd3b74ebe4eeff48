"""LangChain's callbacks as trace events."""

import asyncio
import threading

import pytest
from langchain_classic.chains.llm_math.base import LLMMathChain
from langchain_core.messages import HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool as langchain_tool

from workbook.langchain_trace.agents import (
    chat_model,
    classic_agent,
    graph_agent,
    math_script,
    run_classic,
    run_graph,
)
from workbook.langchain_trace.handler import TraceHandler
from workbook.langchain_trace.models import text_llm
from workbook.runtime.model import Model, Response, ToolRequest, Usage
from workbook.runtime.script import Script
from workbook.runtime.trace import Kind


def calls(*names):
    """Return a turn that asks for these tools at once."""
    return [
        ToolRequest(name, {"text": name}, f"id_{n}") for n, name in enumerate(names)
    ]


@langchain_tool
def echo(text: str) -> str:
    """Say the text again."""
    return text


HELLO = {"messages": [HumanMessage("hello")]}


def invoke(turns, tools, handler, **options):
    agent = graph_agent(Script(turns), tools, **options)
    agent.invoke(HELLO, config={"callbacks": [handler], "recursion_limit": 20})


def test_any_run_can_be_traced(journal):
    """handed over as a callback, it writes a whole run of anybody's agent"""
    invoke([calls("echo"), "done"], [echo], TraceHandler(journal.emit))
    assert [e["kind"] for e in journal.trace().events] == [
        "run_started",
        "model_request",
        "model_turn",
        "tool_call",
        "observation",
        "model_request",
        "model_turn",
        "run_finished",
    ]
    assert journal.trace().events[0]["question"] == "hello"
    assert journal.trace().prompt(1) == [{"role": "user", "content": "hello"}]
    assert journal.trace().events[-1]["answer"] == "done"


def test_parallel_calls_each_have_one_observation(journal):
    """tools that run at the same time do not mix up their observations"""
    both = threading.Barrier(2, timeout=20)

    @langchain_tool
    def first(text: str) -> str:
        """Wait for the other one."""
        both.wait()
        return "one"

    @langchain_tool
    def second(text: str) -> str:
        """Wait for the other one."""
        both.wait()
        return "two"

    turns = [calls("first", "second"), "done"]
    invoke(turns, [first, second], TraceHandler(journal.emit))
    observed = {e["call_id"]: e["text"] for e in journal.trace().of("observation")}
    assert observed == {"id_0": "one", "id_1": "two"}
    assert len(journal.trace().of("tool_call")) == 2


def test_an_agent_inside_a_tool_has_that_tool_for_a_parent(journal):
    """what happens inside a tool names the tool's event, at every depth"""

    @langchain_tool
    def ask_another(text: str) -> str:
        """Ask another agent."""
        inner = graph_agent(Script([calls("echo"), "inner"]), [echo])
        return inner.invoke(HELLO)["messages"][-1].text

    invoke([calls("ask_another"), "outer"], [ask_another], TraceHandler(journal.emit))
    outer, inner = journal.trace().of("tool_call")
    assert "parent" not in outer
    assert inner["parent"] == outer["seq"]
    nested = [e for e in journal.trace().events if e.get("parent") == outer["seq"]]
    assert [e["kind"] for e in nested].count("model_turn") == 2
    assert journal.trace().events[-1]["answer"] == "outer"
    assert len(journal.trace().of("run_started")) == 1


def test_usage_and_timings_are_the_servers(journal, tool):
    """tokens read, written and cached, and milliseconds, are what the server said"""

    class Served(Model):
        def respond(self, request):
            spent = Usage(input=100, output=5, cached=90)
            return Response("Final Answer: 1", spent, timings={"prompt_ms": 12.5})

    run_classic(Served(), [tool("Search", str)], "?", emit=journal.emit)
    (turn,) = journal.trace().of("model_turn")
    assert turn["usage"] == {"input": 100, "output": 5, "cached": 90}
    assert turn["timings"] == {"prompt_ms": 12.5}


def test_usage_of_messages_is_kept(journal):
    """a chat model's usage stands in its message"""
    said = Response("done", usage=Usage(7, 2, 3))
    invoke([said], [echo], TraceHandler(journal.emit))
    (turn,) = journal.trace().of("model_turn")
    assert turn["usage"] == {"input": 7, "output": 2, "cached": 3}


def test_a_classic_run_is_traced(journal, calculator_tool):
    """each event is one; a turn is what LangChain read, before what came of it"""
    two = "Action: Calculator\nAction Input: 1+1\nAction: Calculator\nAction Input: 2"
    run_classic(Script([two]), [calculator_tool], "?", emit=journal.emit)
    request, turn, call = journal.trace().events[1:4]
    assert request["stop"] == ["\nObservation:", "\n\tObservation:"]
    assert turn["turn"]["input"] == "1+1\nAction: Calculator\nAction Input: 2"
    assert call["arguments"] == {"input": turn["turn"]["input"]}


def test_a_classic_agent_on_a_chat_model_has_text_prompts(journal, tool):
    """the one message that LangChain makes of a text prompt is a text again"""
    model = chat_model(Script(["Final Answer: 1"]))
    run_classic(model, [tool("Search", str)], "?", emit=journal.emit)
    assert journal.trace().prompt(1).endswith("\nQuestion: ?\nThought:")
    assert journal.trace().of("model_turn")[0]["turn"]["kind"] == "final"


def test_an_empty_message_is_no_answer_to_read(journal):
    """a message without words and calls is malformed, though the graph ends on it"""
    invoke([""], [echo], TraceHandler(journal.emit))
    assert journal.trace().of("model_turn")[0]["turn"]["kind"] == "malformed"
    assert journal.trace().events[-1]["answer"] == ""


def test_an_agents_message_is_its_answer(journal):
    """of two agents in a row, each one's message without calls is an answer"""
    one, two = (graph_agent(Script([said]), [echo]) for said in ("1", "2"))
    (one | two).invoke(HELLO, config={"callbacks": [TraceHandler(journal.emit)]})
    turns = [event["turn"] for event in journal.trace().of("model_turn")]
    assert [turn.get("answer") for turn in turns] == ["1", "2"]


@pytest.mark.parametrize(
    ("next_one", "kinds"),
    [(chat_model(Script(["two"])), ["text", "final"]), (echo, ["text"])],
    ids=["model", "tool"],
)
def test_the_words_inside_a_chain_are_text(journal, next_one, kinds):
    """of two models in a chain the last one's words are the answer, others are text"""
    chain = chat_model(Script(["one"])) | StrOutputParser() | next_one
    chain.invoke("?", config={"callbacks": [TraceHandler(journal.emit)]})
    assert [e["turn"]["kind"] for e in journal.trace().of("model_turn")] == kinds


def test_a_streamed_classic_run_ends_with_its_answer(journal, tool):
    """streamed or not, the run's answer is what the parser read"""
    turns = ["Action: Search\nAction Input: x", "Final Answer: 42"]
    agent = classic_agent(Script(turns), [tool("Search", str)])
    config = {"callbacks": [TraceHandler(journal.emit)]}
    assert list(agent.stream({"input": "?"}, config=config))[-1]["output"] == "42"
    assert journal.trace().events[-1]["answer"] == "42"


def test_an_asynchronous_run_is_traced(journal):
    """without waiting, the events are the same, each call with its observation"""
    agent = graph_agent(Script([calls("echo", "echo"), "done"]), [echo])
    asyncio.run(
        agent.ainvoke(HELLO, config={"callbacks": [TraceHandler(journal.emit)]})
    )
    observed = [e["call_id"] for e in journal.trace().of("observation")]
    assert sorted(observed) == ["id_0", "id_1"]
    assert journal.trace().events[-1]["answer"] == "done"


def test_a_handler_writes_one_run(journal):
    """a second run with the same handler is refused, in a sentence"""
    handler = TraceHandler(journal.emit)
    invoke(["done"], [echo], handler)
    with pytest.raises(ValueError, match="one run"):
        invoke(["done"], [echo], handler)


def test_a_trace_that_cannot_be_written_is_not_passed_over(journal, tool):
    """LangChain swallows what callbacks raise; here it ends the run"""

    def full_disk(kind, /, **fields):
        if kind == Kind.TOOL_CALL:
            raise OSError("no space left")
        return journal.emit(kind, **fields)

    script = Script(["Action: Search\nAction Input: x", "Final Answer: 1"])
    run_classic(script, [tool("Search", str)], "?", emit=full_disk)
    assert journal.trace().end["reason"] == "OSError"


def test_a_middleware_that_ends_the_run_is_recorded(journal, tool):
    """a call that a limit refused has its observation, and it is not ok"""
    from langchain.agents.middleware import ToolCallLimitMiddleware

    limit = ToolCallLimitMiddleware(run_limit=3, exit_behavior="end")
    script = Script([ToolRequest("Search", {"input": "x"})], repeat_last=True)
    run_graph(script, [tool("Search", str)], "?", emit=journal.emit, middleware=[limit])
    assert [e["ok"] for e in journal.trace().of("observation")] == [True] * 3 + [False]
    assert script.asked == 4


def test_each_try_has_an_id_of_its_own(journal):
    """what LangChain tries again comes under one id; here each try has its own"""
    from langchain.agents.middleware import ToolRetryMiddleware

    @langchain_tool
    def broken(text: str) -> str:
        """Fail always."""
        raise TimeoutError("late")

    retry = ToolRetryMiddleware(max_retries=2, initial_delay=0, jitter=False)
    turns = [calls("broken"), "done"]
    invoke(turns, [broken], TraceHandler(journal.emit), middleware=[retry])
    assert one_observation_each(journal) == ["id_0", "id_0#2", "id_0#3"]


def one_observation_each(journal):
    """Return the calls' ids, each once, each with one observation."""
    ids = [e["call_id"] for e in journal.trace().of("tool_call")]
    assert len(set(ids)) == len(ids)
    assert sorted(e["call_id"] for e in journal.trace().of("observation")) == sorted(
        ids
    )
    return ids


@pytest.mark.parametrize(("name", "at_once"), [("echo", True), ("missing", False)])
def test_calls_to_which_the_model_gave_one_id(journal, name, at_once):
    """two calls of a model that repeats its ids are two calls, each with its result"""
    asked = [ToolRequest(name, {"text": text}, "call_1") for text in "ab"]
    turns = [asked, "done"] if at_once else [asked[:1], asked[1:], "done"]
    invoke(turns, [echo], TraceHandler(journal.emit))
    one_observation_each(journal)
    arguments = [e["arguments"]["text"] for e in journal.trace().of("tool_call")]
    assert sorted(arguments) == ["a", "b"]


def test_an_id_that_comes_again_has_its_own_observation(journal):
    """a message of an earlier turn is no result of a later call with the same id"""
    asked = [ToolRequest(name, {"text": "a"}, "call_1") for name in ("echo", "missing")]
    invoke([asked[:1], asked[1:], "done"], [echo], TraceHandler(journal.emit))
    assert [e["ok"] for e in journal.trace().of("observation")] == [True, False]


BY_TEXT = ["Action: Search\nAction Input: x", "Final Answer: 1"]
BY_CALL = [ToolRequest("Search", {"input": "x"}), "1"]
RUNS = pytest.mark.parametrize(
    ("run", "turns"), [(run_classic, BY_TEXT), (run_graph, BY_CALL)]
)


@RUNS
@pytest.mark.parametrize("kind", Kind)
def test_a_run_that_is_stopped_by_a_listener_is_whole(journal, tool, run, turns, kind):
    """whoever watches may stop a run at any event: each call has one observation"""
    left = [kind]

    def emit(kind, /, **fields):
        seq = journal.emit(kind, **fields)
        if kind in left:
            left.clear()
            raise KeyboardInterrupt("stop")
        return seq

    run(Script(turns), [tool("Search", str)], "?", emit=emit)
    one_observation_each(journal)
    kinds = [event["kind"] for event in journal.trace()]
    assert (kinds.count("run_started"), kinds.count("run_finished")) == (1, 1)
    assert kinds[-1] == "run_finished"


@pytest.mark.parametrize(
    ("asked", "answered", "question", "answer"),
    [
        ({"input": "?"}, {"output": "1"}, "?", "1"),
        ({"question": "?", "k": 3}, {"result": "1", "documents": []}, "?", "1"),
        ({"expression": "1"}, {"verdict": "one"}, "1", "one"),
        (
            {"a": 1, "b": 2},
            {"x": 1, "y": 2},
            '{"a": 1, "b": 2}',
            '{"x": 1, "y": 2}',
        ),
        ("?", "1", "?", "1"),
    ],
)
def test_a_chain_may_call_its_question_and_its_answer_otherwise(
    journal, asked, answered, question, answer
):
    """a usual name, the only value, or all values as JSON"""
    config = {"callbacks": [TraceHandler(journal.emit)]}
    RunnableLambda(lambda _: answered).invoke(asked, config=config)
    assert journal.trace().events[0]["question"] == question
    assert journal.trace().end["answer"] == answer


def test_the_calculators_chain_is_traced_by_itself(journal):
    """its question and its answer are recorded as texts, and not as dictionaries"""
    chain = LLMMathChain.from_llm(text_llm(math_script()))
    chain.invoke("80+8", config={"callbacks": [TraceHandler(journal.emit)]})
    assert journal.trace().events[0]["question"] == "80+8"
    assert journal.trace().end["answer"] == "Answer: 88"


@pytest.mark.parametrize("name", ["invalid_tool", "_Exception"])
@pytest.mark.parametrize("is_there", [True, False])
def test_a_tool_may_have_the_name_of_one_of_langchains(journal, tool, name, is_there):
    """it is called as any other tool; where there is none, the call is not ok"""
    tools = [tool("Search", str), *[tool(name, str.upper)] * is_there]
    turns = [f"Action: {name}\nAction Input: x", "Final Answer: 1"]
    run_classic(Script(turns), tools, "?", emit=journal.emit)
    (turn, _), (call,) = (journal.trace().of(k) for k in ("model_turn", "tool_call"))
    (seen,) = journal.trace().of("observation")
    assert (turn["turn"]["tool"], call["tool"], seen["tool"]) == (name, name, name)
    assert (turn["turn"]["input"], call["arguments"]) == ("x", {"input": "x"})
    assert (seen["ok"], seen["text"] == "X") == (is_there, is_there)


def test_a_tool_that_is_not_there_beside_one_named_invalid_tool(journal, tool):
    """the call has the name that the model wrote, and is not ok"""
    turns = ["Action: Find\nAction Input: x", "Final Answer: 1"]
    run_classic(Script(turns), [tool("invalid_tool", str)], "?", emit=journal.emit)
    (seen,) = journal.trace().of("observation")
    assert (seen["tool"], seen["ok"]) == ("Find", False)
