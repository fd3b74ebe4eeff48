"""An answer: a learner's function as a text, with what it needs of other cells.

This one text is checked, kept, collected, exported and graded.
"""

import ast
import builtins
import inspect
import linecache
import re
import symtable
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from workbook.checks.catalogue import CourseError, exercises
from workbook.checks.display import notebook

CHANGING = {  # methods that change what they belong to
    "add", "append", "appendleft", "clear", "discard", "extend", "extendleft", "insert",
    "pop", "popitem", "popleft", "register", "remove", "reverse", "setdefault", "sort",
    "update",
}  # fmt: skip
RUN_HERE = {"time", "capture", "prun"}  # cell magics that run their cell in the kernel
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
DEFINITIONS = FUNCTIONS | ast.ClassDef
IMPORTS = ast.Import | ast.ImportFrom
PART_IMPORT = "from workbook.checks.parts import part"


class Statement(NamedTuple):
    """A statement at the top of a cell, and the names that it has to do with."""

    node: ast.stmt
    text: str
    binds: frozenset[str]  # defines, assigns or imports
    changes: frozenset[str]  # changes the value of: `TABLE.append(row)`
    uses: frozenset[str]  # looks up, in functions as well

    def defines(self, name: str) -> bool:
        """Whether it is the function of that name."""
        return isinstance(self.node, FUNCTIONS) and self.node.name == name


def cells_of(function: Callable[..., Any]) -> list[str]:
    """Return the cells that were run, the one that defines the function at the end.

    CourseError: it has no source, or uses variables of a function around it.
    """
    function = inspect.unwrap(function)
    name, code = function.__name__, getattr(function, "__code__", None)
    if code and code.co_freevars:
        raise CourseError(
            f"{name} uses variables of the function around it"
            f" ({', '.join(code.co_freevars)}), and these cannot be saved as text."
            f" Write `def {name}` at the left margin of a cell, with all that it needs"
            " in the same cell."
        )
    shell = notebook()
    is_here = shell and getattr(function, "__globals__", None) is shell.user_ns
    cells = list(shell.history_manager.input_hist_raw) if is_here else []
    cells.append("".join(linecache.getlines(getattr(code, "co_filename", ""))))
    if not any(each.defines(name) for cell in cells for each in statements(cell)):
        raise CourseError(
            f"{name} has no source that could be read. Write `def {name}` in a cell,"
            " and the check below it."
        )
    return cells


def answer_in(cells: Sequence[str], slug: str) -> str:
    """Return a module's text: the last `def slug`, below what it needs of all cells.

    Another exercise that its own cell does not define is a part of the learner's agent.
    LookupError: no cell defines it. CourseError: the one that does is no Python.
    """
    place = _home(cells, slug)
    home, earlier = statements(cells[place]), [*map(statements, cells[:place])]
    before = [statement for cell in earlier for statement in cell]
    needed, parts, names, known = set[Statement](), set[str](), [slug], dir(builtins)
    for name in names:  # it grows
        if name in known and name != slug:
            continue
        own = [s for s in home if name in s.binds | s.changes]
        if not any(name in s.binds for s in own):  # it has its value from before
            bound = [n for n, s in enumerate(before) if name in s.binds]
            if name in exercises():
                parts.add(name)
            elif bound:
                later = before[bound[-1] :]
                own += [later[0], *(s for s in later if name in s.changes)]
        if not all(isinstance(s.node, DEFINITIONS | IMPORTS) for s in own):
            calls = [s for s in home if isinstance(s.node, ast.Expr)]
            own += [s for s in calls if name in s.uses and slug not in s.uses]
        needed.update(own)
        names += [used for s in own for used in s.uses if used not in names]
    imports, rest = list[str](), list[str]()
    for each in dict.fromkeys([*before, *home]):
        if not isinstance(each.node, IMPORTS):
            rest += [each.text] if each in needed else []
        elif each in needed or not each.binds or "__future__" in each.text:
            imports.append(each.text)
    imports += [PART_IMPORT] if parts else []
    imports += [f'{name} = part("{name}")' for name in sorted(parts)]
    imports = sorted(dict.fromkeys(imports), key=lambda line: "__future__" not in line)
    return "\n\n\n".join(["\n".join(imports), *rest]).strip() + "\n"


