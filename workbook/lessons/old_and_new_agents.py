"""LangChain's agents, on our models and tools: the classic ones, and today's.

Tools are handed over as tutorials do it: nothing is checked, and what a tool raises is
LangChain's to catch. The packages of the agents are imported when one is made.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from warnings import filterwarnings

from langchain_core._api import LangChainDeprecationWarning
from langchain_core.language_models import BaseChatModel, BaseLanguageModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langchain_core.tools import Tool as TextTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from workbook.lessons.langchain_debug_trace import write_math_block
from workbook.lessons.langchain_handler import TraceHandler, prompt_of
from workbook.lessons.naive_loop import call_unchecked
from workbook.paths import DATA
from workbook.runtime.calls import ToolFailure, as_json, result_text
from workbook.runtime.journal import Emit, Journal
from workbook.runtime.model import Model
from workbook.runtime.script import Script
from workbook.runtime.tools import Tool
from workbook.runtime.trace import Trace

AnyTool = Tool | BaseTool
CALCULATOR = "Calculator"
SUM = "What is 37 * 89?"  # 3293


class OurModel(BaseChatModel):
    """A `Model` as a LangChain chat model; a classic agent's prompt is sent as text."""

    model: Any
    sends_stop: bool = True  # False: the stop words do not reach the model

    @property
    def _llm_type(self) -> str:
        return str(self.model.name)

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> Any:
        """Return the model with these tools in each request."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools])

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, *_: Any, **kwargs: Any
    ) -> ChatResult:
        stop = (stop or ()) if self.sends_stop else ()
        prompt, tools = prompt_of(messages, kwargs), kwargs.get("tools", ())
        if isinstance(prompt, str):
            reply = self.model.complete(prompt, stop=stop)
        else:
            reply = self.model.chat(prompt, tools=tools, stop=stop)
        calls = []  # as LangChain reads them
        for n, asked in enumerate(reply.calls, 1):
            text = asked.arguments or {}
            text = text if isinstance(text, str) else json.dumps(text)
            function = {"name": str(asked.name or ""), "arguments": text}
            own_id = asked.call_id or f"call_{len(messages)}_{n}"
            calls.append({"id": str(own_id), "function": function})
        usage = reply.usage
        spent: Any = {"input_tokens": usage.input, "output_tokens": usage.output}
        spent["total_tokens"] = usage.input + usage.output
        spent["input_token_details"] = {"cache_read": usage.cached}
        more = {"tool_calls": calls}
        message = AIMessage(reply.text, usage_metadata=spent, additional_kwargs=more)
        return ChatResult(generations=[ChatGeneration(message=message)])


def langchain_model(model: Any) -> Any:
    """Return a `Model` as one of LangChain's, and a model of LangChain's as it is."""
    return model if isinstance(model, BaseLanguageModel) else OurModel(model=model)


def to_langchain(tool: AnyTool, *, text: bool = False) -> BaseTool:
    """Return a tool for LangChain: of one text, or of arguments by name."""
    if isinstance(tool, BaseTool):
        return tool
    if text:  # the description becomes part of a template: a brace opens a variable
        escaped = tool.description.replace("{", "{{").replace("}", "}}")
        return TextTool(tool.name, lambda text: call_unchecked(tool, text), escaped)

    def take_arguments(**arguments: Any) -> str:
        try:
            return result_text(tool.run(**arguments))
        except ToolFailure as failure:  # its message gets the status "error"
            raise ToolException(failure.error.text()) from failure

    about: Any = {"name": tool.name, "description": tool.description}
    about |= {"args_schema": as_json(tool.parameters), "handle_tool_error": True}
    return StructuredTool(func=take_arguments, **about)


def llm_math_tool(model: Any, evaluate: Callable[[str], str] | None = None) -> TextTool:
    """Return `load_tools(["llm-math"])`; `evaluate` reads the model's reply instead."""
    from langchain_classic.chains.llm_math.base import LLMMathChain

    class Reader(LLMMathChain):
        def _process_llm_result(self, llm_output: str, run_manager: Any) -> Any:
            assert evaluate is not None
            return {self.output_key: evaluate(llm_output)}

    filterwarnings("ignore", category=LangChainDeprecationWarning)
    chain = Reader if evaluate else LLMMathChain
    description = "Useful for when you need to answer questions about math."
    return TextTool(CALCULATOR, chain.from_llm(langchain_model(model)).run, description)


def math_script() -> Script:
    """Return a model for llm-math that hands back the expression it was given."""
    return Script([write_math_block], repeat_last=True)


def with_llm_math(
    tools: Iterable[AnyTool], model: Any, evaluate: Callable[[str], str] | None = None
) -> list[AnyTool]:
    """Return the tools with llm-math for a Calculator; a script has `math_script()`."""
    asked = math_script() if isinstance(model, Script) else model
    llm_math = llm_math_tool(asked, evaluate)
    return [llm_math if tool.name == CALCULATOR else tool for tool in tools]


def classic_agent(model: Any, tools: Sequence[AnyTool], **options: Any) -> Any:
    """Return the agent of the tutorials, `initialize_agent`."""
    from langchain_classic.agents import AgentType, initialize_agent

    filterwarnings("ignore", category=LangChainDeprecationWarning)
    kind = AgentType.ZERO_SHOT_REACT_DESCRIPTION
    adapted = [to_langchain(tool, text=True) for tool in tools]
    return initialize_agent(adapted, langchain_model(model), agent=kind, **options)


def graph_agent(model: Any, tools: Sequence[AnyTool]) -> Any:
    """Return today's agent, `create_agent`: a graph of a model that calls functions."""
    from langchain.agents import create_agent

    return create_agent(langchain_model(model), [*map(to_langchain, tools)])


def run_classic(
    model: Any, tools: Sequence[AnyTool], question: str, *, emit: Emit, **options: Any
) -> None:
    """Run `classic_agent` and write its events; what is raised is the run's end."""
    handler = TraceHandler(emit, [tool.name for tool in tools])
    try:
        agent = classic_agent(model, tools, **{"max_iterations": 12, **options})
        agent.invoke({"input": question}, config={"callbacks": [handler]})
    except (Exception, KeyboardInterrupt) as error:  # even before the run began
        handler.begin(question)
        handler.finish(None, error)


def stop_word_runs(model: Model) -> dict[str, Trace]:
    """Return two runs of one sum, with LangChain's stop words and without them."""
    from langchain_classic.agents.mrkl.prompt import FORMAT_INSTRUCTIONS

    examples = (DATA / "few_shot.txt").read_text(encoding="utf-8").rstrip()
    prompt = {"format_instructions": f"{FORMAT_INSTRUCTIONS}\n\n{examples}"}
    runs = {}
    for title, sends_stop in {"with": True, "without": False}.items():
        asked, journal = OurModel(model=model, sends_stop=sends_stop), Journal()
        tools = [llm_math_tool(asked)]
        run_classic(asked, tools, SUM, emit=journal.emit, agent_kwargs=prompt)
        runs[f"{title} stop words"] = journal.trace()
    return runs
