"""From what a model wrote to arguments; how they are checked and repaired is next door.

See `test_validation.py` and `test_repair.py`, which are tests of exercises too.
"""

import pytest

from workbook.runtime.arguments import (
    UnreadableInput,
    closed_schema,
    read_arguments,
    read_json,
    type_name,
)

INTEGER = {"type": "integer"}
COUNT = {"properties": {"n": INTEGER}, "required": ["n"]}
CITY = {
    "properties": {"city": {"type": "string"}, "days": INTEGER},
    "required": ["city"],
}
NOTHING = {"properties": {}}
FENCED = '```json\n{"city": "Oslo"}\n```'


@pytest.mark.parametrize(
    ("schema", "text", "arguments"),
    [
        (CITY, '{"city": "Oslo", "days": 2}', {"city": "Oslo", "days": 2}),
        (CITY, '{\n  "city": "a{b}\\"c"\n}', {"city": 'a{b}"c'}),
        (CITY, '{"city": "a ```json {} ``` b"}', {"city": "a ```json {} ``` b"}),
        (CITY, " Oslo\nNorway ", {"city": "Oslo\nNorway"}),
        (CITY, "12", {"city": "12"}),
        (COUNT, "12", {"n": 12}),
        (COUNT, "3, 4", {"n": [3, 4]}),
        (COUNT, "twelve", {"n": "twelve"}),
        (NOTHING, "None", {}),
        (NOTHING, "", {}),
    ],
)
def test_text_is_read_as_arguments(schema, text, arguments):
    """a JSON object is the arguments, other text the value of the only one"""
    assert read_arguments(schema, text) == (arguments, [])


@pytest.mark.parametrize(
    ("schema", "text", "words"),
    [
        (CITY, "{'city': 1}", "the input is not JSON (Expecting property name"),
        (
            CITY,
            '{"city": "a", "city": "b"}',
            "city is given twice: call once per value",
        ),
        (COUNT, '{"n":' * 5000, 'write it like {"n": 1}'),
        (NOTHING, "tomorrow", "the input is not a JSON object like {}"),
    ],
    ids=["quotes", "twice", "brackets", "words"],
)
def test_text_with_no_single_meaning_is_refused(schema, text, words):
    """what cannot be read in one way is refused, with what to write"""
    with pytest.raises(UnreadableInput) as refused:
        read_arguments(schema, text)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("text", "city"),
    [
        (FENCED, "Oslo"),
        ("```\nOslo\n```", "Oslo"),
        (f"Here it is:\n{FENCED}", "Oslo"),
        ('```json\n{"city": "Oslo"}', "Oslo"),  # the stop sequence cut its end
        ("Here it is:\n```\nOslo\n```", None),
        (f"{FENCED}\nor\n{FENCED}", None),
    ],
)
def test_a_code_fence_is_never_part_of_a_value(text, city):
    """a fence gives what is in it, with a note; among words it must be a JSON object"""
    if city is None:
        with pytest.raises(UnreadableInput, match="not a JSON object like"):
            read_arguments(CITY, text)
    else:
        note = "write the input without a code fence"
        assert read_arguments(CITY, text) == ({"city": city}, [note])


@pytest.mark.parametrize("text", ["Oslo", "", "[1]", "```\nOslo\n```"])
def test_strict_takes_a_json_object_alone(text):
    """with `strict`, text that is no JSON object is refused, and an example given"""
    with pytest.raises(UnreadableInput, match=r'object like {"city": "…", "days": 1}'):
        read_arguments(CITY, text, strict=True)
    with pytest.raises(UnreadableInput, match=r"object like {}"):
        read_arguments(NOTHING, "None", strict=True)
    with pytest.raises(UnreadableInput, match=r'object like {"unit": "km"}'):
        read_arguments({"properties": {"unit": {"enum": ["km", 1]}}}, "5", strict=True)
    assert read_arguments(CITY, '{"city": "Oslo"}', strict=True)[0] == {"city": "Oslo"}


def test_a_whole_number_is_an_integer():
    """12.0 is read as 12, which a Python function takes for an integer, too"""
    assert repr(read_arguments(COUNT, "12.0")[0]) == "{'n': 12}"
    assert repr(read_json('{"n": [12.0, 0.5, 1e300]}')) == "{'n': [12, 0.5, 1e+300]}"


OR_NULL = [INTEGER, {"type": "null"}]
UNIT = {"type": "string", "enum": ["km", "mi"]}
DEFINITIONS = {"N": INTEGER, "M": {"$ref": "#/$defs/N"}, "Unit": UNIT}
DEFINITIONS["Tree"] = {"type": "array", "items": {"$ref": "#/$defs/Tree"}}


@pytest.mark.parametrize(
    ("part", "name"),
    [
        (INTEGER, "integer"),
        ({"type": ["integer", "null"]}, "integer | null"),
        ({"anyOf": OR_NULL}, "integer | null"),
        ({"oneOf": OR_NULL}, "integer | null"),
        ({"allOf": [INTEGER, {"minimum": 0}]}, "integer"),
        ({"anyOf": [{"$ref": "#/$defs/M"}]}, "integer"),
        ({"$ref": "#/$defs/Unit"}, '"km" | "mi"'),
        ({"$ref": "#/$defs/Tree"}, "array"),
        ({"const": 3}, "3"),
        ({}, "any"),
    ],
)
def test_a_signature_says_the_type_however_it_is_written(part, name):
    """a type is named through `$ref`, allOf, anyOf and oneOf; a list's items are not"""
    schema = closed_schema({"properties": {"n": part}, "$defs": DEFINITIONS})
    assert type_name(part, schema) == name


@pytest.mark.parametrize(
    "definitions",
    [
        {"T0": {"$ref": "#/$defs/T0"}},
        {"T0": {"anyOf": [{"$ref": "#/$defs/T0"}, INTEGER]}},
        {f"T{n}": {"anyOf": [{"$ref": f"#/$defs/T{n + 1}"}] * 2} for n in range(40)}
        | {"T40": INTEGER},
    ],
    ids=["circle", "circle in anyOf", "2 ** 40 schemas"],
)
def test_a_schema_without_end_is_refused(definitions):
    """a `$ref` that leads to itself, or to too many schemas, is refused at once"""
    schema = {"properties": {"n": {"$ref": "#/$defs/T0"}}, "$defs": definitions}
    with pytest.raises(ValueError, match="lead to itself or too many schemas"):
        closed_schema(schema)
