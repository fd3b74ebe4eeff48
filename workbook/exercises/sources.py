"""The source of a function with the private helpers that it needs.

What `solution` shows can be pasted into a cell: the helpers whose names begin with an
underscore come along; everything public can be imported from the module.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any


def source_with_helpers(function: Callable[..., Any]) -> str:
    """Return a function's source, after that of its module's private helpers.

    Helpers stand in the order of the file, those of helpers with them.
    """
    function = inspect.unwrap(function)
    module = inspect.getmodule(function)
    if module is None:
        return inspect.getsource(function)
    source = inspect.getsource(module)
    nodes = _by_name(ast.parse(source))
    needed, waiting = {function.__name__}, [function.__name__]
    while waiting:
        for name in _names_in(nodes[waiting.pop()]):
            if name.startswith("_") and name in nodes and name not in needed:
                needed.add(name)
                waiting.append(name)
    lines = source.splitlines()
    chosen = {id(nodes[name]): nodes[name] for name in needed}.values()
    parts = [
        "\n".join(lines[_first_line(node) - 1 : node.end_lineno])
        for node in sorted(chosen, key=lambda node: node.lineno)
        if node is not nodes[function.__name__]
    ]
    return "\n\n\n".join([*parts, inspect.getsource(function)])


def _by_name(module: ast.Module) -> dict[str, ast.stmt]:
    """Return what a module defines at its top level, by name."""
    found: dict[str, ast.stmt] = {}
    for node in module.body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found[name] = node
            case ast.Assign(targets=targets):
                found |= {t.id: node for t in targets if isinstance(t, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                found[name] = node
    return found


def _names_in(node: ast.stmt) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _first_line(node: ast.stmt) -> int:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return min([node.lineno, *(part.lineno for part in node.decorator_list)])
    return node.lineno
