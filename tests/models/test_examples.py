"""The examples in the docstrings say what is so."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["choice", "prompts", "scripted"])
def test_the_examples_of_the_room_are_true(name):
    """Each example in a docstring of this file gives what it shows."""
    results = doctest.testmod(importlib.import_module(f"workbook.models.{name}"))
    assert results.attempted
    assert not results.failed
