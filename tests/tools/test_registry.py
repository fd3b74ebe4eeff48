"""The contract: definitions, binding, running, and what the model reads."""

import dataclasses
import json
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.loop.turns import Action
from workbook.models.base import ToolRequest
from workbook.tools.calls import Observation, ToolCall, ToolError, ToolFailure
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


# Definitions


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "web search"}, "web search"),
        ({"description": " "}, "describe it"),
        ({"parameters": {"properties": {"n": True}}}, "properties.n is True"),
        ({"timeout_s": 0}, "timeout_s is 0"),
        ({"timeout_s": float("nan")}, "timeout_s is nan"),
        ({"timeout_s": float("inf")}, "timeout_s is inf"),
        ({"effect": "rewrite"}, "effect is 'rewrite'; use read or write"),
        ({"run": awaited}, "nobody awaits"),
        ({"business_key": ("invoice",)}, "invoice"),
    ],
)
def test_a_wrong_definition_is_refused(change, words):
    """a tool that is defined wrongly is refused when it is defined, in a sentence"""
    fields = {"name": "A", "description": "a", "parameters": {}, "run": dict, **change}
    with pytest.raises(ContractError, match=words):
        Tool(**fields)


def test_a_registry_takes_no_second_tool_of_a_name():
    """two tools of one name are refused"""
    with pytest.raises(ContractError, match="already a tool named 'Double'"):
        ToolRegistry([tool(), tool()])


def test_the_description_for_the_prompt_has_a_line_each(registry):
    """a prompt gets one line a tool: name, arguments with types, description"""
    kinds = [{"type": "array"}, {"enum": ["all"]}, {"const": "none"}, True]
    tag = tool("Tag", {"properties": {"tags": {"anyOf": kinds}}})
    registry = ToolRegistry([*registry, tag])
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
        ("Measure", '{"range": "1V", "seconds": 2}', {"range": "1V", "seconds": 2}),
        ("Search", "12", {"query": "12"}),
        ("Now", "None", {}),
    ],
)
def test_text_becomes_arguments(registry, name, text, arguments):
    """a JSON object is the arguments, other text the value of the only one"""
    assert registry.bind(Action("", name, text), "c") == ToolCall(name, arguments, "c")


@pytest.mark.parametrize(
    ("name", "text", "note"),
    [
        ("double", "12", "called Double"),
        ("Double", '{"number": 12}', "number is called n"),
        ("Double", '{"input": 12}', "input is called n"),
        ("Double", '```json\n{"n": 12}\n```', "code fence"),
    ],
)
def test_a_near_miss_is_repaired_and_noted(registry, name, text, note):
    """a near miss is repaired, and the model reads how to write it next time"""
    call = registry.bind(Action("", name, text))
    assert call.arguments == {"n": 12}
    assert note in " ".join(call.notes)
    assert "Note: " in registry.run(call).text()


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("Double", "1, 2, 3", "n has 3 values: call once per value"),
        ("Double", '{"n": 1, "n": 2}', "call once per value"),
        ("Double", "{'n': 1}", "not JSON (Expecting property name"),
        ("Double", '{"n": NaN}', "nan is not a number"),
        ("Double", '{"n": 1, "m": 2}', "'m' was unexpected"),
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
        ({"number": [12, 15]}, "call once per value"),
        ({None: None}, "the name None is no text"),
    ],
    ids=["list", "key"],
)
def test_a_function_call_that_no_tool_can_take_is_refused(registry, arguments, words):
    """a list for one number, and what JSON cannot hold, are refused, bound or not"""
    error = registry.bind(ToolRequest("Double", arguments, "c"))
    assert (error.kind, words in error.text()) == ("invalid_arguments", True)
    seen = registry.run(ToolCall("Double", arguments, "c"))
    assert (seen.error.kind, seen.call_id) == ("invalid_arguments", "c")


def test_an_unknown_tool_lists_what_there_is(registry):
    """an unknown tool is answered with the nearest name and the list of names"""
    error = registry.bind(Action("", "Serch", "Kyoto"))
    assert error.kind == "unknown_tool"
    assert "'Serch'" in error.message
    assert "Did you mean Search?" in error.hint
    assert "Double, Measure, Search, Now" in error.hint
    assert registry.run(ToolCall("Serch", {}, "c")).error == error
    two = ToolRegistry([*registry, tool("se_arch")])  # two tools could be meant
    assert two.bind(Action("", "search", "Kyoto")).kind == "unknown_tool"


