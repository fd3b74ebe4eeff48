"""A notebook's cell as plain Python, without calls to the course and to IPython."""

from __future__ import annotations

import ast

_COURSE_CALLS = {"check", "hint", "solution", "progress", "reset", "doctor"}


def to_python(source: str) -> str:
    """Return a cell with its magics turned into calls, as IPython does."""
    from IPython.core.inputtransformer2 import TransformerManager

    if source.startswith("%%"):  # %%time and the like: the code below is what counts
        source = source.partition("\n")[2]
    transformer = TransformerManager()  # type: ignore[no-untyped-call]
    return str(transformer.transform_cell(source))


def without_course_calls(source: str) -> ast.Module:
    """Return the code without the course's calls and without magics.

    `f = check(f)` and `check(f)` become `f`.

    Raises:
        SyntaxError: it is not Python.
    """
    tree = ast.parse(source)
    _Stripper().visit(tree)
    return ast.fix_missing_locations(tree)


class _Stripper(ast.NodeTransformer):
    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if _called(node.value) in _COURSE_CALLS or _is_magic(node.value):
            return ast.Pass()
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if _called(node) == "check" and node.args:
            return node.args[0]
        if _called(node) in _COURSE_CALLS or _is_magic(node):
            return ast.Constant(None)
        return self.generic_visit(node)


def _called(node: ast.AST) -> str | None:
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name
        case ast.Call(func=ast.Attribute(value=ast.Name(id="workbook"), attr=name)):
            return name
    return None


def _is_magic(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id=name)))):
            return name == "get_ipython"
    return False
