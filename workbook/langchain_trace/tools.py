"""Tools of ours as LangChain's, handed over as tutorials do: nothing is checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbook.loop.functions import FailedText, trusting_function, trusting_result
from workbook.runtime.calls import as_json
from workbook.runtime.tools import Tool

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool


def to_langchain(tool: Tool, *, text: bool = False) -> BaseTool:
    """Return the tool for LangChain.

    With `text` it takes one string, for the classic agent; otherwise arguments by
    name. What the tool raises leaves it, but a `ToolFailure` is a text for the model.
    """
    from langchain_core.tools import StructuredTool, ToolException
    from langchain_core.tools import Tool as TextTool

    if text:
        return TextTool(tool.name, trusting_function(tool), tool.description)

    def take_arguments(**arguments: Any) -> str:
        result = trusting_result(tool, arguments)
        if isinstance(result, FailedText):
            raise ToolException(result)  # so its message has the status "error"
        return result

    return StructuredTool(
        name=tool.name,
        func=take_arguments,
        description=tool.description,
        args_schema=as_json(tool.parameters),
        handle_tool_error=True,
    )
