"""The look at types and values says yes only where the careful way does."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.tools.registry import _plainly_valid, checked_output, problems_with
from workbook.tools.tool import Tool

TYPES = ["string", "integer", "number", "boolean", "null"]
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3),
    st.lists(st.integers(), max_size=2),
)  # fmt: skip


def tool_with(properties, required):
    schema = {"type": "object", "properties": properties, "required": required}
    return Tool("T", "Does it.", schema, dict)


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(st.sampled_from("abc"), st.sampled_from(TYPES)),
    st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=4),
    st.data(),
)
def test_a_glance_never_lets_pass_what_the_schema_refuses(types, arguments, data):
    """arguments that the types alone show to be valid are valid by the schema"""
    required = [name for name in types if data.draw(st.booleans())]
    tool = tool_with({name: {"type": kind} for name, kind in types.items()}, required)
    if _plainly_valid(tool, arguments):
        assert tool.validator.is_valid(arguments)


@pytest.mark.parametrize(
    "part",
    [{"enum": ["a"]}, {"type": "string", "minLength": 2}, {}, {"type": ["null"]}],
)
def test_a_schema_that_says_more_than_types_is_left_to_jsonschema(part):
    """limits, choices and several types are never judged at a glance"""
    assert tool_with({"a": part}, []).plain_types is None


@pytest.mark.parametrize("arguments", [{}, {"n": True}, {"n": 1, "m": 1}, [1]])
def test_what_is_not_plain_still_gets_its_sentence(arguments):
    """a missing name, True for a number and an unknown field are still refused"""
    assert problems_with(tool_with({"n": {"type": "integer"}}, ["n"]), arguments)


def test_plain_arguments_are_valid_at_a_glance():
    """a schema of types and descriptions is one look at the types"""
    tool = tool_with({"n": {"type": "integer", "description": "how many"}}, ["n"])
    assert _plainly_valid(tool, {"n": 3})


FLAT = st.dictionaries(
    st.text(max_size=8) | st.integers(-3, 3),
    st.text(max_size=8) | st.integers() | st.booleans() | st.none() | st.floats(),
    max_size=6,
)


@given(FLAT)
@settings(max_examples=200, deadline=None)
def test_a_result_seen_to_be_plain_is_what_json_makes_of_it(output):
    """The quick look at a result and the round trip through JSON agree."""
    tool = Tool("Echo", "Echo.", {"type": "object", "properties": {}}, lambda: {})
    quick = checked_output(tool, output)
    careful = checked_output(replace(tool, max_output_chars=9_999), output)
    assert repr(quick) == repr(careful)
