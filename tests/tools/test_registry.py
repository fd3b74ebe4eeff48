"""The contract: definitions, binding, running, and what the model reads."""

import dataclasses
import json
import subprocess
import sys
import threading
import time
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.loop.turns import Action
from workbook.models.base import ToolRequest
from workbook.props.number_theory import factorial, prime_factors
from workbook.tools.calls import Effect, Observation, ToolCall, ToolError, ToolFailure
from workbook.tools.registry import ToolRegistry
from workbook.tools.threads import TimedOut
from workbook.tools.tool import ContractError, Tool

FACTORIAL = {
    "type": "object",
    "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 20}},
    "required": ["n"],
}
MEASURE = {
    "properties": {
        "range": {"type": "string", "enum": ["1V", "10V"]},
        "seconds": {"type": "number"},
    },
    "required": ["range", "seconds"],
}


def tool(name="Double", parameters=FACTORIAL, run=lambda n: {"result": 2 * n}, **more):
    settings = {"timeout_s": None, **more}
    return Tool(name, f"{name} it.", parameters, run, **settings)


async def awaited():
    return {}


@pytest.fixture
def registry():
    return ToolRegistry(
        [
            tool(aliases={"number": "n"}),
            tool("Measure", MEASURE, lambda **given: {"volts": 1.5, **given}),
            tool(
                "Search",
                {"properties": {"query": {"type": "string"}}},
                lambda query: {"result": query},
            ),
            tool("Now", {}, lambda: {"result": "noon"}),
        ]
    )


def answer(registry, name, text):
    bound = registry.bind(Action("", name, text))
    return bound if isinstance(bound, ToolError) else registry.run(bound)


# Definitions


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "web search"}, "web search"),
        ({"name": ""}, "letters"),
        ({"description": " "}, "describe it"),
        ({"parameters": {"type": "array"}}, "'array'"),
        ({"parameters": {"additionalProperties": True}}, "must be false"),
        ({"timeout_s": 0}, "timeout_s is 0"),
        ({"timeout_s": float("nan")}, "timeout_s is nan"),
        ({"timeout_s": float("inf")}, "timeout_s is inf"),
        ({"parameters": {"properties": {"n": True}}}, "properties.n is True"),
        ({"effect": "rewrite"}, "rewrite"),
        ({"run": None}, "run is None"),
        ({"run": awaited}, "nobody awaits"),
    ],
)
def test_a_wrong_definition_is_refused(change, words):
    """a tool that is defined wrongly is refused when it is defined, in a sentence"""
    fields = {"name": "A", "description": "a", "parameters": {}, "run": dict, **change}
    with pytest.raises(ContractError, match=words):
        Tool(**fields)


def test_a_definition_cannot_be_changed_from_outside():
    """changing the schema afterwards does not change the tool"""
    schema = {"properties": {"n": {"type": "integer"}}}
    made = tool(parameters=schema)
    schema["properties"]["n"]["type"] = "string"
    assert made.parameters["properties"]["n"]["type"] == "integer"
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.name = "Other"


def test_two_tools_of_one_name_are_refused(registry):
    """a second tool of the same name is refused"""
    with pytest.raises(ContractError, match="already a tool named 'Double'"):
        registry.register(tool())


def test_the_description_for_the_prompt_has_a_line_each(registry):
    """a prompt gets one line a tool: name, arguments with types, description"""
    kinds = [{"type": "array"}, {"enum": ["all"]}, {"const": "none"}, True]
    registry.register(tool("Tag", {"properties": {"tags": {"anyOf": kinds}}}))
    assert registry.describe().splitlines() == [
        "Double(n: integer): Double it.",
        'Measure(range: "1V" | "10V", seconds: number): Measure it.',
        "Search(query?: string): Search it.",
        "Now(): Now it.",
        'Tag(tags?: array | "all" | "none" | any): Tag it.',
    ]
    assert repr(registry["Now"]) == "<Tool Now(): Now it.>"


# Binding


@pytest.mark.parametrize(
    ("name", "text", "arguments"),
    [
        ("Double", "12", {"n": 12}),
        ("Double", '{"n": 12}', {"n": 12}),
        ("Measure", '{"range": "1V", "seconds": 2}', {"range": "1V", "seconds": 2}),
        ("Search", "Kyoto 2026", {"query": "Kyoto 2026"}),
        ("Search", "12", {"query": "12"}),
        ("Search", "{1, 2}", {"query": "{1, 2}"}),
        ("Search", "line one\nline two", {"query": "line one\nline two"}),
        ("Now", "", {}),
        ("Now", "None", {}),
    ],
)
def test_text_becomes_arguments(registry, name, text, arguments):
    """a JSON object is the arguments, other text the value of the only one"""
    assert registry.bind(Action("", name, text), "c") == ToolCall(name, arguments, "c")


