"""How the calculator says no: which part it is, and what to write instead.

The message is read by a model that will try again, so each one names the part. What is
allowed is decided elsewhere.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

TYPED = {"×": "*", "✕": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "²": "**2"}
TYPED |= dict.fromkeys("€£¥", "the number without its currency")
"""What people type, and what to write instead."""


class CalculatorError(ValueError):
    """An expression that is not calculated; the message names the part and why."""


def unreadable(text: str, error: SyntaxError) -> str:
    hint = ""
    if "=" in text:
        hint = "; leave out the ="
    elif "%" in text:
        hint = "; % is the remainder: for 20 percent write 20/100"
    elif "$" in text:
        hint = "; leave out the currency"
    elif "!" in text:
        hint = "; for a factorial write the product: 1*2*3 for 3!"
    elif re.search(r"\d \d", text):
        hint = "; write 1000 for 1 000, and a sign between two numbers"
    elif re.search(r"(?<![\d.])0\d", text):
        hint = "; write 7 for 007"
    at = (error.offset or 1) - 1
    where = f", it goes wrong at {cut(text[at:])!r}" if 0 < at < len(text) else ""
    return f"{cut(text)!r} is not an expression{where}{hint}"


_NAMES: Mapping[type[ast.expr], str] = {
    ast.Name: "a name",
    ast.Attribute: "an attribute",
    ast.Call: "a call",
    ast.Tuple: "a comma",
    ast.Subscript: "an index",
    ast.Lambda: "a function",
    ast.IfExp: "a condition",
    ast.Compare: "a comparison",
    ast.BoolOp: "and/or",
    ast.JoinedStr: "text",
    ast.List: "a list",
    ast.Dict: "a dictionary",
    ast.Set: "a set",
    ast.NamedExpr: "an assignment",
    ast.ListComp: "a comprehension",
    ast.SetComp: "a comprehension",
    ast.DictComp: "a comprehension",
    ast.GeneratorExp: "a comprehension",
    ast.Await: "await",
}
_SIGNS_OF: Mapping[type[ast.AST], str] = {
    ast.BitXor: "^",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.MatMult: "@",
    ast.Invert: "~",
    ast.Not: "not",
}


def what(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        value = node.value
        kinds = {
            str: "text",
            bytes: "text",
            bool: "a truth value",
            complex: "a complex number",
        }
        return kinds.get(type(value), repr(value))
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        return f"the operator {_SIGNS_OF[type(node.op)]}"
    if isinstance(node, ast.Tuple) and not node.elts:
        return "a pair of empty brackets"
    return _NAMES.get(type(node), type(node).__name__)


def instead_of(node: ast.expr) -> str:
    if isinstance(node, ast.Tuple) and not node.elts:
        return "; write a number between the brackets"
    if isinstance(node, ast.Tuple):
        return "; write 1000 for 1,000, and calculate one value at a time"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitXor):
        return "; write ** for a power"
    if isinstance(node, ast.Call) and isinstance(
        node.func, (ast.Constant, ast.BinOp, ast.UnaryOp)
    ):
        return "; write * between a number and a bracket"
    if isinstance(node, ast.Call):
        return "; only + - * / // % ** and brackets"
    return ""


def cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"
