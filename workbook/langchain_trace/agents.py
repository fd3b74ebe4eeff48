"""LangChain's two agents as engines: the classic one, and today's.

Each is bounded and ends in a `run_finished`. Tools are handed over bare: what LangChain
does when one raises is what we look at.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any
from warnings import catch_warnings

from langchain_core._api import LangChainDeprecationWarning
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from langchain_core.tools import Tool as TextTool

from workbook.langchain_trace.classic import write_math_block
from workbook.langchain_trace.handler import TraceHandler
from workbook.langchain_trace.models import ChatModelAdapter, text_llm
from workbook.langchain_trace.tools import to_langchain
from workbook.loop.naive import Emit
from workbook.runtime.model import Model
from workbook.runtime.script import Script
from workbook.runtime.tools import Tool

CALCULATOR = "Calculator"
AnyTool = Tool | BaseTool

# That the classic agent is deprecated is the lesson's subject, not news.
_quiet = partial(catch_warnings, action="ignore", category=LangChainDeprecationWarning)


def run_classic(
    model: Any,
    tools: Sequence[AnyTool],
    question: str,
    *,
    emit: Emit,
    max_iterations: int = 12,
    **options: Any,
) -> None:
    """Run the classic agent of tutorials: one text prompt, stop words, a parser.

    It ends DONE, or EXHAUSTED (max_iterations) with LangChain's notice for an answer,
    or ERROR with what was raised; nothing is raised here. The options are those of
    `classic_agent`, for instance `handle_parsing_errors`.
    """
    with _recorded("langchain", tools, question, emit) as handler, _quiet():
        agent = classic_agent(model, tools, max_iterations=max_iterations, **options)
        agent.invoke({"input": question}, config={"callbacks": [handler]})


def classic_agent(model: Any, tools: Sequence[AnyTool], **options: Any) -> Any:
    """Return the `AgentExecutor` that `run_classic` runs."""
    from langchain_classic.agents import AgentType, initialize_agent

    kind = AgentType.ZERO_SHOT_REACT_DESCRIPTION
    with _quiet():
        adapted = [classic_tool(tool) for tool in tools]
        return initialize_agent(adapted, text_llm(model), agent=kind, **options)


def react_executor(model: Any, tools: Sequence[AnyTool], **options: Any) -> Any:
    """Return the other text agent: an executor around `create_react_agent`."""
    from langchain_classic.agents import AgentExecutor, create_react_agent
    from langchain_core.prompts import PromptTemplate

    prompt = PromptTemplate.from_template(
        "{tools}\nActions: {tool_names}\nQuestion: {input}\nThought:{agent_scratchpad}"
    )
    adapted = [classic_tool(tool) for tool in tools]
    agent = create_react_agent(text_llm(model), adapted, prompt)
    return AgentExecutor(agent=agent, tools=adapted, **options)


def classic_tool(tool: AnyTool) -> BaseTool:
    """Return a tool that takes one text, trusted as tutorials trust it."""
    if isinstance(tool, BaseTool):
        return tool
    # The descriptions become part of a template, in which a brace opens a variable.
    escaped = tool.description.replace("{", "{{").replace("}", "}}")
    return to_langchain(replace(tool, description=escaped), text=True)


def llm_math_tool(model: Any, evaluate: Callable[[str], str] | None = None) -> TextTool:
    """Return `load_tools(["llm-math"])`: it asks the model for each expression.

    `evaluate` takes the model's reply in place of LangChain's own function.
    """
    from langchain_classic.chains.llm_math.base import LLMMathChain

    class Reader(LLMMathChain):
        def _process_llm_result(self, llm_output: str, run_manager: Any) -> Any:
            assert evaluate is not None
            return {self.output_key: evaluate(llm_output)}

    chain = Reader if evaluate else LLMMathChain
    return TextTool(
        name=CALCULATOR,
        func=chain.from_llm(text_llm(model)).run,
        description="Useful for when you need to answer questions about math.",
    )


def math_script() -> Script:
    """Return a model for llm-math that hands back the expression it was given."""
    return Script([write_math_block], repeat_last=True)


def with_llm_math(
    tools: Iterable[AnyTool], model: Any, evaluate: Callable[[str], str] | None = None
) -> list[AnyTool]:
    """Return the tools with llm-math for a Calculator, as tutorials have it.

    It asks the model, or `math_script()` where that plays a script.
    """
    asked = math_script() if isinstance(model, Script) else model
    llm_math = llm_math_tool(asked, evaluate)
    return [llm_math if tool.name == CALCULATOR else tool for tool in tools]


def run_graph(
    model: Any,
    tools: Sequence[AnyTool],
    question: str,
    *,
    emit: Emit,
    recursion_limit: int = 25,
    **options: Any,
) -> None:
    """Run today's agent, `create_agent`: a graph of a model that calls its tools.

    It ends DONE, or EXHAUSTED (recursion_limit: a call and its tools are two nodes), or
    ERROR with what was raised; nothing is raised here. The options are those of
    `create_agent`, as `middleware`.
    """
    with _recorded("create_agent", tools, question, emit) as handler:
        agent = graph_agent(model, tools, **options)
        agent.invoke(
            {"messages": [{"role": "user", "content": question}]},
            config={"callbacks": [handler], "recursion_limit": recursion_limit},
        )


def graph_agent(model: Any, tools: Sequence[AnyTool], **options: Any) -> Any:
    """Return the compiled graph that `run_graph` runs; options go to `create_agent`."""
    from langchain.agents import create_agent

    adapted = [
        tool if isinstance(tool, BaseTool) else to_langchain(tool) for tool in tools
    ]
    return create_agent(chat_model(model), adapted, **options)


def chat_model(model: Any) -> BaseChatModel:
    """Return a model that calls functions; a TypeError where there is none."""
    if isinstance(model, BaseChatModel):
        return model
    if isinstance(model, Model):
        return ChatModelAdapter(model=model)
    problem = f"a {type(model).__name__} cannot call functions"
    raise TypeError(f"{problem}: give a Model or one of LangChain")


@contextmanager
def _recorded(
    engine: str, tools: Sequence[AnyTool], question: str, emit: Emit
) -> Iterator[TraceHandler]:
    """Turn what is raised into the end of the run, also before the run began."""
    handler = TraceHandler(emit, engine=engine, tools=[tool.name for tool in tools])
    try:
        yield handler
    except (Exception, KeyboardInterrupt) as error:
        handler.begin(question)
        handler.fail(error)