def _home(cells: Sequence[str], slug: str) -> int:
    """Return the place of the last cell that defines an answer."""
    for place, cell in reversed([*enumerate(cells)]):
        found = statements(cell)
        if any(each.defines(slug) for each in found):
            return place
        if found or not re.search(rf"^\s*def {slug}\b", cell, re.M):
            continue
        try:
            ast.parse(to_python(cell))
        except (SyntaxError, ValueError) as error:
            line, at = getattr(error, "text", None) or "", getattr(error, "lineno", 0)
            blank = cell[: -len(cell.lstrip())].count("\n")  # which IPython drops
            where = f" in line {at + blank} of its cell: {line.strip()}" if at else ""
            why = f"{type(error).__name__}: {getattr(error, 'msg', error)}"
            raise CourseError(f"{slug} cannot be read, {why}{where}") from None
    raise LookupError(f"no cell defines {slug}")


def as_module(slug: str, text: str, file: str) -> Callable[..., Any]:
    """Run the text of an answer as a module, and return its function."""
    module = types.ModuleType(f"your_agent.{slug}")
    sys.modules[module.__name__] = module  # dataclasses look there
    if Path(file).exists():
        linecache.checkcache(file)
    else:
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), module.__dict__)
    function: Callable[..., Any] = getattr(module, slug)
    if not callable(function):  # a decorator has made something else of it
        raise TypeError(f"{slug} is a {type(function).__name__}, and not a function")
    return function


def to_python(cell: str) -> str:
    """Return a cell as IPython runs it; nothing of a cell that runs elsewhere."""
    from IPython.core.inputtransformer2 import TransformerManager

    code = str(TransformerManager().transform_cell(cell))  # type: ignore[no-untyped-call]
    if not code.startswith("get_ipython().run_cell_magic("):
        return code
    match ast.parse(code).body:
        case [ast.Expr(value=ast.Call(args=[name, _, body]))]:
            here = ast.literal_eval(name) in RUN_HERE
            return to_python(ast.literal_eval(body)) if here else ""
    return ""


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
        tables = [symtable.symtable(text, "cell", "exec")]
        top, uses = tables[0].get_symbols(), set[str]()
        binds = {s.get_name() for s in top if s.is_assigned() or s.is_imported()}
        changes = set[str]() if isinstance(node, DEFINITIONS) else {*_changed(node)}
        if isinstance(node, ast.Assign):  # `X = X + 1`: the old value is in the new one
            both = [s for s in top if s.is_assigned() and s.is_referenced()]
            changes |= {symbol.get_name() for symbol in both}
        for table in tables:  # it grows
            tables += table.get_children()
            for symbol in table.get_symbols():
                outside = symbol.is_global() or table.get_type() == "module"
                if outside and (symbol.is_referenced() or symbol.is_declared_global()):
                    uses.add(symbol.get_name())
        found.append(
            Statement(node, text, *map(frozenset, (binds - changes, changes, uses)))
        )
    return found


def _is_check(node: ast.AST | None) -> bool:
    node = node.func if isinstance(node, ast.Call) else node
    return "check" in (getattr(node, "attr", ""), getattr(node, "id", ""))


def _changed(node: ast.stmt) -> Iterator[str]:
    """Yield the names whose value a statement changes: of `T["x"].pop()` it is T."""
    for each in ast.walk(node):
        changed: ast.AST | None = None
        if isinstance(each, ast.AugAssign):
            changed = each.target
        elif isinstance(each, ast.Call) and getattr(each.func, "attr", "") in CHANGING:
            changed = each.func
        elif isinstance(each, ast.Attribute | ast.Subscript):
            changed = None if isinstance(each.ctx, ast.Load) else each
        while isinstance(changed, ast.Attribute | ast.Subscript):
            changed = changed.value
        if isinstance(changed, ast.Name):
            yield changed.id