def test_a_call_keeps_its_id_or_gets_a_number(registry):
    """a call without an id of its own gets the next number"""
    asked = [Action("", "Double", "1")] * 2
    asked += [ToolRequest("Double", {"n": 1}, call_id) for call_id in ("c7", "")]
    ids = [registry.bind(each).call_id for each in asked]
    assert ids == ["call_1", "call_2", "c7", "call_3"]


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
    assert seen.text() == "8"
    seen = registry.run(ToolCall("Measure", {"range": "1V", "seconds": 2}, "c"))
    assert seen.text() == '{"volts": 1.5, "range": "1V", "seconds": 2}'


class Speechless(Exception):  # noqa: N818 - one that cannot be shown
    def __str__(self):
        raise RuntimeError("no words")


LONG = "\ud800" + "x" * 100_000


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ToolFailure("full", OSError("no disk."), False, "Wait."), "no disk. Wait."),
        (ToolFailure("busy", "no.", True), "no. The same call may work later."),
        (ToolFailure("busy", LONG, hint=LONG), "Error (busy): ?xxx"),
        (TimedOut("no answer within 1 s"), "Error (timeout): Any did not answer in"),
        (Speechless(), "Error (tool_raised): Any raised Speechless:"),
        (KeyError(LONG), "Error (tool_raised): Any raised KeyError:"),
        (SystemExit(3), "Error (tool_raised): Any raised SystemExit: 3"),
    ],
)
def test_what_a_tool_raises_is_a_short_error_observation(error, text):
    """a foreseen failure keeps kind, words, hint; whatever else comes is named"""
    seen = run_with(raising(error), max_output_chars=300)
    assert (seen.ok, seen.call_id) == (False, "call_7")
    assert text in seen.text()
    assert len(seen.text().encode("utf-8")) < 700


def test_a_tool_and_its_call_share_no_data():
    """a tool that changes its arguments, or its result later, changes no observation"""
    data = {"items": [1]}
    schema = {"properties": {"rows": {"type": "array"}}}
    registry = ToolRegistry([tool("Take", schema, lambda rows: rows.clear() or data)])
    call = ToolCall("Take", {"rows": [1, 2]}, "c")
    seen = registry.run(call)
    data["items"].append(2)
    assert (call.arguments, seen.result) == ({"rows": [1, 2]}, {"items": [1]})


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (None, "NoneType, not a dict"),
        ({"x": {1, 2}}, "not JSON"),
        ({"x": "a" * 30_000}, "the limit is 20000"),
    ],
    ids=["None", "set", "long"],
)
def test_output_that_breaks_the_contract_is_an_error(output, words):
    """output that is no dict, no JSON or too long is an error, not a crash"""
    seen = run_with(lambda: output)
    assert (seen.ok, seen.error.kind) == (False, "bad_output")
    assert words in seen.error.message


NUMBER = {"properties": {"v": {"type": "number", "multipleOf": 0.5}}}
TEXT = {"properties": {"v": {"type": "string", "pattern": r"(a*)*\1b"}}}


@pytest.mark.parametrize(
    ("parameters", "written"),
    [
        (INTEGER, "[" * 100_000),
        (MEASURE, '{"n":' * 90_000),
        (QUERY, '{"query": ["%s"]}' % ("x" * 10_000)),
        (NUMBER, "1" + "0" * 399),
        (TEXT, "a" * 5_000 + "!"),
    ],
    ids=["brackets", "fields", "list", "multiple", "pattern"],
)
def test_a_hostile_input_is_answered_at_once(parameters, written):
    """what is made to break reading or checking is judged in no time, in few words"""
    registry = ToolRegistry([tool(parameters=parameters)])
    started = time.thread_time()
    bound = registry.bind(Action("", "Double", written))
    assert time.thread_time() - started < 5
    said = bound.text() if isinstance(bound, ToolError) else str(bound.notes)
    assert len(said) < 1000


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


def test_the_room_is_light():
    """tools and scripts import neither LangChain nor what only a few calls need

    Also where every tool is made; of those, `tool(function)` needs pydantic.
    """
    program = (
        "import sys, workbook.tools.formats, workbook.models.script\n"
        "from workbook.environments.catalogue import makers\n"
        "heavy = {'langchain_core', 'pandas', 'httpx', 'rich', 'numpy'}\n"
        "all_makers = makers().values()\n"
        "print(sorted((heavy | {'pydantic'}) & set(sys.modules)))\n"
        "[make() for make in all_makers]\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    asked = "make a tool in TOOLS, `lambda: tool(your_tool)`, not with `@tool`"
    assert done.stdout.split("\n") == ["[]", "[]", ""], asked + done.stderr


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
    other = dataclasses.replace(bound, arguments={"n": 13})
    assert registry.run(other).error == refused.error  # but other arguments are