@pytest.mark.parametrize(
    ("name", "text", "arguments", "note"),
    [
        ("double", "12", {"n": 12}, "called Double"),
        ("Double", '{"number": 12}', {"n": 12}, "number is called n"),
        ("Double", '{"input": 12}', {"n": 12}, "input is called n"),
        ("Double", "[12]", {"n": 12}, "[12] read as 12"),
        ("Double", "１２", {"n": 12}, "'１２' read as 12"),
        ("Double", "{'n': 12}", {"n": 12}, "double quotes"),
        ("Double", '```json\n{"n": 12}\n```', {"n": 12}, "code fence"),
        ("Search", '{"query": ["Kyoto"]}', {"query": "Kyoto"}, "read as 'Kyoto'"),
    ],
)
def test_a_near_miss_is_repaired_and_noted(registry, name, text, arguments, note):
    """a near miss is repaired, and the model reads how to write it next time"""
    call = registry.bind(Action("", name, text))
    assert call.arguments == arguments
    assert note in " ".join(call.notes)
    assert "Note: " in registry.run(call).text()


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("Double", "[1, 2, 3]", "n has 3 values: call once per value"),
        ("Double", "1, 2, 3", "n has 3 values: call once per value"),
        ("Double", '{"n": 1, "n": 2}', "call once per value"),
        ("Double", "{'n': 1, 'n': 2}", "not JSON"),
        ("Double", "{'n': {1: 2}}", "not JSON"),
        ("Double", "{'n': b'1'}", "not JSON"),
        ("Double", "25", "maximum of 20"),
        ("Double", "twelve", 'not of type "integer"'),
        ("Double", '{"n": true}', 'true is not of type "integer"'),
        ("Double", '{"n": NaN}', "nan is not a number"),
        ("Double", '{"n": 1', "not JSON"),
        ("Double", '{"n": 1, "m": 2}', "'m' was unexpected"),
        ("Double", '{"n": 1, "\\ud800": 2}', "not JSON"),
        ("Double", "", 'not of type "integer"'),
        ("Measure", "1V", "JSON object like"),
        ("Measure", '{"range": "1 V", "seconds": 1}', '"1 V" is not one of'),
        ("Now", "tomorrow", "JSON object like {}"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_has_no_single_meaning_is_refused(registry, name, text, words):
    """what cannot be read in one way is refused, and the error says what to write"""
    seen = answer(registry, name, text)
    assert seen.kind == "invalid_arguments"
    assert words in f"{seen.message} {seen.hint}"
    assert f"Use {registry[name].signature()}" in seen.hint


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"numbers": [12, 15]}, "call once per value"),
        ({None: None}, "the name None is no text"),
        ({"n": {1: 2}}, "the name 1 is no text"),
        ([12], "not of type"),
        ({"n": 10**5000}, "4,200 digits"),
    ],
    ids=["list", "key", "inner key", "no object", "long"],
)
def test_a_function_call_that_no_tool_can_take_is_refused(arguments, words):
    """a list for one number, and what JSON cannot hold, are refused, bound or not"""
    registry = ToolRegistry([factorial()])
    error = registry.bind(ToolRequest("Factorial", arguments, "c"))
    assert (error.kind, words in error.text()) == ("invalid_arguments", True)
    seen = registry.run(ToolCall("Factorial", arguments, "c"))
    assert (seen.error.kind, seen.call_id) == ("invalid_arguments", "c")


@pytest.mark.parametrize("arguments", [{"num": [12]}, {"integer": "12"}, {"n": 12.0}])
def test_one_number_under_another_name_is_taken(arguments):
    """one number, under a name that the tool knows, alone or in a list, is taken"""
    registry = ToolRegistry([prime_factors()])
    call = registry.bind(ToolRequest("PrimeFactors", arguments, "call_xyz"))
    assert (call.arguments, call.call_id) == ({"n": 12}, "call_xyz")
    assert call.notes


