"""Arithmetic as a tool: a list of what is allowed in place of one of what is not.

Python parses the text; of its tree only numbers, signs and operators have a value here.
Values are exact fractions until the end, and a size is checked before it is computed.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import accumulate
from typing import Any

from .calls import ToolFailure, clip
from .tools import Tool

MAX_LENGTH = 500  # characters of an expression
MAX_DEPTH = 100  # operations inside each other; `1 + 2 + … + 100` just fits
MAX_BRACKETS = 50  # brackets inside each other
MAX_EXPONENT = 1000
MAX_DIGITS = 1000  # of a result, also in between; above and below a fraction's bar
TOO_LARGE = 10**MAX_DIGITS

OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
SLIPS = {  # what people and models write by mistake; the first that is found counts
    r"[×✕·]": "write *",
    r"÷": "write /",
    r"[−–]": "write -",
    r"²": "write **2",
    r"[€£¥$]": "leave out the currency",
    r"=": "leave out the =",
    r"%\s*(?![\d(. +-])": "% is the remainder: for 20 percent write 20/100",
    r"!": "for a factorial write the product: 1*2*3 for 3!",
    r"\d \d": "write 1000 for 1 000, and a sign between two numbers",
    r"(?<![\d.,])0\d": "write 7 for 007",
    r"\d,\d": "write 1000 for 1,000, and one value at a time",
    r"\(\s*\)": "write a number between the brackets",
    r"\^": "write ** for a power",
    r"[\d)] ?\(": "write * between a number and a bracket",
}
# Not ASCII, a comment, or what Python's parser warns of on the screen: "1if 1else 2".
ODD = re.compile(r"[^ -~]|#|\\|\b\d[\w.]*?(?:and|else|for|i[fns]|not|or)")


class CalculatorError(ValueError):
    """An expression that is not calculated; the message names the part and why."""


def safe_eval(expression: str) -> int | float:
    """Return the value of an arithmetic expression; CalculatorError for other text."""
    if len(expression) > MAX_LENGTH:
        raise CalculatorError(f"more than {MAX_LENGTH} characters: calculate in steps")
    text = " ".join(expression.split())
    if not text:
        raise CalculatorError("the expression is empty")
    if odd := ODD.search(text):
        raise CalculatorError(f"{clip(odd[0], 60)!r} is not allowed: {_advice(odd[0])}")
    if max(accumulate((c in "([{") - (c in ")]}") for c in text)) > MAX_BRACKETS:
        raise CalculatorError(f"more than {MAX_BRACKETS} brackets inside each other")
    try:
        return _shown(_value(ast.parse(text, mode="eval").body, text, MAX_DEPTH))
    except SyntaxError:
        reason = f"{clip(text, 60)!r} is not an expression: {_advice(text)}"
        raise CalculatorError(reason) from None
    except ZeroDivisionError:
        raise CalculatorError(f"{text} divides by zero") from None
    except (MemoryError, RecursionError, OverflowError):
        raise CalculatorError("the expression is too deep or too large") from None


def _value(node: ast.expr, text: str, depth: int) -> Fraction | float:
    """Return the value of a node: a fraction, or a float that comes of a root."""
    part = text[node.col_offset : node.end_col_offset]
    if depth == 0:
        raise CalculatorError(f"more than {MAX_DEPTH} operations inside each other")
    value: Any = None
    match node:
        case ast.Constant(value=number) if type(number) in (int, float):  # not True
            value = _literal(part, number)
        case ast.UnaryOp(op=op, operand=a) if type(op) in OPERATORS:
            value = OPERATORS[type(op)](_value(a, text, depth - 1))
        case ast.BinOp(left=a, op=op, right=b):
            left, right = (_value(each, text, depth - 1) for each in (a, b))
            if isinstance(op, ast.Pow):
                value = _power(left, right, part)
            elif type(op) in OPERATORS:
                value = OPERATORS[type(op)](left, right)
    if value is None:
        raise CalculatorError(f"{clip(part, 60)} is not allowed: {_advice(part)}")
    if isinstance(value, float):
        return value if math.isfinite(value) else _too_large(part)
    is_large = max(abs(value.numerator), value.denominator) >= TOO_LARGE
    return _too_large(part) if is_large else Fraction(value)


def _literal(part: str, number: Any) -> Fraction:
    """Return a number as it is written: 0.1 is a tenth."""
    if isinstance(number, int):
        return Fraction(number)
    if number == 0 and not part.lower().partition("e")[0].strip("0._"):
        return Fraction(0)  # of "0e999999999", Fraction computes 10**999999999
    if number == 0 or math.isinf(number):
        raise CalculatorError(f"{clip(part, 60)} is too large or too small")
    return Fraction(part.replace("_", ""))


def _power(base: Fraction | float, exponent: Fraction | float, part: str) -> Any:
    if not -MAX_EXPONENT <= exponent <= MAX_EXPONENT:
        shown = clip(part, 60)
        raise CalculatorError(f"the exponent in {shown} is above {MAX_EXPONENT}")
    if isinstance(base, Fraction) and exponent == int(exponent):
        size = max(base.numerator.bit_length(), base.denominator.bit_length())
        is_large = (size - 1) * abs(int(exponent)) > TOO_LARGE.bit_length()
        return _too_large(part) if is_large else base ** int(exponent)
    power: float | complex = float(base) ** float(exponent)
    if isinstance(power, complex):
        raise CalculatorError(f"{clip(part, 60)} is the root of a negative number")
    if power == 0 and base != 0:
        raise CalculatorError(f"{clip(part, 60)} is too small to be shown")
    return power


def _shown(value: Fraction | float) -> int | float:
    if isinstance(value, Fraction) and value.denominator == 1:
        return int(value)
    shown = float(value)
    if shown == 0 and value != 0:
        raise CalculatorError("the result is too small to be shown")
    return shown


def _too_large(part: str) -> Any:
    raise CalculatorError(f"{clip(part, 60)} has more than {MAX_DIGITS} digits")


def _advice(part: str) -> str:
    fits = (write for slip, write in SLIPS.items() if re.search(slip, part))
    return next(fits, "write numbers, + - * / // % ** and brackets only")


def calculator(evaluate: Callable[[str], int | float] = safe_eval) -> Tool:
    """Return the calculator as a tool; its result is one number."""

    def run(expression: str) -> dict[str, Any]:
        try:
            return {"result": evaluate(expression)}
        except CalculatorError as error:
            hint = "Write one expression of numbers, + - * / // % ** and brackets."
            raise ToolFailure("bad_expression", f"{error}.", hint=hint) from None

    example = "an arithmetic expression, for example 100*0.2"
    text = {"type": "string", "description": example, "minLength": 1}
    return Tool(
        name="Calculator",
        description="Calculates one arithmetic expression exactly: numbers, + - * / "
        "// % ** and brackets.\nNo names, functions, units or percent signs. One "
        "expression a call.\nRight: 100*0.2  Wrong: 20% of 100",
        parameters={"properties": {"expression": text}, "required": ["expression"]},
        run=run,
        timeout_s=None,  # its limits keep it under milliseconds
        outside=False,
        aliases=dict.fromkeys(["expr", "query", "equation"], "expression"),
    )


def percent_tool() -> Tool:
    """Return a tool that changes an amount by a percentage, exactly."""

    def run(amount: float, percent: float) -> dict[str, Any]:
        share = 1 + Fraction(str(percent)) / 100
        return {"result": _shown(Fraction(str(amount)) * share)}

    limits = {"type": "number", "minimum": -100, "maximum": 1000}
    properties = {"amount": {"type": "number"}, "percent": limits}
    return Tool(
        name="Percent",
        description="Changes an amount by a percentage from -100 to 1000 %: -20 takes "
        "20 % off. One change a call.\n"
        'Right: {"amount": 80, "percent": 10}  Wrong: {"amount": "80 + 10%"}',
        parameters={"properties": properties, "required": [*properties]},
        run=run,
        timeout_s=1.0,
        outside=False,
    )


TOOLS = {"Calculator": calculator, "Percent": percent_tool}
