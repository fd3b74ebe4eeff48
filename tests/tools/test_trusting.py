"""A tool as people first write it, before there is a contract."""

import pytest

from workbook.tools.adapters import trusting_function
from workbook.tools.calls import result_text
from workbook.tools.tool import Tool


def tool_of(**properties):
    """Return a tool that gives its arguments back."""
    schema = {"type": "object", "properties": properties}
    return Tool("Echo", "Give it back.", schema, lambda **given: {"result": given})


@pytest.mark.parametrize(
    ("kind", "text", "came_back"),
    [
        ("integer", "7", '{"n": 7}'),
        ("number", "7.5", '{"n": 7.5}'),
        ("string", "7", '{"n": "7"}'),
        (["integer", "null"], "7", '{"n": "7"}'),
        ("integer", '{"n": "seven"}', '{"n": "seven"}'),
    ],
)
def test_the_text_goes_to_the_first_parameter(kind, text, came_back):
    """text is read as the first parameter wants it, JSON is taken as it is"""
    assert trusting_function(tool_of(n={"type": kind}))(text) == came_back


def test_nothing_is_caught():
    """text that is no number is an exception, and not an observation"""
    with pytest.raises(ValueError, match="seven"):
        trusting_function(tool_of(n={"type": "integer"}))("seven")


@pytest.mark.parametrize(
    ("result", "text"),
    [({"result": 20}, "20"), ({"result": "a"}, "a"), ({"a": "é"}, '{"a": "é"}')],
)
def test_a_result_is_shown_as_the_model_reads_it(result, text):
    """one plain value is shown bare, anything else as JSON"""
    assert result_text(result) == text
