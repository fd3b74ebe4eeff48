"""An answer: a learner's function as text, with what it needs of other cells.

This one text is checked, kept, collected, exported and graded. Nothing here knows of
tests.
"""

import ast
import builtins
import inspect
import linecache
import symtable
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from workbook.exercises.catalogue import CourseError
from workbook.exercises.display import notebook

CHANGING = {  # methods that change what they belong to
    "add", "append", "appendleft", "clear", "discard", "extend", "extendleft", "insert",
    "pop", "popitem", "popleft", "register", "remove", "reverse", "setdefault", "sort",
    "update",
}  # fmt: skip
DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
SHOWS = {"print", "display"}  # calls that change nothing
PART_IMPORT = "from workbook.exercises.your_agent import part"


class Statement(NamedTuple):
    """A statement at the top of a cell."""

    node: ast.stmt
    text: str
    binds: frozenset[str]  # names that it defines, assigns or imports
    changes: frozenset[str]  # names whose value it changes: `TABLE.append(row)`
    uses: frozenset[str]  # names that it looks up, in functions as well

    @property
    def is_import(self) -> bool:
        return isinstance(self.node, ast.Import | ast.ImportFrom)

    @property
    def is_definition(self) -> bool:
        return self.is_import or isinstance(self.node, DEFINITIONS)


def cells_of(function: Callable[..., Any]) -> list[str]:
    """Return the cells that were run up to now, or the file that a function is in.

    CourseError: it has no source, or uses variables of a function around it.
    """
    function = inspect.unwrap(function)
    name = getattr(function, "__name__", "it")
    if getattr(function, "__closure__", None):
        used = ", ".join(function.__code__.co_freevars)
        raise CourseError(
            f"{name} uses variables of the function around it ({used}), and these"
            f" cannot be saved as text. Write `def {name}` at the left margin of a"
            f" cell, with all that it needs in the same cell."
        )
    file = getattr(getattr(function, "__code__", None), "co_filename", "<string>")
    shell = notebook()
    is_of_a_cell = shell and getattr(function, "__globals__", {}) is shell.user_ns
    if is_of_a_cell and file != "<string>":  # not made by `exec`
        return list(shell.history_manager.input_hist_raw)
    lines = linecache.getlines(file)
    if not lines:
        raise CourseError(
            f"{name} has no source that could be read. Write `def {name}` in a cell,"
            " and the check below it."
        )
    return ["".join(lines)]


def answer_in(cells: Sequence[str], slug: str, others: Iterable[str] = ()) -> str:
    """Return the text of a module: the last `def slug`, below all that it needs.

    From its own cell comes whatever has to do with it, from earlier ones the last
    statement that binds a name. A name in `others` (other exercises) that its own cell
    does not define is a part of the learner's agent.

    Raises:
        LookupError: no cell defines the function.
        CourseError: an earlier cell changes what the function uses, for example by
            `TABLE.append(row)`; the message says what to do.
    """
    home, earlier = _split(cells, slug)
    needed, parts = _needed(slug, home, earlier, set(others))
    values = set[str]()  # that are used, and have been bound so far
    for each in earlier:
        if each in needed:
            values |= set() if each.is_import else each.binds
        elif found := values & each.changes:
            used, line = ", ".join(sorted(found)), each.text.splitlines()[0]
            raise CourseError(
                f"{slug} uses {used}, and `{line}` changes it in an earlier cell."
                f" Put {used} and that line into the cell of `def {slug}`."
            )
    taken = [each for each in dict.fromkeys([*earlier, *home]) if each in needed]
    top = [each.text for each in taken if each.is_import]
    if parts:
        top += [PART_IMPORT, *(f'{name} = part("{name}")' for name in sorted(parts))]
    top = sorted(dict.fromkeys(top), key=lambda line: "__future__" not in line)
    rest = [each.text for each in taken if not each.is_import]
    return "\n\n\n".join(["\n".join(top), *rest]).strip() + "\n"


def left_out(cells: Sequence[str], slug: str, others: Iterable[str] = ()) -> list[str]:
    """Return the last three calls of earlier cells that may change what is used.

    `fill(TABLE)` may, and is not in the answer: what else it does nobody knows.
    """
    home, earlier = _split(cells, slug)
    needed, _ = _needed(slug, home, earlier, set(others))
    values = {n for e in needed if not e.is_definition for n in e.binds}
    calls = [e for e in earlier if isinstance(e.node, ast.Expr) and e not in needed]
    left = [e for e in calls if "(" in e.text and values & e.uses - {slug}]
    lines = [e.text.splitlines()[0] for e in left if not SHOWS & e.uses]
    return list(dict.fromkeys(lines))[-3:]


def _split(cells: Sequence[str], slug: str) -> tuple[list[Statement], list[Statement]]:
    """Return the last cell that defines the function, and what is above it."""
    read = [statements(cell) for cell in cells]
    at = [number for number, found in enumerate(read) if _defines(found, slug)]
    if not at:
        raise LookupError(f"no cell defines {slug}")
    return read[at[-1]], [each for found in read[: at[-1]] for each in found]


