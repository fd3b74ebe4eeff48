"""Our models and tools, as LangChain's two agents want them.

The classic agent asks a model for text, and `text_llm` of `workbook.models` does that.
`create_agent` asks for function calls, so a script of text turns is turned into those.
The tools are handed over bare: what LangChain does when one raises is what we look at.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.tools import Tool as TextTool

from workbook.langchain_trace.function_calls import as_function_calls
from workbook.models.base import Completion
from workbook.models.langchain import ScriptedModel
from workbook.models.script import Script
from workbook.tools.adapters import trusting_function
from workbook.tools.calls import result_text
from workbook.tools.tool import Tool


class CallingModel(ScriptedModel):
    """The scripted chat model for scripts of text turns: an Action becomes a call."""

    contracts: tuple[Tool, ...] = ()

    def _ask(
        self, messages: list[BaseMessage], stop: list[str] | None, options: Any
    ) -> Completion:
        answer = super()._ask(messages, stop, options)
        if answer.tool_requests:
            return answer
        call_id = f"call_{self.script.asked}"
        found = as_function_calls(answer.text, self.contracts, call_id=call_id)
        return replace(found, usage=answer.usage)


def script_of(model: Any) -> Script | None:
    """Return the script that a model plays, or None where it plays none."""
    found = getattr(model, "script", model)
    return found if isinstance(found, Script) else None


def chat_model(model: Any, tools: Iterable[Tool | BaseTool]) -> Any:
    """Return a model as `create_agent` takes it: one that can call functions.

    Args:
        model: a `Script`, or a LangChain chat model, which is taken as it is.
        tools: what the script's actions may name.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(model, Script):
        ours = tuple(tool for tool in tools if isinstance(tool, Tool))
        return CallingModel(script=model, contracts=ours)
    if hasattr(model, "bind_tools"):
        return model
    raise TypeError(
        f"a {type(model).__name__} cannot call functions: "
        "give a Script or a LangChain chat model"
    )


def classic_tool(tool: Tool | BaseTool) -> BaseTool:
    """Return a tool that takes one text, as the classic agent calls it.

    The text is trusted, as tutorials do: a JSON object is taken apart, anything else
    goes to the first parameter as it is. What the tool raises is not caught.
    """
    if isinstance(tool, BaseTool):
        return tool

    # The descriptions become part of a template, in which a brace opens a variable.
    description = tool.description.replace("{", "{{").replace("}", "}}")
    return TextTool(
        name=tool.name, func=trusting_function(tool), description=description
    )


def graph_tool(tool: Tool | BaseTool) -> BaseTool:
    """Return a tool with its schema, as `create_agent` calls it. Nothing is caught."""
    if isinstance(tool, BaseTool):
        return tool

    def run(**arguments: Any) -> str:
        return result_text(tool.run(**arguments))

    return StructuredTool(
        name=tool.name,
        func=run,
        description=tool.description,
        args_schema=dict(tool.parameters),
    )
