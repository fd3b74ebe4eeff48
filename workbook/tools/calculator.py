"""Arithmetic as a tool: a list of what is allowed instead of a list of what is not.

The text is parsed into Python's syntax tree and the tree is walked by hand: numbers,
six operators, signs and brackets have a branch, nothing else has. Values are exact
fractions until the end, and every size is looked at before it is computed.
"""

import ast
import math
import operator
import re
import tomllib
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import accumulate
from typing import Any

from workbook.models.prompts import clip
from workbook.paths import DATA
from workbook.tools.calls import ToolFailure
from workbook.tools.tool import Tool


class CalculatorError(ValueError):
    """An expression that is not calculated; the message names the part and why."""


MAX_LENGTH = 500  # characters of an expression
MAX_DEPTH = 100  # operations inside each other; `1 + 2 + … + 100` just fits
MAX_BRACKETS = 50  # brackets inside each other
MAX_EXPONENT = 1000
MAX_DIGITS = 1000  # of a result, also in between; above and below a fraction's bar
_TOO_LARGE = 10**MAX_DIGITS

SLIPS = tomllib.loads((DATA / "calculator_slips.toml").read_text(encoding="utf-8"))

Number = Fraction | float  # exact as long as possible; a root is a float

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


def safe_eval(expression: str) -> int | float:
    """Return the value of an arithmetic expression, or refuse it.

    Allowed are numbers, `+ - * / // % **`, signs and brackets, with Python's own
    precedence. Arithmetic is exact: `0.1 + 0.2` is 0.3, and a result that is whole is
    an int, of any size up to `MAX_DIGITS`. Only what comes of a root such as
    `2 ** 0.5` is a float. CalculatorError where something else stands in it, it divides
    by zero, or it is too long, too deep or too large.

    >>> safe_eval("1234567 * 7654321")
    9449772114007
    >>> safe_eval("7 / 2")
    3.5
    """
    text = _checked_text(expression)
    try:
        return _shown(_value(ast.parse(text, mode="eval").body, text, MAX_DEPTH))
    except CalculatorError:
        raise
    except SyntaxError:
        reason = f"{clip(text, 60)!r} is not an expression: {_advice(text)}"
        raise CalculatorError(reason) from None
    except ZeroDivisionError:
        raise CalculatorError(f"{text} divides by zero") from None
    except (MemoryError, RecursionError, OverflowError, ValueError):
        raise CalculatorError("the expression is too deep or too large") from None


def _value(node: ast.expr, text: str, depth: int) -> Number:
    """Return the value of one node: the whitelist."""
    part = text[node.col_offset : node.end_col_offset]
    if depth == 0:
        raise CalculatorError(f"more than {MAX_DEPTH} operations inside each other")
    match node:
        # `type` and not `isinstance`: True is an int, and True + 1 is no arithmetic.
        case ast.Constant(value=number) if type(number) in (int, float):
            return _literal(part, number)
        case ast.UnaryOp(op=op, operand=a) if type(op) in OPERATORS:
            return _checked(OPERATORS[type(op)](_value(a, text, depth - 1)), part)
        case ast.BinOp(left=a, op=op, right=b):
            left, right = _value(a, text, depth - 1), _value(b, text, depth - 1)
            if isinstance(op, ast.Pow):
                return _checked(_power(left, right, part), part)
            if type(op) in OPERATORS:
                return _checked(OPERATORS[type(op)](left, right), part)
    raise CalculatorError(f"{clip(part, 60)} is not allowed: {_advice(part)}")


def _literal(part: str, number: Any) -> Number:
    if isinstance(number, int):
        return _checked(Fraction(number), part)
    mantissa = part.lower().partition("e")[0]
    if number == 0 and not mantissa.strip("0._"):
        return Fraction(0)  # "0e999999999" would have Fraction compute 10**999999999
    if number == 0 or math.isinf(number):
        raise CalculatorError(f"{clip(part, 60)} is too large or too small")
    return Fraction(part.replace("_", ""))  # the digits as written, 0.1 is a tenth


