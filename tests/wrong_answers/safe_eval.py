"""Plausible wrong answers to `safe_eval`, each with the test that must catch it."""

import ast
import re
from fractions import Fraction

from workbook.worlds.calculator import OPERATORS, CalculatorError, safe_eval

REFUSED = (SyntaxError, ValueError, TypeError, ArithmeticError, RecursionError, MemoryError)


def _walk(expression, number=Fraction, limit=1000):
    def value(node):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return number(str(node.value))
        if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](value(node.operand))
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            left, right = value(node.left), value(node.right)
            if isinstance(node.op, ast.Pow) and abs(right) > limit:
                raise CalculatorError("the exponent is too large")
            result = OPERATORS[type(node.op)](left, right)
            if abs(result) > 10**limit:
                raise CalculatorError("the result is too large")
            return result
        raise CalculatorError(f"{ast.unparse(node)} is not allowed")

    try:
        result = value(ast.parse(expression, mode="eval").body)
        return int(result) if result == int(result) else float(result)
    except REFUSED as error:
        raise CalculatorError(str(error)) from None


def eval_without_builtins(expression):
    try:
        result = eval(expression, {"__builtins__": {}})
        return int(result) if result == int(result) else result
    except Exception as error:
        raise CalculatorError(str(error)) from None


def divides_towards_zero(expression):
    left, sign, right = expression.partition("//")
    return int(safe_eval(f"({left}) / ({right})")) if sign else safe_eval(expression)


def calculates_in_floats(expression):
    safe_eval(expression)  # it refuses what is not allowed
    return _walk(expression, number=float)


def counts_characters_without_spaces(expression):
    return safe_eval(re.sub(r" {3,}", " ", expression))


def shows_a_zero_that_is_none(expression):
    try:
        return safe_eval(expression)
    except CalculatorError as error:
        if "too small" in str(error):
            return 0
        raise


def looks_at_no_outer_brackets(expression):
    while expression.startswith("((") and expression.endswith("))"):
        expression = expression[1:-1]
    return safe_eval(expression)


def computes_a_literal_of_any_size(expression):
    if re.fullmatch(r"1e\d+", expression):
        Fraction(expression)
    return safe_eval(expression)


def computes_first(expression):
    try:
        _walk(expression)
    except CalculatorError:
        pass
    return safe_eval(expression)


def true_is_a_number(expression):
    return safe_eval(expression.replace("True", "1").replace("False", "0"))


def drops_a_comment(expression):
    return safe_eval(expression.partition("#")[0])


def always_a_float(expression):
    value = safe_eval(expression)
    return float(value) if abs(value) < 10**9 else value


def gives_no_reason(expression):
    try:
        return safe_eval(expression)
    except CalculatorError:
        raise CalculatorError("not allowed") from None


WRONG = {
    eval_without_builtins: "test_refuses_what_is_not_arithmetic",
    divides_towards_zero: "test_calculates",
    calculates_in_floats: "test_the_value_is_exact",
    counts_characters_without_spaces: "test_refuses_what_is_too_large",
    shows_a_zero_that_is_none: "test_refuses_what_is_too_small",
    looks_at_no_outer_brackets: "test_refuses_what_is_too_deep",
    computes_a_literal_of_any_size: "test_nothing_large_is_computed",
    computes_first: "test_nothing_large_is_computed",
    true_is_a_number: "test_refuses_what_is_not_arithmetic",
    drops_a_comment: "test_what_has_no_value_is_refused",
    always_a_float: "test_the_value_is_exact",
    gives_no_reason: "test_names_the_part_that_is_not_allowed",
}
