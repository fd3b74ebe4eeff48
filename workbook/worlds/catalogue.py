"""Every tool of the workbook by name, and the worlds with their tasks.

What a tool promises is in `data/worlds/tools.toml`. A module of this room that has
tools lists them: `TOOLS = {"Pay": make}`, where `make()` returns a list of tools. Those
that are made together share a state.
"""

import importlib
import pkgutil
import tomllib
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any

import workbook.worlds
from workbook.paths import DATA
from workbook.runtime.tools import Tool
from workbook.worlds.house import HOUSE, HouseTask, HouseWorld
from workbook.worlds.wiki import WikiWorld, wiki_tasks

CONTRACTS = tomllib.loads((DATA / "worlds/tools.toml").read_text("utf-8"))


def contract(of: str, run: Callable[..., dict[str, Any]], **more: Any) -> Tool:
    """Return the tool that runs a function under a contract of the file."""
    return Tool(**{"name": of, "run": run, "timeout_s": None, **CONTRACTS[of], **more})


@cache
def makers() -> dict[str, Callable[[], list[Tool]]]:
    """Return the name of each tool, and what makes it."""
    modules = pkgutil.iter_modules(workbook.worlds.__path__, "workbook.worlds.")
    rooms = [importlib.import_module(module.name) for module in modules]
    return {k: v for room in rooms for k, v in getattr(room, "TOOLS", {}).items()}


def builtin_tools(names: Iterable[str]) -> list[Tool]:
    """Return new tools by their names; KeyError names those that there are."""
    names, known = [*names], makers()
    for name in set(names) - known.keys():
        raise KeyError(f"no built-in tool is named {name!r}; use {', '.join(known)}")
    makes = dict.fromkeys(known[name] for name in names)
    made = {tool.name: tool for make in makes for tool in make()}
    return [made[name] for name in names]


def builtin_tool(name: str) -> Tool:
    """Return a new tool by its name, with a state of its own."""
    return builtin_tools([name])[0]


WORLDS: dict[str, tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]] = {
    "wiki": (WikiWorld, wiki_tasks),
    "claims": (partial(WikiWorld, paragraphs=3), partial(wiki_tasks, "claims.jsonl")),
    "house": (HouseWorld, lambda: tuple(HouseTask(**row) for row in HOUSE["task"])),
}


def make_world(name: str, **parts: Any) -> Any:
    """Build a world: `wiki` or `claims` (which may take a `lookup`), or `house`."""
    return WORLDS[name][0](**parts)


def tasks(world: str) -> tuple[Any, ...]:
    """Return the tasks of a world; each has a `slug` and its goal as `text`."""
    return WORLDS[world][1]()
