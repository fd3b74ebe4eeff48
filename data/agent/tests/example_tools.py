"""The tools with which the tests ask: yours, in tools.py, may be any others."""

import asyncio
from pathlib import Path

from .runtime.tools import tool

NOTES = Path(__file__).with_name("notes.txt")


@tool
def calculator(expression: str) -> float:
    """Calculates one expression."""
    print("a line of a tool")
    return eval(expression, {"__builtins__": {}})


@tool
async def later(n: int) -> int:
    """Answers after a turn of the event loop."""
    await asyncio.sleep(0)
    return n + 1


@tool(effect="write")
def add_note(text: str) -> str:
    """Adds one line to the file notes.txt."""
    with NOTES.open("a", encoding="utf-8") as file:
        file.write(f"{text}\n")
    return f"added to {NOTES.name}"
