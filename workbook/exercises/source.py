"""Cells of a notebook as text: without what only runs them, and with what a function
needs of the others.
"""

import ast
import builtins
import symtable
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

COURSE_CALLS = {
    "check", "hint", "solution", "progress", "reset", "doctor", "predict", "your_agent",
}  # fmt: skip


class Statement(NamedTuple):
    """One statement at the top of a cell, and the names that it binds."""

    cell: int
    node: ast.stmt
    text: str
    binds: frozenset[str]


@lru_cache(maxsize=512)  # the same cells are asked for again and again
def to_python(source: str) -> str:
    """Return a cell with its magics turned into calls, as IPython does."""
    from IPython.core.inputtransformer2 import TransformerManager

    if source.startswith("%%"):  # %%time and the like: the code below is what counts
        source = source.partition("\n")[2]
    return str(TransformerManager().transform_cell(source))  # type: ignore[no-untyped-call]


def without_course_calls(source: str) -> ast.Module:
    """Return the code without magics, `@check` and `hint(f)`; of `check(f)`, `f`."""
    tree = ast.parse(source)
    _Stripper().visit(tree)
    return ast.fix_missing_locations(tree)


class _Stripper(ast.NodeTransformer):
    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.decorator_list = [d for d in node.decorator_list if not _is_check(d)]
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if _is_check(node.func) and node.args:
            return node.args[0]
        called = ast.unparse(node.func).removeprefix("workbook.")
        if called in COURSE_CALLS or called.startswith("get_ipython()."):
            return ast.Constant(None)
        return self.generic_visit(node)


def _is_check(node: ast.expr) -> bool:
    return ast.unparse(node) in ("check", "workbook.check")


def self_contained(cells: Sequence[str], slug: str, others: Iterable[str]) -> str:
    """Return a module's text: the last `def slug` and all that it needs of the cells.

    Of several statements that bind a name the last one counts, up to the cell of the
    `def`. A name of `others` that its own cell does not define becomes a part: the
    text asks for it by name. LookupError where no cell defines the function.
    """
    statements = [s for n, cell in enumerate(cells) for s in _statements(n, cell)]
    function = ast.FunctionDef | ast.AsyncFunctionDef
    own = [s for s in statements if slug in s.binds and isinstance(s.node, function)]
    if not own:
        raise LookupError(f"no cell defines {slug}")
    statements = statements[: statements.index(own[-1]) + 1] + [
        s for s in statements if s.cell == own[-1].cell and s not in own
    ]
    needed, parts, names = [own[-1]], set(), [*names_used(own[-1].text)]
    for name in names:  # it grows
        found = [s for s in statements if name in s.binds and s not in needed]
        if any(name in s.binds for s in needed) or hasattr(builtins, name):
            continue
        if name in others and not (found and found[-1].cell == own[-1].cell):
            parts.add(name)
        elif found:
            needed.append(found[-1])
            names += names_used(found[-1].text)
    needed += [s for s in statements if "*" in s.binds]
    needed = [s for s in dict.fromkeys(statements) if s in needed]
    imports = [
        s.text for s in needed if isinstance(s.node, ast.Import | ast.ImportFrom)
    ]
    if parts:
        imports.append("from workbook.exercises.your_agent import part")
        imports += [f'{name} = part("{name}")' for name in sorted(parts)]
    imports.sort(key=lambda text: "__future__" not in text)
    rest = [s.text for s in needed if s.text not in imports]
    return "\n\n\n".join(["\n".join(imports), *rest]).strip() + "\n"


@lru_cache(maxsize=512)
def _statements(number: int, cell: str) -> list[Statement]:
    """Return the statements of a cell; none of one that Python cannot read."""
    try:
        source = to_python(cell)
        nodes = ast.parse(source).body
    except (SyntaxError, ValueError):
        return []
    lines, found = source.splitlines(), []
    for node in nodes:
        if isinstance(node, ast.Expr):  # a call for its effect, a docstring
            continue
        text = "\n".join(lines[node.lineno - 1 : node.end_lineno])
        for decorator in reversed(getattr(node, "decorator_list", [])):
            if not _is_check(decorator):
                text = f"@{ast.unparse(decorator)}\n{text}"
        binds = frozenset(names_bound(node))
        value = getattr(without_course_calls(text).body[0], "value", None)
        if isinstance(value, ast.Name) and binds == {value.id}:
            continue  # name = check(name)
        found.append(Statement(number, node, text, binds))
    return found


def names_bound(node: ast.stmt) -> set[str]:
    """Return the names that a statement binds at the top of its cell."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(a.asname or a.name).partition(".")[0] for a in node.names}
    table = symtable.symtable(ast.unparse(node), "cell", "exec")
    return {
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
    }


def names_used(text: str) -> list[str]:
    """Return the names that a statement looks up at the top of its module."""
    names, tables = [], [symtable.symtable(text, "cell", "exec")]
    for table in tables:  # it grows
        tables += table.get_children()
        for symbol in table.get_symbols():
            outside = symbol.is_global() or table.get_type() == "module"
            if outside and symbol.is_referenced():
                names.append(symbol.get_name())
    return names
