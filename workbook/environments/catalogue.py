"""Every tool of the workbook by name.

A module of `workbook.environments` that offers tools says so: `TOOLS = {"Pay":
make_it}`, where `make_it()` returns the tool. A new tool is one new file. What makes
several tools that share a state stands there under the name of each.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from functools import cache

import workbook.environments
from workbook.runtime import calculator
from workbook.runtime.tools import Tool

Maker = Callable[[], Tool | list[Tool]]


@cache
def makers() -> dict[str, Maker]:
    """Return the name of each tool, and what makes it."""
    found: dict[str, Maker] = {**calculator.TOOLS}
    room = workbook.environments
    for module in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
        found |= getattr(importlib.import_module(module.name), "TOOLS", {})
    return found


def builtin_tools(names: Iterable[str]) -> list[Tool]:
    """Return new tools by their names; those that are made together share a state."""
    found, made = [], dict[Maker, dict[str, Tool]]()
    for name in names:
        if name not in makers():
            known = ", ".join(makers())
            raise KeyError(f"no built-in tool is named {name!r}; use {known}")
        make = makers()[name]
        if make not in made:
            tools = make()
            all_ = tools if isinstance(tools, list) else [tools]
            made[make] = {tool.name: tool for tool in all_}
        found.append(made[make][name])
    return found


def builtin_tool(name: str) -> Tool:
    """Return a new tool by its name, with a state of its own."""
    return builtin_tools([name])[0]
