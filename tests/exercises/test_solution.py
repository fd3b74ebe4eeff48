"""What `solution` shows works when it is pasted into a cell."""

import builtins
import importlib

import pytest

from workbook.exercises.catalogue import exercises
from workbook.exercises.check import source_with_helpers


@pytest.mark.parametrize("slug", exercises())
def test_the_solution_works_with_what_can_be_imported(slug):
    """A solution needs nothing but the public names of its module."""
    function = exercises()[slug].function()
    module = importlib.import_module(function.__module__)
    public = {n: v for n, v in vars(module).items() if not n.startswith("_")}
    space = {**public, "__builtins__": builtins, "__name__": "cell"}
    exec(compile(source_with_helpers(function), slug, "exec"), space)
    pasted = space[slug]
    assert pasted is not function
    code = [pasted.__code__]
    missing = set()
    while code:
        this = code.pop()
        names = {n for n in this.co_names if n.startswith("_") and n in vars(module)}
        missing |= names - set(space)
        code += [c for c in this.co_consts if hasattr(c, "co_names")]
    assert missing == set()


def test_helpers_of_helpers_come_along():
    """The calculator's helpers stand before it, in the order of the file."""
    source = source_with_helpers(exercises()["safe_eval"].function())
    assert source.index("def _value") < source.index("def safe_eval")
