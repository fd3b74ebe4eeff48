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

INTEGER = {
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
QUERY = {"properties": {"query": {"type": "string"}}}


def tool(name="Double", parameters=INTEGER, run=lambda n: {"result": 2 * n}, **more):
    return Tool(name, f"{name} it.", parameters, run, **{"timeout_s": None, **more})


async def awaited():
    return {}


@pytest.fixture
def registry():
    return ToolRegistry(
        [
            tool(aliases={"number": "n"}),
            tool("Measure", MEASURE, lambda **given: {"volts": 1.5, **given}),
            tool("Search", QUERY, lambda query: {"result": query}),
            tool("Now", {}, lambda: {"result": "noon"}),
        ]
    )


def nested(depth, kind):
    value = 1
    for _ in range(depth):
        value = [value] if kind is list else {"t": value}
    return value


# Definitions


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "web search"}, "web search"),
        ({"name": ""}, "letters"),
        ({"description": " "}, "describe it"),
        ({"parameters": {"type": "array"}}, "'array'"),
        ({"parameters": {"additionalProperties": True}}, "must be false"),
        ({"parameters": {"properties": {"n": True}}}, "properties.n is True"),
        ({"timeout_s": 0}, "timeout_s is 0"),
        ({"timeout_s": float("nan")}, "timeout_s is nan"),
        ({"effect": "rewrite"}, "rewrite"),
        ({"run": None}, "run is None"),
        ({"run": awaited}, "nobody awaits"),
        ({"business_key": ("invoice",)}, "invoice"),
    ],
)
def test_a_wrong_definition_is_refused(change, words):
    """a tool that is defined wrongly is refused when it is defined, in a sentence"""
    fields = {"name": "A", "description": "a", "parameters": {}, "run": dict, **change}
    with pytest.raises(ContractError, match=words):
        Tool(**fields)


def test_a_definition_cannot_be_changed_from_outside(registry):
    """a tool keeps its schema, and a registry takes no second tool of a name"""
    schema = {"properties": {"n": {"type": "integer"}}}
    made = tool(parameters=schema)
    schema["properties"]["n"]["type"] = "string"
    assert made.parameters["properties"]["n"]["type"] == "integer"
    with pytest.raises(ContractError, match="already a tool named 'Double'"):
        registry.register(made)


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
        ("Search", "12", {"query": "12"}),
        ("Search", "{1, 2}", {"query": "{1, 2}"}),
        ("Search", '"exact phrase"', {"query": '"exact phrase"'}),
        ("Search", '{"query": "\'12\'"}', {"query": "'12'"}),
        ("Search", "line one\nline two", {"query": "line one\nline two"}),
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
        ("Double", "1, 2, 3", "n has 3 values: call once per value"),
        ("Double", '{"n": 1, "n": 2}', "call once per value"),
        ("Double", '{"\\ud800": 1, "\\ud800": 2}', "given twice"),
        ("Double", "{'n': 1, 'n': 2}", "not JSON"),
        ("Double", "{'n': {1: 2}}", "not JSON"),
        ("Double", "{'n': 1" + " " * 10_000 + "}", "not JSON"),
        ("Double", "25", "maximum of 20"),
        ("Double", "twelve", 'not of type "integer"'),
        ("Double", '{"n": NaN}', "nan is not a number"),
        ("Double", '{"n": 1', "not JSON"),
        ("Double", '{"n": 1, "m": 2}', "'m' was unexpected"),
        ("Double", "", 'not of type "integer"'),
        ("Measure", "1V", "JSON object like"),
        ("Now", "tomorrow", "JSON object like {}"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_has_no_single_meaning_is_refused(registry, name, text, words):
    """what cannot be read in one way is refused, and the error says what to write"""
    error = registry.bind(Action("", name, text))
    assert (error.kind, error.retryable) == ("invalid_arguments", False)
    assert words in error.text().encode("utf-8").decode()
    assert f"Use {registry[name].signature()}" in error.hint


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"numbers": [12, 15]}, "call once per value"),
        ({None: None}, "the name None is no text"),
        ({"n": {1: 2}}, "the name 1 is no text"),
        ([12], "not of type"),
        ({"n": 10**5000}, "4,200 digits"),
        ({"n": nested(101, dict)}, "too deeply"),
        ({"n": nested(100_000, list)}, "too deeply"),
    ],
    ids=["list", "key", "inner key", "no object", "long", "101 levels", "100,000"],
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
    assert (repr(call.arguments), call.call_id) == ("{'n': 12}", "call_xyz")
    assert call.notes


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "number", "multipleOf": 0.5}, 10**399),
        ({"type": "number", "maximum": 0.5}, 10**399),
        ({"type": "string", "pattern": "^(a+)+$"}, "a" * 50_000 + "!"),
        ({"type": "string", "pattern": r"^((?=a)a+)+$"}, "a" * 5_000 + "!"),
        ({"type": "string", "pattern": r"^(a+)+\1$"}, "a" * 5_000 + "!"),
    ],
    ids=["multiple", "maximum", "pattern", "lookahead", "reference"],
)
def test_no_value_keeps_the_check_busy_or_breaks_it(schema, value):
    """a number or a text made to break the check is judged at once"""
    registry = ToolRegistry([tool("Put", {"properties": {"v": schema}}, dict)])
    started = time.thread_time()
    bound = registry.bind(ToolRequest("Put", {"v": value}, "c"))
    assert time.thread_time() - started < 2
    assert isinstance(bound, ToolCall) or bound.kind == "invalid_arguments"


