"""What tests of your parts take: each function by its name, yours where you have it.

Of the tests that came with your parts those are run which take one.
"""

import pytest
from my_agent.parts import HOME, NAMES, runtimes, yours


def fixture_of(name):
    """Return a fixture of that name: your function, else the runtime's."""

    @pytest.fixture(scope="session", name=name)
    def found():
        return yours().get(name) or runtimes(name)

    return found


for each in NAMES:
    globals()[f"_{each}"] = fixture_of(each)


def pytest_collection_modifyitems(items):
    """Leave out what tests the runtime's own functions."""
    mine = {path.stem for path in HOME.glob("*.py")}
    items[:] = [
        item
        for item in items
        if item.path.parent.name == "tests" or mine & {*item.fixturenames}
    ]
