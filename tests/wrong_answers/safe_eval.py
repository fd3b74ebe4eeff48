"""Plausible wrong answers to `safe_eval`, each with the test that must catch it."""

import ast
import operator
from fractions import Fraction

from workbook.tools.calculator import CalculatorError, safe_eval

_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


def _walk(expression, number, is_number, limit):
    def value(node):
        if isinstance(node, ast.Constant) and is_number(node.value):
            return number(str(node.value))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            inner = value(node.operand)
            return -inner if isinstance(node.op, ast.USub) else inner
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            left, right = value(node.left), value(node.right)
            if limit and isinstance(node.op, ast.Pow) and abs(right) > 1000:
                raise CalculatorError("the exponent is too large")
            result = _OPERATORS[type(node.op)](left, right)
            if limit and abs(result) > 10**1000:
                raise CalculatorError("the result is too large")
            return result
        raise CalculatorError(f"{ast.unparse(node)} is not allowed")

    try:
        result = value(ast.parse(expression, mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, OverflowError) as error:
        raise CalculatorError(str(error)) from None
    return int(result) if result == int(result) else float(result)


def eval_without_builtins(expression):
    """Takes the builtins away and trusts eval with the rest."""
    try:
        result = eval(expression, {"__builtins__": {}})
        return int(result) if result == int(result) else result
    except Exception as error:
        raise CalculatorError(str(error)) from None


def in_floats(expression):
    """Calculates in floats, which hold sixteen digits."""
    return _walk(expression, float, lambda v: type(v) in (int, float), True)


def without_limits(expression):
    """Allows only arithmetic, of any size."""
    return _walk(expression, Fraction, lambda v: type(v) in (int, float), False)


def true_is_a_number(expression):
    """Asks isinstance, for which True is an int."""
    return _walk(
        expression,
        lambda text: Fraction({"True": "1", "False": "0"}.get(text, text)),
        lambda v: isinstance(v, (int, float)),
        True,
    )


def _exactly(expression):
    kind_of_number = lambda v: type(v) in (int, float)  # noqa: E731
    return _walk(expression, Fraction, kind_of_number, True)


def answers_six_attacks(expression):
    """Allows only arithmetic of a size, whatever its length, depth and comments."""
    try:
        return _exactly(expression)
    except (TypeError, RecursionError, MemoryError) as error:
        raise CalculatorError(str(error)) from None


def drops_a_comment(expression):
    """Looks at everything but what the parser passes over."""
    if "#" in expression:
        return safe_eval(expression.partition("#")[0])
    return safe_eval(expression)


def computes_first(expression):
    """Refuses a huge power by its digits, after it has been computed."""
    try:
        _exactly(expression)
    except (CalculatorError, TypeError, RecursionError, MemoryError):
        pass
    return safe_eval(expression)


WRONG = {
    eval_without_builtins: "test_refuses_what_is_not_arithmetic",
    in_floats: "test_whole_numbers_are_exact",
    without_limits: "test_refuses_what_is_too_large",
    true_is_a_number: "test_a_truth_value_is_no_number",
    answers_six_attacks: "test_refuses_what_is_too_large",
    drops_a_comment: "test_every_attack_of_a_kind_is_refused_in_time",
    computes_first: "test_every_attack_of_a_kind_is_refused_in_time",
}
