"""Every tool of the workbook by name, and a registry that holds them all.

Tools are made when they are asked for, each with a state of its own: two registries
share neither an instrument nor an account.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from workbook.props.number_theory import factorial, prime_factors
from workbook.props.payment import Payments
from workbook.props.planner import planner
from workbook.props.voltmeter import Voltmeter
from workbook.props.web_search import web_search, wiki_search
from workbook.tools.calculator import calculator
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import Tool

MAKERS: Mapping[str, Callable[[], Tool]] = MappingProxyType(
    {
        "Calculator": calculator,
        "Factorial": factorial,
        "PrimeFactors": prime_factors,
        "Voltmeter": lambda: Voltmeter().tool(),
        "WikiSearch": wiki_search,
        "WebSearch": web_search,
        "Plan": planner,
        "Pay": lambda: Payments().tool(),
    }
)
"""The name of each tool, and what makes it."""


def builtin_tool(name: str) -> Tool:
    """Return a new tool by its name.

    Raises:
        KeyError: there is none of that name; the message lists those that there are.
    """
    if name not in MAKERS:
        raise KeyError(f"no built-in tool is named {name!r}; use {', '.join(MAKERS)}")
    return MAKERS[name]()


def builtin_tools() -> tuple[Tool, ...]:
    """Return every tool of the workbook, new."""
    return tuple(make() for make in MAKERS.values())


def default_registry() -> ToolRegistry:
    """Return a registry with every tool of the workbook.

    For one that counts payments, or with an instrument that you hold in your hand,
    register the tools yourself: `ToolRegistry([account.tool(), …])`.
    """
    return ToolRegistry(builtin_tools())
