"""Checking arguments against a schema."""

import re

import pytest

from workbook.runtime.arguments import closed_schema
from workbook.runtime.arguments import validate_arguments as package_validate

VOLTAGE = {
    "type": "object",
    "properties": {
        "range": {"type": "string", "enum": ["1V", "10V"]},
        "samples": {"type": "integer", "minimum": 1, "maximum": 20},
    },
    "required": ["range"],
}
POINTS = {
    "type": "object",
    "properties": {"points": {"type": "array", "items": {"type": "number"}}},
}


def nested(depth, kind):
    value = 1
    for _ in range(depth):
        value = [value] if kind is list else {"t": value}
    return value


def test_right_arguments_have_no_problems(validate_arguments):
    """arguments that the schema allows have no problems"""
    assert validate_arguments(VOLTAGE, {"range": "1V"}) == []
    assert validate_arguments(VOLTAGE, {"range": "10V", "samples": 20}) == []


def test_a_problem_has_its_place(validate_arguments):
    """a problem is its place, with a position such as [1] in a list, and its message"""
    assert validate_arguments(VOLTAGE, {"range": "1V", "samples": "12"}) == [
        'arguments.samples: "12" is not of type "integer"'
    ]
    assert validate_arguments(POINTS, {"points": [1.5, "b"]}) == [
        'arguments.points[1]: "b" is not of type "number"'
    ]


def messages(problems):
    """Return the problems without their places."""
    return [problem.partition(": ")[2] for problem in problems]


def test_a_missing_argument_is_a_problem(validate_arguments):
    """an argument that is required and missing is a problem"""
    expected = ['arguments: "range" is a required property']
    assert validate_arguments(VOLTAGE, {"samples": 3}) == expected


def test_an_unknown_argument_is_a_problem(validate_arguments):
    """an argument that the schema does not name is a problem, even if not forbidden"""
    expected = [
        "arguments: Additional properties are not allowed ('speed' was unexpected)"
    ]
    arguments = {"range": "1V", "samples": 3, "speed": 9}
    assert validate_arguments(VOLTAGE, arguments) == expected


def test_a_truth_value_is_no_integer(validate_arguments):
    """True is not an integer, although it is one to Python"""
    found = messages(validate_arguments(VOLTAGE, {"range": "1V", "samples": True}))
    expected = ['true is not of type "integer"']
    assert found == expected, f"the messages are {found}, and not {expected}"


def test_all_problems_come_at_once_and_in_order(validate_arguments):
    """all problems are returned, sorted, so that one answer can fix them all"""
    arguments = {"samples": 25, "range": "10 V"}
    found = messages(validate_arguments(VOLTAGE, arguments))
    expected = [
        '"10 V" is not one of "1V" or "10V"',
        "25 is greater than the maximum of 20",
    ]
    assert found == expected, f"the messages are {found}, and not {expected}"


def test_arguments_are_an_object(validate_arguments):
    """a list in place of the arguments is a problem, not a crash"""
    expected = ['arguments: [1,2] is not of type "object"']
    assert validate_arguments(VOLTAGE, [1, 2]) == expected


def test_a_closed_schema_is_a_copy():
    """closing a schema leaves the original as it was"""
    original = {"properties": {"n": {"type": "integer"}}}
    more = {"type": "object", "additionalProperties": False}
    assert closed_schema(original) == {**original, **more}
    assert original == {"properties": {"n": {"type": "integer"}}}


CIRCLE = {"T0": {"anyOf": [{"$ref": "#/$defs/T0"}, {"type": "integer"}]}}
MANY = {f"T{n}": {"anyOf": [{"$ref": f"#/$defs/T{n + 1}"}] * 2} for n in range(40)}
MANY["T40"] = {}  # 2 ** 40 schemas


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "array"}, "type 'array'"),
        ({"additionalProperties": True}, "must be false"),
        ({"properties": {"n": {"type": "int"}}}, "parameters.properties.n.type"),
        ({"properties": {}, "required": ["n"]}, "['n']"),
        ({"properties": {"n": {"$ref": "#/$defs/N"}}}, "/$defs/N"),
        ({"properties": {"n": {"$ref": "https://a.test/n"}}}, "Retrieval is disabled"),
        ({"properties": {"n": nested(20_000, dict)}}, "too deeply"),
        ({"properties": {"n": {"$ref": "#/$defs/T0"}}, "$defs": CIRCLE}, "to itself"),
        ({"properties": {"n": {"$ref": "#/$defs/T0"}}, "$defs": MANY}, "too many"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_schema_that_cannot_describe_arguments_is_refused(schema, words):
    """a schema that cannot describe the arguments of a call is refused, and says why"""
    with pytest.raises(ValueError, match=re.escape(words)):
        closed_schema(schema)


NOT_JSON = {
    "infinity": float("inf"),
    "too long a number": 10**5000,
    "half a character": "\ud800",
    "a set": {1, 2},
    "20,000 levels": nested(20_000, list),
}


@pytest.mark.parametrize("value", NOT_JSON.values(), ids=NOT_JSON.keys())
def test_what_json_cannot_hold_is_a_problem(value):
    """a value that JSON cannot hold, or nobody could read, is a problem and no crash"""
    (problem,) = package_validate({"properties": {"v": {}}}, {"v": value})
    assert problem.startswith("arguments: not JSON")
    assert len(problem.encode()) < 200
    assert package_validate({"properties": {"v": {}}}, {"v": nested(99, list)}) == []