def _power(base: Number, exponent: Number, part: str) -> Number:
    """Return base ** exponent, looking at the size before computing it."""
    shown = clip(part, 60)
    if not -MAX_EXPONENT <= exponent <= MAX_EXPONENT:
        raise CalculatorError(f"the exponent in {shown} is above {MAX_EXPONENT}")
    if isinstance(base, Fraction) and exponent == int(exponent):
        size = max(base.numerator.bit_length(), base.denominator.bit_length())
        if (size - 1) * abs(int(exponent)) > _TOO_LARGE.bit_length():
            raise _too_large(part)
        return Fraction(base ** int(exponent))
    power: float | complex = float(base) ** float(exponent)
    if isinstance(power, complex):
        raise CalculatorError(f"{shown} is the root of a negative number")
    if power == 0 and base != 0:
        raise CalculatorError(f"{shown} is too small to be shown")
    return power


def _checked(value: Any, part: str) -> Number:
    """Return a result in between when it is a number of a size that is allowed."""
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, float):
        raise _too_large(part)
    exact = Fraction(value)
    if max(abs(exact.numerator), exact.denominator) >= _TOO_LARGE:
        raise _too_large(part)
    return exact


def _shown(value: Number) -> int | float:
    if value == int(value) and isinstance(value, Fraction):
        return int(value)
    shown = float(value)
    if shown == 0 and value != 0:
        raise CalculatorError("the result is too small to be shown")
    return shown


def _advice(part: str) -> str:
    fits = (write for slip, write in SLIPS.items() if re.search(slip, part))
    return next(fits, "write numbers, + - * / // % ** and brackets only")


def _checked_text(expression: str) -> str:
    """Refuse what the parser should not even see, or would pass over: a comment."""
    if len(expression) > MAX_LENGTH:
        raise CalculatorError(f"more than {MAX_LENGTH} characters: calculate in steps")
    text = " ".join(expression.split())
    if not text:
        raise CalculatorError("the expression is empty")
    # The parser warns of "1if 1else 2", on the screen of whoever runs the agent.
    warned = r"\\|\b\d[\w.]*?(?:and|else|for|i[fns]|not|or)"
    if odd := re.search(rf"[^ -~]|#|{warned}", text):
        raise CalculatorError(f"{clip(odd[0], 60)!r} is not allowed: {_advice(odd[0])}")
    if max(accumulate((c in "([{") - (c in ")]}") for c in text)) > MAX_BRACKETS:
        raise CalculatorError(f"more than {MAX_BRACKETS} brackets inside each other")
    return text


def _too_large(part: str) -> CalculatorError:
    return CalculatorError(f"{clip(part, 60)} has more than {MAX_DIGITS} digits")


def calculator(evaluate: Callable[[str], int | float] = safe_eval) -> Tool:
    """Return the calculator as a tool; its result is one number."""

    def run(expression: str) -> dict[str, Any]:
        try:
            return {"result": evaluate(expression)}
        except CalculatorError as error:
            hint = "Write one expression of numbers, + - * / // % ** and brackets."
            raise ToolFailure("bad_expression", f"{error}.", hint=hint) from None

    example = "an arithmetic expression, for example 100*0.2"
    expression = {"type": "string", "description": example, "minLength": 1}
    schema = {"properties": {"expression": expression}, "required": ["expression"]}
    return Tool(
        name="Calculator",
        description="Calculates one arithmetic expression exactly: numbers, + - * / "
        "// % ** and brackets.\nNo names, functions, units or percent signs. One "
        "expression a call.\nRight: 100*0.2  Wrong: 20% of 100",
        parameters=schema,
        run=run,
        timeout_s=None,  # its limits keep it under milliseconds
        outside=False,
        aliases=dict.fromkeys(["expr", "query", "equation"], "expression"),
    )


def percent_tool() -> Tool:
    """Return a tool that changes an amount by a percentage, exactly.

    >>> percent_tool().run(amount=100, percent=-20)
    {'result': 80}
    """

    def run(amount: float, percent: float) -> dict[str, Any]:
        share = 1 + Fraction(str(percent)) / 100
        changed = Fraction(str(amount)) * share
        whole = changed.denominator == 1
        return {"result": int(changed) if whole else float(changed)}

    percent = {"type": "number", "minimum": -100, "maximum": 1000}
    return Tool(
        name="Percent",
        description="Changes an amount by a percentage from -100 to 1000 %: -20 takes "
        "20 % off. One change a call.\n"
        'Right: {"amount": 80, "percent": 10}  Wrong: {"amount": "80 + 10%"}',
        parameters={
            "properties": {"amount": {"type": "number"}, "percent": percent},
            "required": ["amount", "percent"],
        },
        run=run,
        timeout_s=1.0,
        outside=False,
    )


TOOLS = {"Calculator": calculator, "Percent": percent_tool}
