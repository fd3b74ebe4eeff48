"""Tools as contracts: schemas, validation, repair, timeouts, and the tools themselves.

Names are imported when they are first used, so that the room costs nothing to enter.
An engine needs `ToolRegistry`; everything else is there for whoever defines a tool.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOME = {
    "CalculatorError": "refusals",
    "Cascade": "search_web",
    "ContractError": "definition",
    "Document": "search_local",
    "Effect": "calls",
    "ErrorKind": "calls",
    "LocalSearch": "search_local",
    "Observation": "calls",
    "Payments": "payment",
    "TimedOut": "timeouts",
    "Tool": "definition",
    "ToolCall": "calls",
    "ToolError": "calls",
    "ToolFailure": "calls",
    "ToolRegistry": "contract",
    "Voltmeter": "voltmeter",
    "asked_numbers": "preflight",
    "builtin_tool": "builtin",
    "builtin_tools": "builtin",
    "bundled_search": "search_local",
    "call_with_timeout": "timeouts",
    "debug_call": "debug",
    "default_registry": "builtin",
    "factorial": "numbers",
    "from_langchain": "adapters",
    "from_openai": "adapters",
    "lint_description": "description_lint",
    "lint_examples": "description_lint",
    "lint_table": "description_lint",
    "log_calls": "debug",
    "preflight_all": "preflight",
    "prime_factors": "numbers",
    "repair_arguments": "repair",
    "safe_eval": "calculator",
    "search_tool": "search_web",
    "text_function": "adapters",
    "to_langchain": "adapters",
    "to_openai": "adapters",
    "tool_from_function": "adapters",
    "validate_arguments": "validation",
    "web_search": "search_web",
    "wiki_search": "search_web",
    "with_retries": "retry",
}
"""Name to the module of this room that holds it.

A name that is also a module's (`calculator`, `planner`, `preflight`) is not here: the
import system puts the module in its place. Take it from its module.
"""

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