@pytest.mark.parametrize("text", ["{'n': 1if 1else 2}", r"{'n': 'C:\dir'}"])
def test_reading_a_python_dict_prints_nothing(registry, text):
    """what Python's parser warns of is the model's text, and nobody's code"""
    with warnings.catch_warnings(record=True) as printed:
        warnings.simplefilter("always")
        assert registry.bind(Action("", "Double", text)).kind == "invalid_arguments"
    assert printed == []


def test_a_long_value_is_not_said_back_whole(registry):
    """the note about a repair is short, also when the value is long"""
    call = registry.bind(Action("", "Search", json.dumps({"query": ["x" * 10_000]})))
    assert len(call.notes[0]) < 200


def test_an_unknown_tool_lists_what_there_is(registry):
    """an unknown tool is answered with the nearest name and the list of names"""
    error = registry.bind(Action("", "Serch", "Kyoto"))
    assert error.kind == "unknown_tool"
    assert "'Serch'" in error.message
    assert "Did you mean Search?" in error.hint
    assert "Double, Measure, Search, Now" in error.hint
    assert registry.run(ToolCall("Serch", {}, "c")).error == error
    registry.register(tool("se_arch"))  # now two tools could be meant
    assert registry.bind(Action("", "search", "Kyoto")).kind == "unknown_tool"


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
    [Speechless(), ValueError("\ud800"), SystemExit(3), KeyError("x" * 100_000)],
    ids=lambda error: type(error).__name__,
)
def test_a_tool_that_raises_is_an_error_observation(error):
    """whatever a tool raises becomes an observation that names it, and stays short"""
    seen = run_with(raising(error))
    assert (seen.ok, seen.error.kind) == (False, "tool_raised")
    assert type(error).__name__ in seen.error.message
    assert len(seen.text().encode("utf-8")) < 500


def test_ctrl_c_is_not_a_tools_error():
    """KeyboardInterrupt passes: a person wants to stop"""
    with pytest.raises(KeyboardInterrupt):
        run_with(raising(KeyboardInterrupt()))


def test_a_tool_that_gave_up_waiting_is_late():
    """a tool without a limit that waits for another in vain is a timeout as well"""
    seen = run_with(raising(TimedOut("no answer within 1 s")), timeout_s=None)
    assert (seen.error.kind, seen.error.retryable) == ("timeout", True)
    assert seen.error.message == "Any did not answer in time."


def test_a_write_that_timed_out_is_not_repeated_blindly():
    """a WRITE that timed out may still happen: the error says so and is no retry"""
    gate = threading.Event()
    write = {"effect": Effect.WRITE, "timeout_s": 0.02}
    seen = run_with(lambda: {"result": gate.wait(60)}, **write)
    gate.set()
    assert (seen.error.kind, seen.error.retryable) == ("timeout", False)
    assert "may still take effect" in seen.error.hint


def test_a_tool_and_its_call_share_no_data():
    """a tool that changes its arguments, or its result later, changes no observation"""
    data = {"items": [1]}
    schema = {"properties": {"rows": {"type": "array"}}}
    registry = ToolRegistry([tool("Take", schema, lambda rows: rows.clear() or data)])
    call = ToolCall("Take", {"rows": [1, 2]}, "c")
    seen = registry.run(call)
    data["items"].append(2)
    assert (call.arguments, seen.result) == ({"rows": [1, 2]}, {"items": [1]})


class Stubborn(dict):
    def items(self):
        raise KeyError("mine")


def test_output_that_cannot_be_looked_at_is_an_error():
    """a dict that raises when it is read is the tool's error, not a crash"""
    seen = run_with(lambda: Stubborn(x=1))
    assert (seen.error.kind, "KeyError" in seen.error.message) == ("tool_raised", True)


