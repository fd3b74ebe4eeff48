"""Arithmetic as a tool: a list of what is allowed in place of one of what is not.

Python parses the text; of its tree only numbers, signs and operators have a value here.
Values are exact fractions until the end, and a size is checked before it is computed.
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import accumulate
from typing import Any

from workbook.runtime.calls import ToolFailure, clip
from workbook.runtime.tools import Tool
from workbook.worlds.catalogue import contract

MAX_LENGTH = 500  # characters of an expression
MAX_DEPTH = 100  # operations inside each other; `1 + 2 + … + 100` just fits
MAX_BRACKETS = 50  # brackets inside each other
MAX_EXPONENT = 1000
TOO_LARGE = 10**1000  # also in between, above and below a fraction's bar
NOT_ALLOWED = "is not allowed: write numbers, + - * / // % ** and brackets only"

OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
# Not ASCII, a comment, an exponent of four digits, or what Python's parser warns of on
# the screen, such as "1if 1else 2".
ODD = re.compile(
    r"[^ -~]|#|\\|[eE][+-]?[\d_]{4,}|\b\d[\w.]*?(?:and|else|for|i[fns]|not|or)"
)


class CalculatorError(ValueError):
    """An expression that is not calculated; the message names the part and why."""


def safe_eval(expression: str) -> int | float:
    """Return the value of an arithmetic expression; CalculatorError for other text."""
    if len(expression) > MAX_LENGTH:
        raise CalculatorError(f"more than {MAX_LENGTH} characters: calculate in steps")
    text = " ".join(expression.split())
    if odd := ODD.search(text):
        raise CalculatorError(f"{clip(odd[0], 60)} {NOT_ALLOWED}")
    if max(accumulate([0, *((c == "(") - (c == ")") for c in text)])) > MAX_BRACKETS:
        raise CalculatorError(f"more than {MAX_BRACKETS} brackets inside each other")
    try:
        exact = _value(ast.parse(text, mode="eval").body, text, MAX_DEPTH)
        shown = int(exact) if exact.denominator == 1 else float(exact)
    except SyntaxError:
        raise CalculatorError(f"{clip(text, 60)!r} is not an expression") from None
    except ZeroDivisionError:
        raise CalculatorError(f"{text} divides by zero") from None
    except (MemoryError, RecursionError, OverflowError):
        raise CalculatorError("the expression is too deep or too large") from None
    if shown == 0 != exact:
        raise CalculatorError("the result is too small to be shown")
    return shown


def _value(node: ast.expr, text: str, depth: int) -> Fraction:
    part = text[node.col_offset : node.end_col_offset]
    if depth == 0:
        raise CalculatorError(f"more than {MAX_DEPTH} operations inside each other")
    match node:
        case ast.Constant(value=number) if type(number) is int:  # not True
            return Fraction(number)
        case ast.Constant(value=float()):
            return Fraction(part.replace("_", ""))  # as it is written: 0.1 is a tenth
        case ast.UnaryOp(op=op, operand=a) if type(op) in OPERATORS:
            return Fraction(OPERATORS[type(op)](_value(a, text, depth - 1)))
        case ast.BinOp(left=a, op=op, right=b) if type(op) in OPERATORS:
            left, right = (_value(each, text, depth - 1) for each in (a, b))
            if is_power := isinstance(op, ast.Pow):
                if abs(right) > MAX_EXPONENT:
                    raise CalculatorError(f"an exponent is beyond {MAX_EXPONENT}")
                size = max(left.numerator.bit_length(), left.denominator.bit_length())
                if (size - 1) * abs(right) > TOO_LARGE.bit_length():
                    raise CalculatorError("a power has more than 1000 digits")
            result = OPERATORS[type(op)](left, right)
            if is_power and (isinstance(result, complex) or result == 0 != left):
                raise CalculatorError("a power has no real value that can be shown")
            result = Fraction(result)
            if max(abs(result.numerator), result.denominator) >= TOO_LARGE:
                raise CalculatorError(f"{clip(part, 60)} has more than 1000 digits")
            return result
    raise CalculatorError(f"{clip(part, 60)} {NOT_ALLOWED}")


def calculator(evaluate: Callable[[str], int | float] = safe_eval) -> Tool:
    """Return the calculator as a tool; its result is one number."""

    def run(expression: str) -> dict[str, Any]:
        try:
            return {"result": evaluate(expression)}
        except CalculatorError as error:
            hint = "Write one expression of numbers, + - * / // % ** and brackets."
            raise ToolFailure("bad_expression", f"{error}.", hint=hint) from None

    return contract("Calculator", run)


TOOLS = {"Calculator": lambda: [calculator()]}
