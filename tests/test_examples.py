"""Every example in a docstring of the package is true."""

import doctest
import importlib
import pkgutil

import pytest

import workbook

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(workbook.__path__, "workbook.")
    if not module.ispkg and not module.name.endswith("__main__")
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_are_true(name):
    """What a docstring shows is what comes back."""
    assert doctest.testmod(importlib.import_module(name)).failed == 0
