"""Arithmetic on a text: a list of what is allowed, and nothing else has a way in."""

import ast
import operator

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
MAX_LENGTH = 500  # characters
MAX_EXPONENT = 1000
MAX_VALUE = 10**300


def safe_eval(expression: str) -> float:
    """Return the value, to 15 digits where it is not whole; ValueError says why not."""
    if len(expression) > MAX_LENGTH:
        raise ValueError(f"more than {MAX_LENGTH} characters: calculate in steps")
    try:
        value = _value(ast.parse(expression.strip(), mode="eval").body)
    except SyntaxError:
        raise ValueError(f"{expression!r} is no arithmetic expression") from None
    except (OverflowError, RecursionError, MemoryError):
        raise ValueError("the expression is too deep or too large") from None
    shown = float(f"{value:.15g}") if isinstance(value, float) else value
    return int(shown) if shown == int(shown) else shown


def _value(node: ast.expr) -> float:
    """Return the value of one node of the syntax tree: the whitelist."""
    match node:
        case ast.Constant(value=number) if type(number) in (int, float):
            value = number
        case ast.UnaryOp(op=op, operand=a) if type(op) in OPERATORS:
            value = OPERATORS[type(op)](_value(a))
        case ast.BinOp(left=a, op=op, right=b) if type(op) in OPERATORS:
            left, right = _value(a), _value(b)
            if isinstance(op, ast.Pow) and abs(right) > MAX_EXPONENT:
                raise ValueError(f"the exponent {right} is above {MAX_EXPONENT}")
            value = OPERATORS[type(op)](left, right)
        case _:
            part = ast.unparse(node)
            raise ValueError(f"{part} is not allowed: numbers, + - * / // % ** alone")
    if isinstance(value, complex) or not abs(value) < MAX_VALUE:
        raise ValueError(f"{ast.unparse(node)} is too large, or no real number")
    return value
