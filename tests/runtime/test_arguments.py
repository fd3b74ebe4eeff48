"""From what a model wrote to arguments; how they are checked and repaired is next door.

See `test_validation.py` and `test_repair.py`, which are tests of exercises too.
"""

import pytest

from workbook.runtime.arguments import (
    UnreadableInput,
    alternatives,
    closed_schema,
    example_of,
    read_arguments,
    repair_arguments,
    types_of,
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
        ("```Oslo```", "Oslo"),
        (f"{FENCED}\nI wait for the result.", "Oslo"),
        (f"Here it is:\n{FENCED}", "Oslo"),
        ('```json\n{"city": "Oslo"}', "Oslo"),  # the stop sequence cut its end
        ("Here it is:\n```\nOslo\n```", None),
        (f"{FENCED}\nor\n{FENCED}", None),
        ("```\nOslo\n```\nor\n```\nRome\n```", None),
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
    assert read_arguments(CITY, '{"city": "Oslo"}', strict=True)[0] == {"city": "Oslo"}


OR_NULL = [INTEGER, {"type": "null"}]
WRITTEN = {
    "plain": INTEGER,
    "list": {"type": ["integer", "null"]},
    "anyOf": {"anyOf": OR_NULL},
    "oneOf": {"oneOf": OR_NULL},
    "allOf": {"allOf": [INTEGER, {"minimum": 0}]},
    "beside": {"type": "integer", "anyOf": [{"minimum": 9}, {"maximum": 5}]},
    "ref": {"$ref": "#/$defs/N"},
    "ref to ref": {"anyOf": [{"$ref": "#/$defs/M"}]},
}


@pytest.mark.parametrize("part", WRITTEN.values(), ids=WRITTEN.keys())
@pytest.mark.parametrize(
    ("value", "meant"), [("5", 5), (["5"], 5), (5.0, 5), ("five", "five")]
)
def test_a_repair_goes_by_the_type_however_it_is_written(part, value, meant):
    """text is read as a number through `$ref`, allOf, anyOf and oneOf"""
    definitions = {"N": INTEGER, "M": {"$ref": "#/$defs/N"}}
    schema = closed_schema({"properties": {"n": part}, "$defs": definitions})
    repaired, notes = repair_arguments(schema, {"n": value})
    assert repr(repaired) == repr({"n": meant})
    assert len(notes) == (meant == 5)
    assert "integer" in types_of(part, schema)


def test_what_a_definition_lists_is_seen_too():
    """quotes go, and an example is given, where the listed values are defined apart"""
    listed = {"anyOf": [{"$ref": "#/$defs/Unit"}, {"type": "null"}]}
    units = {"Unit": {"type": "string", "enum": ["km", "mi"]}}
    schema = closed_schema({"properties": {"unit": listed}, "$defs": units})
    assert repair_arguments(schema, {"unit": "'mi'"})[0] == {"unit": "mi"}
    assert example_of(schema) == '{"unit": "km"}'


@pytest.mark.parametrize(
    ("definitions", "words"),
    [
        ({"T0": {"$ref": "#/$defs/T0"}}, "leads back to itself"),
        ({"T0": {"anyOf": [{"$ref": "#/$defs/T0"}, INTEGER]}}, "leads back to itself"),
        (
            {f"T{n}": {"anyOf": [{"$ref": f"#/$defs/T{n + 1}"}] * 2} for n in range(40)}
            | {"T40": INTEGER},
            "more than 1000 alternatives",
        ),
    ],
    ids=["circle", "circle in anyOf", "2 ** 40 alternatives"],
)
def test_a_schema_without_end_is_refused(definitions, words):
    """a `$ref` that leads to itself, or to too many alternatives, is refused at once"""
    schema = {"properties": {"n": {"$ref": "#/$defs/T0"}}, "$defs": definitions}
    with pytest.raises(ValueError, match=words):
        closed_schema(schema)


def test_a_tree_may_refer_to_itself():
    """a list of things like itself is no circle: its items are not followed"""
    tree = {"type": "array", "items": {"$ref": "#/$defs/Tree"}}
    schema = {"properties": {"t": {"$ref": "#/$defs/Tree"}}, "$defs": {"Tree": tree}}
    assert alternatives({"$ref": "#/$defs/Tree"}, closed_schema(schema)) == [tree]
