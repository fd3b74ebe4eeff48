"""The room imports LangChain when an agent is run, not before."""

import subprocess
import sys

import workbook.langchain_trace as room

LIGHT = """
import sys
import workbook.langchain_trace
from workbook.langchain_trace import (
    context_growth, evaluate_math_block, fold_debug_log, render_scratchpad,
    sequence_diagram, split_prompt, IMPORTS,
)
heavy = ("langchain", "langchain_core", "langchain_classic", "pandas", "matplotlib")
print([name for name in heavy if name in sys.modules])
"""


def test_the_exercises_bring_no_langchain_along():
    """importing the room and its exercises imports neither LangChain nor pandas"""
    done = subprocess.run(
        [sys.executable, "-c", LIGHT], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_room_offers_what_it_names():
    """every name in __all__ is there, and has a docstring or is data"""
    assert all(hasattr(room, name) for name in room.__all__)
    assert sorted(room.__all__) == sorted(room._HOMES)
