"""The tools of your agent.

A typed function with a docstring is a tool: decorate it with @tool. Its name, its types
and its docstring are what the model reads. `effect="write"` means that it changes
something: a person is asked first, and in one run, also a resumed one, the same call is
made once. A later run may make it again, after a new yes. `business_key=("invoice",)`
names arguments that mean one operation: that one is done once in all runs, whatever is
answered. What a tool raises becomes an observation that the model reads.
"""

from pathlib import Path

from parts import part

from workbook.runtime.calculator import percent_tool, safe_eval
from workbook.runtime.tools import tool

evaluate = part(safe_eval)
NOTES = Path(__file__).with_name("notes.txt")


@tool
def calculator(expression: str) -> float:
    """Calculates one arithmetic expression: numbers, + - * / // % ** and brackets.

    Args:
        expression: such as 2350 * 17 / 100 + 12
    """
    return evaluate(expression)


percent = part(percent_tool)()  # a tool that is a part


@tool(effect="write")
def add_note(text: str) -> str:
    """Adds one line to the file notes.txt.

    Args:
        text: the line
    """
    with NOTES.open("a", encoding="utf-8") as file:
        file.write(f"{text}\n")
    return f"added to {NOTES.name}"
