"""What an exported agent needs of the package: modules by their imports, as texts.

Nothing is listed by hand: a module is copied because something that is exported imports
it.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from workbook.exercises.answer import PART_IMPORT
from workbook.exercises.catalogue import exercises
from workbook.paths import ROOT

NAME = __name__.partition(".")[0]
COPY = "runtime"
"""What the copy of the package is called where it is exported."""


EXTRAS = {"workbook.security": "servers"}
"""Rooms that only an optional part of the agent needs: copied beside that part."""

COMMANDS = {
    f"python -m {NAME} fetch-model": "python agent.py --model local",
    f"python -m {NAME} serve-model": "its own command",
    "pip install mcp": "pip install -e '.[mcp]'",
    "; the scripted model needs neither": "",
    "WORKBOOK_": "AGENT_",
}
"""What copied modules speak of that an agent has not, and what takes its place."""


def rewritten(text: str) -> str:
    """Return a text in which the package's names are those of its copies."""
    for name, place in {**COMMANDS, **EXTRAS}.items():
        text = text.replace(name, place)
    return text.replace(NAME, COPY)


def place_of(module: str) -> str:
    """Return where a module is copied to."""
    path = modules()[module].relative_to(ROOT).with_suffix("")
    return rewritten(".".join(path.parts)).replace(".", "/") + ".py"


@cache
def modules() -> dict[str, Path]:
    """Return the modules of the package and of its tests, by name."""
    found = {}
    for path in [*(ROOT / NAME).rglob("*.py"), *(ROOT / "tests").rglob("*.py")]:
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


@cache
def tree_of(module: str) -> ast.Module:
    """Return a module's syntax tree."""
    return ast.parse(modules()[module].read_text(encoding="utf-8"))


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the names of modules that a tree may import, wherever it does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def closure(texts: Iterable[str]) -> set[str]:
    """Return all modules of the package that texts import, and those import in turn.

    A room's own `__init__` is one of them where something imports from the room itself.
    """
    todo = [name for text in texts for name in imported(ast.parse(text))]
    found: set[str] = set()
    while todo:
        name = todo.pop()
        if name in modules() and name not in found:
            found.add(name)
            todo += imported(tree_of(name))
    return found


def data_files(names: Iterable[str]) -> set[str]:
    """Return the files of `data/` that modules read: each `DATA / "name"` in them."""
    found = set()
    for each in names:
        for node in ast.walk(tree_of(each)):
            match node:
                case ast.BinOp(ast.Name("DATA"), ast.Div(), ast.Constant(str(name))):
                    found.add(name)
    return found


def part_text(text: str, own: Iterable[str]) -> str:
    """Return an answer that finds the other parts beside it, or in the package.

    Args:
        text: as it is kept.
        own: the exercises that are exported as parts.
    """

    def home(match: re.Match[str]) -> str:
        slug = match[1]
        module, _, name = exercises()[slug].target.partition(":")
        return f"from {f'parts.{slug}' if slug in own else module} import {name}"

    lines = [line for line in text.splitlines() if line != PART_IMPORT]
    slugs = "|".join(map(re.escape, exercises()))
    call = re.compile(rf'^(?:{slugs}) = part\("({slugs})"\)$')
    return "\n".join(call.sub(home, line) for line in lines) + "\n"


def tests_of(slug: str) -> str:
    """Return the module of an exercise's tests."""
    return exercises()[slug].tests.removesuffix(".py").replace("/", ".")


def taken_in(modules: Iterable[str]) -> list[str]:
    """Return the exercises that tests in modules take, each as `module:function`."""
    nodes = [node for name in modules for node in ast.walk(tree_of(name))]
    asked = {node.arg for node in nodes if isinstance(node, ast.arg)}
    return [each.target for slug, each in exercises().items() if slug in asked]
