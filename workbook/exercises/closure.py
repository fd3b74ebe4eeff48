"""What an exported agent needs of the package: modules by their imports, as texts.

Nothing is listed by hand: a module is copied because something that is exported imports
it.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from workbook.exercises.answer import PART_IMPORT
from workbook.exercises.catalogue import Exercise, exercises
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
    """Return all modules of the package that texts import, and those import in turn."""
    todo = [name for text in texts for name in imported(ast.parse(text))]
    found: set[str] = set()
    while todo:
        name = todo.pop()
        if name in modules() and name not in found:
            found.add(name)
            todo += [name.rpartition(".")[0], *imported(tree_of(name))]
    return found


def foreign(names: Iterable[str]) -> set[str]:
    """Return the packages of others that modules import, wherever they do."""
    tops = {
        each.partition(".")[0] for name in names for each in imported(tree_of(name))
    }
    return tops - {NAME, "tests", *sys.stdlib_module_names}


def data_files(names: Iterable[str]) -> set[str]:
    """Return the files of `data/` that modules read: each `DATA / "name"` in them."""
    found = set()
    for each in names:
        for node in ast.walk(tree_of(each)):
            match node:
                case ast.BinOp(ast.Name("DATA"), ast.Div(), ast.Constant(str(name))):
                    found.add(name)
    return found


def in_place(text: str, helpers: Iterable[str]) -> str:
    """Return a text that finds modules which only tests need in `tests/helpers`."""
    for name in sorted(helpers, key=len, reverse=True):
        if name.startswith(f"{NAME}."):
            there = name.replace(NAME, "tests.helpers", 1)
            text = re.sub(rf"\b{re.escape(name)}\b", there, text)
    return text


def part_text(text: str, own: set[str]) -> str:
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


def tests_of(exercise: Exercise) -> str:
    """Return a test file of one part: the tests that take it, and what these need."""
    body = ast.parse(exercise.tests_path.read_text(encoding="utf-8")).body
    taken = [each for each in body if exercise.slug in _arguments(each)]
    taken = [each for each in taken if getattr(each, "name", "")[:5] == "test_"]
    used, known = {"pytestmark"} | set().union(*map(_names, taken)), set[str]()
    while new := used - known:
        known |= new
        for each in body:
            if each not in taken and _binds(each) & new:
                taken.append(each)
                used |= _names(each)
    asked = set().union(*map(_arguments, taken))  # and not: imported under that name
    subjects = sorted(asked & exercises().keys() - set().union(*map(_binds, taken)))
    lines = ['"""What is asked of this part, and whether it does it."""', ""]
    imports, rest = [], []
    for each in body:
        if isinstance(each, ast.Import | ast.ImportFrom):
            imports += _only(each, used)
        elif each in taken:
            rest.append(ast.unparse(each))
    fixtures = [_fixture(slug) for slug in subjects]
    needs_pytest = [] if "import pytest" in imports else ["import pytest"]
    lines += [*imports, *needs_pytest, "from parts import part"]
    return "\n".join(lines) + "\n\n\n" + "\n\n\n".join([*fixtures, *rest]) + "\n"


def _fixture(slug: str) -> str:
    module, _, name = exercises()[slug].target.partition(":")
    body = f"    from {module} import {name}\n\n    return part({name})"
    return f'@pytest.fixture(scope="session")\ndef {slug}():\n{body}'


def _only(node: ast.Import | ast.ImportFrom, used: set[str]) -> list[str]:
    """Return an import less the names that nothing uses."""
    names = [n for n in node.names if (n.asname or n.name).partition(".")[0] in used]
    if not names:
        return []
    if isinstance(node, ast.ImportFrom):
        node = ast.ImportFrom(node.module, names, node.level)
    else:
        node = ast.Import(names)
    return [ast.unparse(node)]


def _arguments(node: ast.stmt) -> set[str]:
    found = node.args.args if isinstance(node, ast.FunctionDef) else []
    return {each.arg for each in found}


def _names(node: ast.stmt) -> set[str]:
    """Return the names that a statement uses, the fixtures of a function among them."""
    inner = [each for each in ast.walk(node) if isinstance(each, ast.stmt)]
    found = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return found.union(*map(_arguments, inner))


def _binds(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return set()
    stored = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    return {n.id for n in stored if isinstance(n.ctx, ast.Store)}
