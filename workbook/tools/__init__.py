"""Tools as contracts: what a call asks for, what a tool promises, what comes of it."""

from workbook.tools.calls import Effect as Effect
from workbook.tools.calls import ErrorKind as ErrorKind
from workbook.tools.calls import Observation as Observation
from workbook.tools.calls import ToolCall as ToolCall
from workbook.tools.calls import ToolError as ToolError
from workbook.tools.calls import ToolFailure as ToolFailure
from workbook.tools.registry import ToolRegistry as ToolRegistry
from workbook.tools.tool import Tool as Tool
