"""The examples in the docstrings say what is so."""

import doctest
import importlib

import pytest

NAMES = (
    "anatomy",
    "columns",
    "debug_log",
    "diagram",
    "function_calls",
    "growth",
    "llm_math",
    "scratchpad",
)


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_the_room_are_true(name):
    """Each example in a docstring of this file gives what it shows."""
    home = importlib.import_module(f"workbook.langchain_trace.{name}")
    results = doctest.testmod(home)
    assert results.attempted
    assert not results.failed