LOOP = {}
LOOP["self"] = LOOP


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (None, "NoneType, not a dict"),
        ({"x": float("nan")}, "not JSON"),
        ({"x": {1, 2}}, "not JSON"),
        ({(1, 2): 3}, "not JSON"),
        ({"x": "\ud800"}, "not JSON"),
        (LOOP, "not JSON"),
        ({"x": "a" * 30_000}, "the limit is 20000"),
    ],
    ids=["None", "NaN", "set", "key", "half", "loop", "long"],
)
def test_output_that_breaks_the_contract_is_an_error(output, words):
    """output that is no dict, no JSON or too long is an error, not a crash"""
    seen = run_with(lambda: output)
    assert (seen.ok, seen.error.kind) == (False, "bad_output")
    assert words in seen.error.message


@pytest.mark.parametrize("n", [25, "12", (12,)], ids=repr)
def test_what_was_bound_before_does_not_vouch_for_another_call(registry, n):
    """other arguments in a call that was bound are checked before the tool runs"""
    call = registry.bind(Action("", "Double", "1"))
    assert registry.run(call).result == {"result": 2}
    other = dataclasses.replace(call, arguments={"n": n})
    assert registry.run(other).error.kind == "invalid_arguments"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Double", "[" * 100_000),
        ("Measure", '{"n":' * 90_000),
        ("Search", "{" * 9_999),
    ],
    ids=["brackets", "fields", "braces"],
)
def test_a_hostile_input_is_answered_at_once(registry, name, text):
    """thousands of brackets get a short error or go through, in no time"""
    started = time.thread_time()
    bound = registry.bind(Action("", name, text))
    assert time.thread_time() - started < 5
    if isinstance(bound, ToolError):
        assert len(bound.text()) < 1000
    else:
        assert bound.arguments == {"query": text}


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
    | json_values.map(json.dumps)
    | st.dictionaries(st.sampled_from(["n", "query", "range", 1, None]), json_values),
)
@settings(max_examples=200, deadline=None)
def test_nothing_that_a_model_writes_raises(name, written):
    """whatever a model writes: a call that gives an observation, or an error"""
    made = {"Double": INTEGER, "Measure": MEASURE, "Search": QUERY, "Now": {}}
    registry = ToolRegistry(tool(each, made[each], dict) for each in made)
    as_text = isinstance(written, str)
    asked = Action("", name, written) if as_text else ToolRequest(name, written, "c")
    bound = registry.bind(asked)
    if isinstance(bound, ToolError):
        assert bound.kind in {"invalid_arguments", "unknown_tool"}
        assert bound.text().encode("utf-8")
    else:
        seen = registry.run(bound)
        assert seen.ok
        assert seen.text().encode("utf-8")


# What the model reads


@pytest.mark.parametrize(
    ("seen", "text"),
    [
        (Observation("c", True, {"result": "88 円"}, None), "88 円"),
        (Observation("c", True, {"result": [1, 2]}, None), "[1, 2]"),
        (Observation("c", True, {"a": 1.5, "b": "V"}, None), '{"a": 1.5, "b": "V"}'),
        (
            Observation("c", True, {"result": 20}, None, notes=("q is called query",)),
            "20\nNote: q is called query",
        ),
        (
            Observation.failed("c", ToolError("timeout", "no answer.", True, "Wait.")),
            "Error (timeout): no answer. Wait. The same call may work later.",
        ),
    ],
    ids=["text", "list", "fields", "note", "error"],
)
def test_the_text_of_an_observation(seen, text):
    """the model reads a single value as it is, fields as JSON, an error in sentences"""
    assert seen.text() == text


def test_the_room_is_light():
    """entering the room imports neither LangChain nor what only a few calls need"""
    program = (
        "import sys, workbook.tools, workbook.tools.registry, workbook.tools.formats\n"
        "heavy = {'langchain_core', 'pydantic', 'pandas'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
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

    registry = ToolRegistry([tool()], validate=validate, repair=repair)
    bound = registry.bind(ToolRequest("Double", {"n": 1}, "c"))
    assert (bound.arguments, bound.notes) == ({"n": 2}, ("input is n",))
    assert registry.run(bound).text() == "4\nNote: input is n"
    assert registry.bind(ToolRequest("Double", {"n": 12}, "c")).message == "no."
    refused = registry.run(ToolCall("Double", {"n": 13}, "c"))
    assert refused.error.kind == "invalid_arguments"
    assert asked == [["n"]] * 3  # what was bound is not checked again