def test_a_phrase_keeps_its_quotes(registry):
    """a text in quotes is a text: the tool gets it as it stands"""
    phrase = '"exact phrase"'
    for asked in (
        Action("", "Search", phrase),
        Action("", "Search", json.dumps({"query": phrase})),
        ToolRequest("Search", {"query": phrase}, "c"),
    ):
        assert registry.bind(asked).arguments == {"query": phrase}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "number", "multipleOf": 0.5}, 10**399),
        ({"type": "integer", "multipleOf": 0.5}, -(10**399)),
        ({"type": "number", "maximum": 0.5}, 10**399),
        ({"type": "string", "pattern": "^(a+)+$"}, "a" * 50_000 + "!"),
        ({"type": "string", "pattern": r"^((?=a)a+)+$"}, "a" * 5_000 + "!"),
        ({"type": "string", "pattern": r"^(a+)+\1$"}, "a" * 5_000 + "!"),
    ],
    ids=["multiple", "integer", "maximum", "pattern", "lookahead", "reference"],
)
def test_no_value_keeps_the_check_busy_or_breaks_it(schema, value):
    """a number or a text made to break the check is judged at once"""
    registry = ToolRegistry([tool("Put", {"properties": {"v": schema}}, dict)])
    started = time.thread_time()
    bound = registry.bind(ToolRequest("Put", {"v": value}, "c"))
    assert time.thread_time() - started < 2
    if isinstance(bound, ToolError):
        assert bound.kind == "invalid_arguments"
    else:
        assert registry.run(bound).text()


@pytest.mark.parametrize("depth", [101, 960, 100_000])
@pytest.mark.parametrize("kind", [list, dict])
def test_deep_arguments_of_a_function_call_are_refused(kind, depth):
    """a function call nested 960 deep, or 20,000, is an error that can be sent"""
    nested = 1
    for _ in range(depth):
        nested = [nested] if kind is list else {"t": nested}
    schema = {"properties": {"t": {}, "n": {"type": "integer"}}}
    registry = ToolRegistry([tool("Plant", schema, dict)])
    for arguments in ({"t": nested}, {"n": nested}):
        error = registry.bind(ToolRequest("Plant", arguments, "c"))
        assert (error.kind, "too deeply" in error.text()) == ("invalid_arguments", True)
        seen = registry.run(ToolCall("Plant", arguments, "c"))
        assert seen.error.kind == "invalid_arguments"


@pytest.mark.parametrize("text", ["{'n': 1if 1else 2}", r"{'n': 'C:\dir'}"])
def test_reading_a_python_dict_prints_nothing(registry, text):
    """what Python's parser warns of is the model's text, and nobody's code"""
    with warnings.catch_warnings(record=True) as printed:
        warnings.simplefilter("always")
        assert answer(registry, "Double", text).kind == "invalid_arguments"
    assert printed == []


def test_a_long_value_is_not_said_back_whole(registry):
    """the note about a repair is short, also when the value is long"""
    call = registry.bind(Action("", "Search", json.dumps({"query": ["x" * 10_000]})))
    assert len(call.notes[0]) < 200


def test_half_a_character_does_not_reach_the_model(registry):
    """a name with half a surrogate pair is refused in text that can be sent"""
    text = '{"\\ud800": 1, "\\ud800": 2}'
    error = registry.bind(Action("", "Double", text))
    assert "given twice" in error.text().encode("utf-8").decode()


def test_an_unknown_tool_lists_what_there_is(registry):
    """an unknown tool is answered with the nearest name and the list of names"""
    error = registry.bind(Action("", "Serch", "Kyoto"))
    assert error.kind == "unknown_tool"
    assert "'Serch'" in error.message
    assert "Did you mean Search?" in error.hint
    assert "Double, Measure, Search, Now" in error.hint


def test_calls_without_an_id_are_counted(registry):
    """a call without an id of its own gets the next number"""
    ids = [registry.bind(Action("", "Double", "1")).call_id for _ in range(3)]
    assert ids == ["call_1", "call_2", "call_3"]


# Running


def run_with(function, **more):
    made = tool("Any", {}, function, **more)
    return ToolRegistry([made]).run(ToolCall("Any", {}, "call_7"))


def raising(error):
    def run():
        raise error

    return run


def test_a_result_is_an_observation(registry):
    """what a tool returns is the observation of its call"""
    seen = registry.run(ToolCall("Double", {"n": 4}, "call_7"))
    assert seen == Observation("call_7", True, {"result": 8}, None, "Double")


@pytest.mark.parametrize("message", ["disk full", OSError("disk full")])
def test_a_failure_that_the_tool_foresaw_keeps_its_words(message):
    """a tool says why it failed: kind, message, whether to retry, and a hint"""
    failure = ToolFailure("full", message, False, "use another disk")
    expected = ToolError("full", "disk full", False, "use another disk")
    assert run_with(raising(failure)).error == expected