def _needed(
    slug: str, home: list[Statement], earlier: list[Statement], others: set[str]
) -> tuple[set[Statement], set[str]]:
    """Return the statements that a function needs, and its parts of the agent."""
    imports = [each for each in [*earlier, *home] if each.is_import]
    unnamed = [e for e in imports if not e.binds or "__future__" in e.text]
    needed = set(unnamed)  # `from … import *` binds no name
    parts, names, known = set[str](), [slug], set(dir(builtins)) - {slug}
    for name in names:  # it grows
        if name in known:
            continue
        known.add(name)
        own = [each for each in home if name in each.binds | each.changes]
        if not any(name in each.binds for each in own):  # it has its value from before
            if name in others:
                parts.add(name)
            else:
                own += [each for each in earlier if name in each.binds][-1:]
        if not all(each.is_definition for each in own):  # `fill(TABLE)` belongs to it
            calls = [each for each in home if isinstance(each.node, ast.Expr)]
            own += [e for e in calls if name in e.uses and slug not in e.uses]
        needed.update(own)
        names += [used for each in own for used in each.uses]
    return needed, parts


def run_text(slug: str, text: str, name: str) -> Callable[..., Any]:
    """Run the text of an answer as a module, and return its function."""
    module = types.ModuleType(f"your_agent.{slug}")
    sys.modules[module.__name__] = module  # dataclasses look there
    if Path(name).exists():
        linecache.checkcache(name)
    else:
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), module.__dict__)
    function: Callable[..., Any] = getattr(module, slug)
    if not callable(function):  # a decorator has made something else of it
        raise TypeError(f"{slug} is a {type(function).__name__}, and not a function")
    return function


def to_python(cell: str) -> str:
    """Return a cell with its magics turned into calls, as IPython does."""
    from IPython.core.inputtransformer2 import TransformerManager

    code = cell.partition("\n")[2] if cell.startswith("%%") else cell
    return str(TransformerManager().transform_cell(code))  # type: ignore[no-untyped-call]


@lru_cache(maxsize=512)  # the same cells are asked for again and again
def statements(cell: str) -> list[Statement]:
    """Return a cell's statements, without `f = check(f)`; none of what is no Python."""
    try:
        code = to_python(cell)
        nodes = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found = []
    for node in nodes:
        if _is_check(getattr(node, "value", None)):
            continue
        text = ast.get_source_segment(code, node) or ""
        for each in reversed(getattr(node, "decorator_list", [])):
            if not _is_check(each):
                text = f"@{ast.unparse(each)}\n{text}"
        found.append(_statement(node, text))
    return found


def _statement(node: ast.stmt, text: str) -> Statement:
    """Return a statement with the names that it binds, changes, and looks up."""
    tables = [symtable.symtable(text, "cell", "exec")]
    top = tables[0].get_symbols()
    binds = {s.get_name() for s in top if s.is_assigned() or s.is_imported()}
    again, changes = set[str](), set[str]()  # again: the old value goes into the new
    if not isinstance(node, DEFINITIONS):
        added = [n.target for n in ast.walk(node) if isinstance(n, ast.AugAssign)]
        stored = [
            n for n in ast.walk(node) if isinstance(getattr(n, "ctx", 0), ast.Store)
        ]
        again = {getattr(n, "id", "") for n in added}
        again -= {getattr(n, "id", "") for n in stored if n not in added}
        changes = {*_changed(node)}
    if isinstance(node, ast.Assign):  # `X = X + 1`
        again |= {s.get_name() for s in top if s.is_assigned() and s.is_referenced()}
    uses = set[str]()
    for table in tables:  # it grows
        tables += table.get_children()
        for symbol in table.get_symbols():
            outside = symbol.is_global() or table.get_type() == "module"
            if outside and (symbol.is_referenced() or symbol.is_declared_global()):
                uses.add(symbol.get_name())
    return Statement(
        node, text, *map(frozenset, (binds - again, changes | again, uses))
    )


def _is_check(node: ast.AST | None) -> bool:
    node = node.func if isinstance(node, ast.Call) else node
    name = getattr(node, "attr", "") or getattr(node, "id", "")
    return name == "check"


def _defines(found: list[Statement], slug: str) -> bool:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return any(isinstance(e.node, kinds) and e.node.name == slug for e in found)


def _changed(node: ast.stmt) -> Iterator[str]:
    """Yield the names whose value a statement changes in place, in a loop as well."""
    for each in ast.walk(node):
        match each:
            case ast.Attribute(ctx=ast.Store() | ast.Del()):
                yield _root(each)
            case ast.Subscript(ctx=ast.Store() | ast.Del()):
                yield _root(each)
            case ast.Call(func=ast.Attribute(attr=name) as method) if name in CHANGING:
                yield _root(method)


def _root(node: ast.expr) -> str:
    """Return the name at the left of `TABLE["x"].rows`."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
