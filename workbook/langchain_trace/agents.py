"""LangChain's two agents as engines: the classic one, and today's.

Each runs one question, tells `emit` what happens through the callback handler, and
ends in a `run_finished`, whatever was raised. Bounded always: LangChain's own limits
are in the thousands, or absent.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from langchain_core._api import LangChainDeprecationWarning
from langchain_core.tools import BaseTool
from langchain_core.tools import Tool as TextTool

from workbook.langchain_trace.classic import write_math_block
from workbook.langchain_trace.handler import TraceHandler
from workbook.langchain_trace.models import (
    chat_model,
    classic_tool,
    graph_tool,
    script_of,
)
from workbook.loop.naive import Emit
from workbook.models.langchain import text_llm
from workbook.models.script import Script
from workbook.tools.tool import Tool

CALCULATOR = "Calculator"
ENGINE = "langchain"

AnyTool = Tool | BaseTool


def run_classic(
    model: Any,
    tools: Sequence[AnyTool],
    question: str,
    *,
    emit: Emit,
    max_iterations: int = 12,
    handle_parsing_errors: bool = False,
    calculator: Literal["llm-math", "direct"] = "llm-math",
    math_model: Any = None,
    **options: Any,
) -> None:
    """Run the classic agent, as tutorials had it, and tell `emit` what happens.

    `initialize_agent` with ZERO_SHOT_REACT_DESCRIPTION: one text prompt, stop words, a
    parser. It ends DONE, or EXHAUSTED (max_iterations) with LangChain's notice for an
    answer, or ERROR with what was raised. Nothing is raised here.

    Args:
        model: a `TextModel`, or a LangChain model.
        tools: ours or LangChain's; each gets one text.
        question: the user's question.
        emit: gets the trace events.
        max_iterations: how often the agent may ask the model.
        handle_parsing_errors: tell the model of a turn that could not be read, in place
            of ending the run.
        calculator: `llm-math` makes the tool called Calculator ask the model for an
            expression; `direct` leaves our own.
        math_model: is asked by llm-math; None is the same model, or, where that plays a
            script, one that hands back the expression it was given.
        options: of `initialize_agent`: `agent_kwargs={"format_instructions": …}`.
    """
    handler = TraceHandler(emit, engine=ENGINE, tools=[tool.name for tool in tools])
    with _recorded(handler, question), _no_deprecation_warnings():
        agent = classic_agent(
            model,
            tools,
            max_iterations=max_iterations,
            handle_parsing_errors=handle_parsing_errors,
            calculator=calculator,
            math_model=math_model,
            **options,
        )
        agent.invoke({"input": question}, config={"callbacks": [handler]})


def classic_agent(
    model: Any,
    tools: Sequence[AnyTool],
    *,
    calculator: Literal["llm-math", "direct"] = "llm-math",
    math_model: Any = None,
    **options: Any,
) -> Any:
    """Return the `AgentExecutor` that `run_classic` runs; options go to it."""
    from langchain_classic.agents import AgentType, initialize_agent

    if math_model is None:
        math_model = math_script() if script_of(model) else model
    with _no_deprecation_warnings():
        adapted = [
            llm_math_tool(math_model)
            if tool.name == CALCULATOR and calculator == "llm-math"
            else classic_tool(tool)
            for tool in tools
        ]
        kind = AgentType.ZERO_SHOT_REACT_DESCRIPTION
        return initialize_agent(adapted, text_llm(model), agent=kind, **options)


def llm_math_tool(model: Any) -> TextTool:
    """Return the calculator of old tutorials, `load_tools(["llm-math"])`.

    Args:
        model: asked for an expression at each call; a `TextModel` or LangChain's.
    """
    from langchain_classic.chains.llm_math.base import LLMMathChain

    return TextTool(
        name=CALCULATOR,
        func=LLMMathChain.from_llm(text_llm(model)).run,
        description="Useful for when you need to answer questions about math.",
    )


def math_script() -> Script:
    """Return a model for llm-math that hands back the expression it was given."""
    return Script([write_math_block], repeat_last=True)


def run_graph(
    model: Any,
    tools: Sequence[AnyTool],
    question: str,
    *,
    emit: Emit,
    recursion_limit: int = 25,
    **options: Any,
) -> None:
    """Run today's agent, `create_agent`, and tell `emit` what happens.

    A graph of two nodes, model and tools, with function calling. It ends DONE, or
    EXHAUSTED (recursion_limit), or ERROR with what was raised. Nothing is raised here.

    Args:
        model: a `Script`, whose text turns become function calls, or a LangChain model.
        tools: ours or LangChain's.
        question: the user's question.
        emit: gets the trace events.
        recursion_limit: how many nodes may run; a call and its tools are two.
        options: of `create_agent`, for instance `middleware`.
    """
    handler = TraceHandler(
        emit, engine="create_agent", tools=[tool.name for tool in tools]
    )
    with _recorded(handler, question):
        agent = graph_agent(model, tools, **options)
        agent.invoke(
            {"messages": [{"role": "user", "content": question}]},
            config={"callbacks": [handler], "recursion_limit": recursion_limit},
        )


def graph_agent(model: Any, tools: Sequence[AnyTool], **options: Any) -> Any:
    """Return the compiled graph that `run_graph` runs; options go to `create_agent`."""
    from langchain.agents import create_agent

    return create_agent(
        chat_model(model, tools), [graph_tool(tool) for tool in tools], **options
    )


@contextmanager
def _recorded(handler: TraceHandler, question: str) -> Iterator[None]:
    """Turn what is raised into the end of the run, also before the run began."""
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        if not handler.events.started:
            handler.events.begin(question)
        handler.fail(error)


@contextmanager
def _no_deprecation_warnings() -> Iterator[None]:
    """That the classic agent is deprecated is the lesson's subject, not news."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangChainDeprecationWarning)
        yield