def test_the_words_of_a_failure_can_be_sent():
    """the words of a failure are cut, and hold no half of a surrogate pair"""
    long = "\ud800" + "x" * 30_000
    seen = run_with(raising(ToolFailure("busy", long, hint=long)), max_output_chars=900)
    assert len(seen.text().encode("utf-8")) < 2000


class Speechless(Exception):  # noqa: N818 - one that cannot be shown
    def __str__(self):
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    "error",
    [
        Speechless(),
        ValueError("\ud800"),
        RuntimeError("boom"),
        SystemExit(3),
        RecursionError(),
        KeyError("x" * 100_000),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_tool_that_raises_is_an_error_observation(error):
    """whatever a tool raises becomes an observation that names it, and stays short"""
    seen = run_with(raising(error))
    assert (seen.ok, seen.error.kind) == (False, "tool_raised")
    assert type(error).__name__ in seen.error.message
    assert len(seen.text().encode("utf-8")) < 500


def test_a_tool_that_gave_up_waiting_is_late():
    """a tool without a limit that waits for another in vain is a timeout as well"""
    seen = run_with(raising(TimedOut("no answer within 1 s")), timeout_s=None)
    assert (seen.error.kind, seen.error.retryable) == ("timeout", True)
    assert seen.error.message == "Any did not answer in time."


def test_a_tool_cannot_change_the_call():
    """a tool that changes its arguments does not change the call that was made"""
    schema = {"properties": {"rows": {"type": "array"}, "of": {"type": "object"}}}

    def take(rows, of):
        return {"result": [rows.pop(), of.pop("x")]}

    registry = ToolRegistry([tool("Take", schema, take)])
    call = ToolCall("Take", {"rows": [1, 2], "of": {"x": 3}}, "c")
    assert registry.run(call).result == {"result": [2, 3]}
    assert call.arguments == {"rows": [1, 2], "of": {"x": 3}}


def test_ctrl_c_is_not_a_tools_error():
    """KeyboardInterrupt passes: a person wants to stop"""
    with pytest.raises(KeyboardInterrupt):
        run_with(raising(KeyboardInterrupt()))


LOOP = {}
LOOP["self"] = LOOP


class Stubborn(dict):
    def items(self):
        raise KeyError("mine")


def test_output_that_cannot_be_looked_at_is_an_error():
    """a dict that raises when it is read is the tool's error, not a crash"""
    seen = run_with(lambda: Stubborn(x=1))
    assert (seen.error.kind, "KeyError" in seen.error.message) == ("tool_raised", True)


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (None, "NoneType, not a dict"),
        ("20", "str, not a dict"),
        ({"x": float("nan")}, "not JSON"),
        ({"x": float("inf")}, "not JSON"),
        ({"x": {1, 2}}, "not JSON"),
        ({(1, 2): 3}, "not JSON"),
        ({"x": b"1"}, "not JSON"),
        ({"x": "\ud800"}, "not JSON"),
        (LOOP, "not JSON"),
        ({"x": "a" * 30_000}, "the limit is 20000"),
    ],
    ids=["None", "text", "NaN", "inf", "set", "key", "bytes", "half", "loop", "long"],
)
def test_output_that_breaks_the_contract_is_an_error(output, words):
    """output that is no dict, no JSON or too long is an error, not a crash"""
    seen = run_with(lambda: output)
    assert (seen.ok, seen.error.kind) == (False, "bad_output")
    assert words in seen.error.message


def test_an_observation_does_not_change_with_the_tools_data():
    """a tool that goes on changing what it returned does not change the observation"""
    data = {"items": [1]}
    seen = run_with(lambda: data)
    data["items"].append(2)
    assert seen.result == {"items": [1]}


def test_a_wrong_call_by_hand_is_refused(registry):
    """a call that was never bound is checked all the same, before the tool runs"""
    seen = registry.run(ToolCall("Double", {"n": "12"}, "call_7"))
    assert (seen.error.kind, seen.call_id) == ("invalid_arguments", "call_7")
    assert registry.run(ToolCall("Nobody", {}, "c")).error.kind == "unknown_tool"


@pytest.mark.parametrize("n", [25, "12", (12,)], ids=repr)
def test_what_was_bound_before_does_not_vouch_for_another_call(registry, n):
    """other arguments in a call that was bound are checked before the tool runs"""
    call = registry.bind(Action("", "Double", "1"))
    assert registry.run(call).result == {"result": 2}
    other = dataclasses.replace(call, arguments={"n": n})
    assert registry.run(other).error.kind == "invalid_arguments"


