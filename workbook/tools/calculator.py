"""Arithmetic as a tool: a list of what is allowed instead of a list of what is not.

The text is parsed into Python's syntax tree and the tree is walked by hand: numbers,
six operators, signs and brackets have a branch, nothing else has. Values are exact
fractions until the end, and every size is looked at before it is computed.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from workbook.tools.calls import ToolFailure
from workbook.tools.tool import Tool

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


MAX_LENGTH = 500
"""Characters of an expression."""
MAX_DEPTH = 100
"""Operations inside each other; `1 + 2 + … + 100` just fits."""
MAX_BRACKETS = 50
"""Brackets inside each other."""
MAX_EXPONENT = 1000
MAX_DIGITS = 1000
"""Decimal digits of a result, also in between; above and below a fraction's bar."""

_MAX_BITS = int(MAX_DIGITS * math.log2(10)) + 1

Number = Fraction | float
"""Exact as long as possible; a root such as `2 ** 0.5` is a float."""

OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
SIGNS: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}


def safe_eval(expression: str) -> int | float:
    """Return the value of an arithmetic expression, or refuse it.

    Allowed are numbers, `+ - * / // % **`, signs and brackets, with Python's own
    precedence. Arithmetic is exact: `0.1 + 0.2` is 0.3, and a result that is whole is
    an int, of any size up to `MAX_DIGITS`. Only a root such as `2 ** 0.5` is a float,
    and so is what is calculated from it.

    Args:
        expression: at most `MAX_LENGTH` characters.

    Raises:
        CalculatorError: something else stands in it, it divides by zero, or it is too
            long, too deep or too large.

    >>> safe_eval("1234567 * 7654321")
    9449772114007
    >>> safe_eval("100 * 0.2")
    20
    >>> safe_eval("7 / 2")
    3.5
    """
    _check_length(expression)
    text = " ".join(expression.split())
    _check_text(text)
    try:
        tree = ast.parse(text, mode="eval")
        value = _value(tree.body, text, MAX_DEPTH)
        return _shown(value)
    except CalculatorError:
        raise
    except SyntaxError as error:
        raise CalculatorError(unreadable(text, error)) from None
    except ZeroDivisionError:
        raise CalculatorError(f"{text} divides by zero") from None
    except OverflowError:
        raise CalculatorError("a result in between is too large for a float") from None
    except (MemoryError, RecursionError, ValueError):
        raise CalculatorError("the expression is too deep or too long") from None


def _value(node: ast.expr, text: str, depth: int) -> Number:
    """Return the value of one node: the whitelist."""
    part = text[node.col_offset : node.end_col_offset]
    if depth == 0:
        raise CalculatorError(
            f"more than {MAX_DEPTH} operations inside each other: calculate in steps"
        )
    match node:
        # `type` and not `isinstance`: True is an int, and True + 1 is no arithmetic.
        case ast.Constant(value=number) if type(number) in (int, float):
            return _literal(part, number)
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in SIGNS:
            return _checked(SIGNS[type(sign)](_value(operand, text, depth - 1)), part)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            a, b = _value(left, text, depth - 1), _value(right, text, depth - 1)
            if isinstance(op, ast.Pow):
                return _checked(_power(a, b, part), part)
            return _checked(OPERATORS[type(op)](a, b), part)
    raise CalculatorError(f"{what(node)} is not allowed: {cut(part)}{instead_of(node)}")


def _literal(part: str, number: Any) -> Number:
    if isinstance(number, int):
        return _checked(Fraction(number), part)
    mantissa = part.lower().partition("e")[0]
    if math.isinf(number) or (number == 0 and mantissa.strip("0._")):
        raise CalculatorError(f"{cut(part)} is too large or too small")
    if number == 0:
        return Fraction(0)  # "0e999999999" would have Fraction compute 10**999999999
    return Fraction(part.replace("_", ""))  # the digits as written, 0.1 is a tenth


def _power(base: Number, exponent: Number, part: str) -> Number:
    """Return base ** exponent, looking at the size before computing it."""
    if not -MAX_EXPONENT <= exponent <= MAX_EXPONENT:
        raise CalculatorError(
            f"the exponent in {cut(part)} is above {MAX_EXPONENT}: the limit"
        )
    if isinstance(base, Fraction) and exponent == int(exponent):
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if (bits - 1) * abs(int(exponent)) > _MAX_BITS:
            raise CalculatorError(_too_large(part))
        exact: Fraction = base ** int(exponent)
        return exact
    power = float(base) ** float(exponent)
    if isinstance(power, complex):
        raise CalculatorError(f"{cut(part)} is the root of a negative number")
    return float(power)


def _checked(value: Any, part: str) -> Number:
    """Return a result in between when it is a number of a size that is allowed."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise CalculatorError(_too_large(part))
        return value
    exact = Fraction(value)
    bits = max(exact.numerator.bit_length(), exact.denominator.bit_length())
    if bits > _MAX_BITS:
        raise CalculatorError(_too_large(part))
    return exact


def _shown(value: Number) -> int | float:
    if value == int(value) and isinstance(value, Fraction):
        return int(value)
    shown = float(value)
    if shown == 0 and value != 0:
        raise CalculatorError("the result is too small to be shown")
    return shown


def _check_length(expression: str) -> None:
    if len(expression) > MAX_LENGTH:
        raise CalculatorError(
            f"the expression has {len(expression)} characters; the limit is "
            f"{MAX_LENGTH}"
        )


def _check_text(text: str) -> None:
    """Refuse what the parser should not even see, or would pass over: a comment."""
    if not text:
        raise CalculatorError("the expression is empty")
    for character in text:
        if not character.isascii() or not character.isprintable() or character == "#":
            instead = TYPED.get(character, "plain digits and + - * / // % ** ( )")
            raise CalculatorError(
                f"the character {character!r} is not allowed: write {instead}"
            )
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if depth > MAX_BRACKETS:
            raise CalculatorError(
                f"more than {MAX_BRACKETS} brackets inside each other"
            )


def _too_large(part: str) -> str:
    return f"the result of {cut(part)} has more than {MAX_DIGITS} digits"


DESCRIPTION = """\
Calculates one arithmetic expression exactly: numbers, + - * / // % ** and brackets.
No names, functions, units or percent signs. One expression a call.
Right: 100*0.2  Wrong: 20% of 100"""


def calculator(name: str = "Calculator") -> Tool:
    """Return the calculator as a tool; its result is one number."""

    def run(expression: str) -> dict[str, Any]:
        try:
            return {"result": safe_eval(expression)}
        except CalculatorError as error:
            raise ToolFailure(
                "bad_expression",
                f"{error}.",
                hint="Write one expression of numbers, + - * / // % ** and brackets.",
            ) from None

    return Tool(
        name=name,
        description=DESCRIPTION,
        parameters={
            "type": "object",
            "properties": {
                "expression": {
                    "type": "string",
                    "description": "an arithmetic expression, for example 100*0.2",
                    "minLength": 1,
                }
            },
            "required": ["expression"],
        },
        run=run,
        timeout_s=None,  # its limits keep it under milliseconds
        aliases={"expr": "expression", "query": "expression", "equation": "expression"},
    )


TOOLS = {"Calculator": calculator}
