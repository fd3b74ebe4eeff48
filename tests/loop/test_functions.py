"""Tools as functions of a text: by a registry, or trusted as tutorials trust them."""

import pytest

from workbook.loop.functions import BoundTools, trusting_function
from workbook.runtime.calls import ToolFailure
from workbook.runtime.tools import Tool


def returns(kind, run=lambda **given: {"result": given}):
    """Return a tool with one argument `n` of this kind."""
    schema = {"properties": {"n": {"type": kind, "maximum": 20}}, "required": ["n"]}
    return Tool("Echo", "Gives it back.", schema, run)


@pytest.mark.parametrize(
    ("kind", "text", "came_back"),
    [
        ("integer", "7", '{"n": 7}'),
        ("number", "7.5", '{"n": 7.5}'),
        ("string", "7", '{"n": "7"}'),
        ("integer", '{"n": "seven"}', '{"n": "seven"}'),
    ],
)
def test_the_text_goes_to_the_first_parameter(kind, text, came_back):
    """text is read as the first parameter wants it, JSON is taken as it is"""
    assert trusting_function(returns(kind))(text) == came_back
    with pytest.raises(ValueError, match="seven"):
        trusting_function(returns("integer"))("seven")


def test_a_failure_that_a_tool_foresaw_is_a_text():
    """it can be told from a result; whatever else is raised leaves the function"""

    def refuse(n):
        raise ToolFailure("unauthorized", "401.") if n == 1 else LookupError("gone")

    call = trusting_function(returns("integer", refuse))
    assert call("1") == "Error (unauthorized): 401."
    assert call("1").ok is False
    with pytest.raises(LookupError):
        call("2")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("Echo", "21", "Error (invalid_arguments): arguments.n: 21"),
        ("Ecko", "1", "Error (unknown_tool): there is no tool named 'Ecko'"),
        ("echo", "1", '{"n": 1}'),
    ],
)
def test_by_a_registry_no_call_raises(name, text, words):
    """a limit, a wrong name, a near miss: each comes back as a text"""
    tools = BoundTools([returns("integer")])
    assert tools[name](text).startswith(words)
    assert list(tools) == ["Echo"]