def test_a_write_that_timed_out_is_not_repeated_blindly():
    """a WRITE that timed out may still happen: the error says so and is no retry"""
    gate = threading.Event()
    seen = run_with(
        lambda: {"result": gate.wait(10)}, effect=Effect.WRITE, timeout_s=0.02
    )
    gate.set()
    assert (seen.error.kind, seen.error.retryable) == ("timeout", False)
    assert "may still take effect" in seen.error.hint


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Double", "[" * 100_000),
        ("Measure", '{"n":' * 100_000),
        ("Search", "{" * 100_000),
    ],
    ids=["brackets", "fields", "braces"],
)
def test_a_hostile_input_is_answered_at_once(registry, name, text):
    """a hundred thousand brackets get a short error or go through, in half a second"""
    started = time.thread_time()
    bound = registry.bind(Action("", name, text))
    assert time.thread_time() - started < 5
    if isinstance(bound, ToolError):
        assert len(bound.text()) < 1000
    else:
        assert (bound.name, bound.arguments) == ("Search", {"query": text})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=5,
)


@given(
    st.sampled_from(["Double", "double", "Measure", "Search", "Now", "x"]),
    st.text(max_size=30)
    | json_values.map(lambda value: json.dumps(value))
    | st.dictionaries(st.sampled_from(["n", "query", "range", "input"]), json_values),
)
@settings(max_examples=200, deadline=None)
def test_nothing_that_a_model_writes_raises(name, written):
    """whatever a model writes: a call that gives an observation, or an error"""
    registry = ToolRegistry(
        [
            tool(),
            tool("Measure", MEASURE, lambda **given: given),
            tool("Search", {"properties": {"query": {"type": "string"}}}, dict),
            tool("Now", {}, dict),
        ]
    )
    asked = (
        Action("", name, written)
        if isinstance(written, str)
        else ToolRequest(name, written, "call_1")
    )
    bound = registry.bind(asked)
    if isinstance(bound, ToolError):
        assert bound.kind in {"invalid_arguments", "unknown_tool"}
        seen = Observation.failed("call_1", bound)
    else:
        seen = registry.run(bound)
        assert seen.ok
    assert seen.text().encode("utf-8")


# What the model reads


@pytest.mark.parametrize(
    ("seen", "text"),
    [
        (Observation("c", True, {"result": 20}, None), "20"),
        (Observation("c", True, {"result": "88 円"}, None), "88 円"),
        (Observation("c", True, {"result": [1, 2]}, None), "[1, 2]"),
        (
            Observation("c", True, {"volts": 1.5, "unit": "V"}, None),
            '{"volts": 1.5, "unit": "V"}',
        ),
        (Observation("c", True, {}, None), "{}"),
        (
            Observation("c", True, {"result": 20}, None, notes=("q is called query",)),
            "20\nNote: q is called query",
        ),
        (
            Observation.failed(
                "c", ToolError("timeout", "no answer.", True, "Ask less.")
            ),
            "Error (timeout): no answer. Ask less. The same call may work later.",
        ),
    ],
    ids=["one value", "text", "list", "fields", "empty", "note", "error"],
)
def test_the_text_of_an_observation(seen, text):
    """the model reads a single value as it is, fields as JSON, an error in sentences"""
    assert seen.text() == text


# What the room needs


def test_the_room_is_light():
    """entering the room imports neither LangChain nor what only a few calls need"""
    program = (
        "import sys, workbook.tools, workbook.tools.registry, workbook.tools.adapters\n"
        "heavy = {'langchain_core', 'pydantic', 'pandas'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=20
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_the_readers_checks_and_repairs_are_asked():
    """a registry checks and repairs with the functions it was given, in bind and run"""
    asked = []

    def validate(schema, arguments):
        asked.append(sorted(schema["properties"]))
        return ["no"] if arguments["n"] == 13 else []

    def repair(schema, arguments, aliases):
        return {"n": arguments["n"] + 1}, [f"input is {aliases['input']}"]

    schema = {"properties": {"n": {"type": "integer"}}, "required": ["n"]}
    tool = Tool("Echo", "Says it.", schema, lambda n: {"result": n})
    registry = ToolRegistry([tool], validate=validate, repair=repair)
    bound = registry.bind(ToolRequest("Echo", {"n": 1}, "c"))
    assert (bound.arguments, bound.notes) == ({"n": 2}, ("input is n",))
    assert registry.run(bound).text() == "2\nNote: input is n"
    assert registry.bind(ToolRequest("Echo", {"n": 12}, "c")).message == "no."
    refused = registry.run(ToolCall("Echo", {"n": 13}, "c"))
    assert refused.error.kind == "invalid_arguments"
    assert asked == [["n"]] * 3  # what was bound is not checked again
