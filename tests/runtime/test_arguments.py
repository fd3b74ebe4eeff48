"""From what a model wrote to arguments; how they are checked and repaired is next door.

See `test_validation.py` and `test_repair.py`, which are tests of exercises too.
"""

import pytest

from workbook.runtime.arguments import (
    UnreadableInput,
    read_arguments,
    read_json,
)

INTEGER = {"type": "integer"}
COUNT = {"properties": {"n": INTEGER}, "required": ["n"]}
CITY = {
    "properties": {"city": {"type": "string"}, "days": INTEGER},
    "required": ["city"],
}
NOTHING = {"properties": {}}
KM = {"enum": ["km", 1]}
UNITS = {"properties": {"from": KM, "to": KM}}
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
        (UNITS, "km", 'the input is not a JSON object like {"from": "km", "to": "km"}'),
        (CITY, f"{FENCED}\nor\n{FENCED}", "the input is not a JSON object like"),
        (CITY, "Here it is:\n```\nOslo\n```", "the input is not a JSON object like"),
    ],
    ids=["quotes", "twice", "brackets", "words", "enum", "two fences", "around"],
)
def test_text_with_no_single_meaning_is_refused(schema, text, words):
    """what cannot be read in one way is refused, with what to write"""
    with pytest.raises(UnreadableInput) as refused:
        read_arguments(schema, text)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        FENCED,
        "```\nOslo\n```",
        f"Here it is:\n{FENCED}\nI wait for the result.",
        '```json\n{"city": "Oslo"}',  # the stop sequence cut its end
    ],
)
def test_a_code_fence_is_never_part_of_a_value(text):
    """dynamiq-ai/dynamiq#506: a fence gives what is in it, with a note"""
    note = "write the input without a code fence"
    assert read_arguments(CITY, text) == ({"city": "Oslo"}, [note])


@pytest.mark.parametrize("text", ["Oslo", "", "[1]", "```\nOslo\n```"])
def test_strict_takes_a_json_object_alone(text):
    """with `strict`, text that is no JSON object is refused, and an example given"""
    with pytest.raises(UnreadableInput, match=r'object like {"city": "…", "days": 1}'):
        read_arguments(CITY, text, strict=True)
    assert read_arguments(CITY, '{"city": "Oslo"}', strict=True)[0] == {"city": "Oslo"}


def test_a_whole_number_is_an_integer():
    """12.0 is read as 12, which a Python function takes for an integer, too"""
    assert repr(read_json('{"n": [12.0, 0.5, 1e300]}')) == "{'n': [12, 0.5, 1e+300]}"
