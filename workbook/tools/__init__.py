"""Tools as contracts: what is asked of a tool, what it promises, what comes of it.

An engine needs `ToolRegistry`; everything else is there for whoever defines a tool.
"""

from workbook.tools.calls import (
    Effect,
    ErrorKind,
    Observation,
    ToolCall,
    ToolError,
    ToolFailure,
)
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import ContractError, Tool

__all__ = [
    "ContractError",
    "Effect",
    "ErrorKind",
    "Observation",
    "Tool",
    "ToolCall",
    "ToolError",
    "ToolFailure",
    "ToolRegistry",
]
