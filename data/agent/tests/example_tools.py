"""The tools with which the tests ask: yours, in tools.py, may be any others."""

from pathlib import Path

from parts import part

from workbook.runtime.calculator import safe_eval
from workbook.runtime.tools import tool

evaluate = part(safe_eval)
NOTES = Path(__file__).with_name("notes.txt")


@tool
def calculator(expression: str) -> float:
    """Calculates one expression."""
    return evaluate(expression)


@tool(effect="write")
def add_note(text: str) -> str:
    """Adds one line to the file notes.txt."""
    with NOTES.open("a", encoding="utf-8") as file:
        file.write(f"{text}\n")
    return f"added to {NOTES.name}"
