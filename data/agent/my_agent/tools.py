"""The tools of your agent.

A typed function with a docstring is a tool: decorate it with @tool; an async def is
one, too. Its name, its types and its docstring are what the model reads.
`effect="write"` means that it changes something: a person is asked first, and in one
run, also a resumed one, the same call is made once. `business_key=("invoice",)` names
arguments that mean one operation: that one is done once in all runs. What a tool raises
becomes an observation that the model reads.
"""

import ast
import operator
from pathlib import Path

from .parts import yours
from .runtime.tools import tool

NOTES = Path.home() / "notes.txt"
SIGNS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
}


@tool
def calculator(expression: str) -> float:
    """Calculates one arithmetic expression: numbers, + - * / and brackets.

    Args:
        expression: such as 2350 * 17 / 100 + 12
    """
    return yours().get("safe_eval", _evaluate)(expression)


def _evaluate(expression: str) -> float:
    return _value(ast.parse(expression.strip(), mode="eval").body)


def _value(node: ast.AST) -> float:
    match node:
        case ast.Constant(int() | float() as number):
            return number
        case ast.BinOp(left, sign, right) if type(sign) in SIGNS:
            return SIGNS[type(sign)](_value(left), _value(right))
        case ast.UnaryOp(sign, number) if type(sign) in SIGNS:
            return SIGNS[type(sign)](_value(number))
    raise ValueError("write numbers, + - * / and brackets")


@tool(effect="write")
def add_note(text: str) -> str:
    """Adds one line to the file notes.txt in your home folder.

    Args:
        text: the line
    """
    with NOTES.open("a", encoding="utf-8") as file:
        file.write(f"{text}\n")
    return f"added to {NOTES.name}"
