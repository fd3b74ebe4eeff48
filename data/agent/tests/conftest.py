"""What tests of your parts take: each function by its name, yours where you have it.

Of the tests that came with your parts those are run which take one.
"""

import importlib

import pytest
from parts import HOME, part

TAKEN = "$TAKEN"
"""Each as `module:function`."""


def fixture_of(module, name):
    """Return a fixture of that name: your function, else the runtime's."""

    @pytest.fixture(scope="session", name=name)
    def found():
        return part(getattr(importlib.import_module(module), name))

    return found


for each in TAKEN.split():
    module, _, name = each.partition(":")
    globals()[f"_{name}"] = fixture_of(module, name)


def pytest_collection_modifyitems(items):
    """Leave out what tests the runtime's own functions."""
    mine = {path.stem for path in HOME.glob("*.py")}
    items[:] = [
        item
        for item in items
        if item.path.parent == HOME.parent / "tests" or mine & {*item.fixturenames}
    ]
