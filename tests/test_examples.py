"""Every example in a docstring of the package is true."""

import doctest
import importlib
import pkgutil

import workbook

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(workbook.__path__, "workbook.")
    if not module.ispkg and not module.name.endswith("__main__")
)


def test_the_examples_are_true():
    """What a docstring shows is what comes back; what does not is printed."""
    modules = {name: importlib.import_module(name) for name in MODULES}
    assert [n for n, m in modules.items() if doctest.testmod(m).failed] == []
