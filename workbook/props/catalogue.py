"""Every tool of the workbook by name.

A module of `workbook.tools` or `workbook.props` that offers tools says so itself:
`TOOLS = {"Pay": make_it}`. A new tool is one new file.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache

import workbook.props
import workbook.tools
from workbook.tools.tool import Tool


@cache
def makers() -> dict[str, Callable[[], Tool]]:
    """Return the name of each tool, and what makes it."""
    found: dict[str, Callable[[], Tool]] = {}
    for room in (workbook.tools, workbook.props):
        for module in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
            found |= getattr(importlib.import_module(module.name), "TOOLS", {})
    return found


def builtin_tool(name: str) -> Tool:
    """Return a new tool by its name, with a state of its own."""
    if name not in makers():
        raise KeyError(f"no built-in tool is named {name!r}; use {', '.join(makers())}")
    return makers()[name]()
