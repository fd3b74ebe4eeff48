"""What a tool promises, and the registry that holds it to that."""

from __future__ import annotations

import asyncio
import functools
import json
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import replace
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from workbook.runtime.calls import Effect, Observation, ToolCall, ToolError, ToolFailure
from workbook.runtime.model import ToolRequest
from workbook.runtime.tools import ContractError, Tool, ToolRegistry, tool
from workbook.runtime.turns import Action
from workbook.runtime.waiting import TimedOut

N = {"type": "integer", "minimum": 0, "maximum": 20}
INTEGER = {"properties": {"n": N}, "required": ["n"]}
RANGE = {"range": {"type": "string", "enum": ["1V", "10V"]}}
MEASURE = {"properties": {**RANGE, "seconds": {"type": "number"}}}
MEASURE["required"] = ["range", "seconds"]
QUERY = {"properties": {"query": {"type": "string"}}}


def made(name="Double", parameters=INTEGER, run=lambda n: {"result": 2 * n}, **more):
    return Tool(name, f"{name} it.", parameters, run, **{"timeout_s": None, **more})


async def awaited():
    return {}


@pytest.fixture
def registry():
    measure = made("Measure", MEASURE, lambda **given: {"volts": 1.5, **given})
    search = made("Search", QUERY, lambda query: {"result": query})
    now = made("Now", {}, lambda: {"result": "noon"})
    return ToolRegistry([made(aliases={"number": "n"}), measure, search, now])


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
        ({"effect": "rewrite"}, "'rewrite' is not a valid Effect"),
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
        ToolRegistry([made(), made()])


def test_the_description_for_the_prompt_has_a_line_each(registry):
    """a prompt gets one line a tool: name, arguments with types, description"""
    kinds = [{"type": "array"}, {"enum": ["all"]}, {"$ref": "#/$defs/None"}]
    definitions = {"None": {"const": "none"}}
    schema = {"properties": {"tags": {"anyOf": kinds}}, "$defs": definitions}
    registry = ToolRegistry([*registry, made("Tag", schema)])
    assert registry.describe().splitlines() == [
        "Double(n: integer): Double it.",
        'Measure(range: "1V" | "10V", seconds: number): Measure it.',
        "Search(query?: string): Search it.",
        "Now(): Now it.",
        'Tag(tags?: array | "all" | "none"): Tag it.',
    ]
    assert repr(registry["Now"]) == "<Tool Now(): Now it.>"


# @tool


class Size(Enum):
    SMALL = "s"
    LARGE = "l"


@tool
def convert(amount: float, to: Literal["EUR", "USD"] = "EUR") -> str:
    """Convert an amount
    of money.

    What stands here is for those who read the code.

    Args:
        amount: in dollars,
            cents included
        to (str): a currency
    """
    return f"{amount:.2f} {to}"


def call(tool: Tool, **arguments: Any) -> Observation:
    registry = ToolRegistry([tool])
    return registry.run(registry.bind_call(tool.name, arguments, "call_1"))


def test_a_function_is_a_tool():
    """name, description and schema come from the function, and its call is a result"""
    assert convert.name == "convert"
    assert convert.description == "Convert an amount of money."
    to = {"type": "string", "enum": ["EUR", "USD"], "description": "a currency"}
    assert convert.parameters == {
        "type": "object",
        "properties": {
            "amount": {"type": "number", "description": "in dollars, cents included"},
            "to": to,
        },
        "required": ["amount"],
        "additionalProperties": False,
    }
    assert (convert.effect, convert.timeout_s) == (Effect.READ, 10.0)
    assert call(convert, amount=5).result == {"result": "5.00 EUR"}


def test_fields_of_the_tool_can_be_given():
    """a name, an effect and other fields of a tool go into the brackets"""

    @tool(name="Send", effect="write", timeout_s=None, business_key=("to",))
    def send(to: str) -> None:
        """Send a letter."""

    assert (send.name, send.effect, send.timeout_s) == ("Send", Effect.WRITE, None)
    assert send.business_key == ("to",)


def test_a_call_takes_values_as_the_hints_have_them():
    """the function gets members of an Enum, its own defaults, and may be a method"""
    seen: list[Any] = []

    class Shop:
        def order(
            self,
            size: Size,
            more: list[Size] | None = None,
            n: Annotated[int, Field(ge=1)] | None = 1,
            gift: bool = Field(False, description="wrapped"),
        ) -> dict:
            """Order shirts."""
            seen.append((size, more, n, gift))
            return {"ordered": 1}

    order = tool(Shop().order)
    types = 'size: "s" | "l", more?: array | null, n?: integer | null, gift?: boolean'
    assert order.signature() == f"order({types})"
    assert call(order, size="s", more=["l"]).result == {"ordered": 1}
    assert call(order, size="l", n=12, gift=True).ok
    small, large = (Size.SMALL, [Size.LARGE], 1, False), (Size.LARGE, None, 12, True)
    assert seen == [small, large]


def no_hint(n): ...


def many(*numbers: int): ...


def by_position(n: int, /): ...


async def later(n: int):
    """Answers after a turn of the event loop."""
    await asyncio.sleep(0)
    return {"result": n + 1}


def of_objects(n: list[Tool]): ...


def of_nobody_knows_what(n: Undefined): ...  # noqa: F821


def test_an_async_def_is_a_tool():
    """it runs in an event loop of its own where nobody has one"""
    call = ToolCall("later", {"n": 1}, "c")
    assert ToolRegistry([tool(later)]).run(call).result == {"result": 2}


def test_the_model_reads_two_ends_of_a_long_result_and_the_trace_has_it_whole():
    """`shown_chars` is of what the model reads"""
    long = replace(convert, shown_chars=20, run=lambda **_: {"result": "a" * 50 + "z"})
    registry = ToolRegistry([long])
    seen = registry.run(ToolCall("convert", {"amount": 1, "to": "USD"}, "c"))
    assert len(seen.text()) == 51
    assert registry.shown(seen).startswith("aaaaaaaaaa\n[... 31 characters left out")
    assert registry.shown(seen).endswith("z")


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (no_hint, "no_hint: n has no type hint"),
        (many, r"\*numbers"),
        (by_position, "is not given by name"),
        (of_objects, "of_objects: a type has no JSON Schema"),
        (of_nobody_knows_what, "Undefined"),
        (functools.partial(convert.run, to="USD"), "write a def"),
    ],
)
def test_a_function_that_cannot_be_a_tool_is_refused(function: Any, words: str):
    """what is missing in the function stands in a sentence"""
    with pytest.raises(ContractError, match=words):
        tool(function)


# Binding


@pytest.mark.parametrize(
    ("name", "text", "note"),
    [
        ("Double", "12", ""),
        ("double", "12", "the tool is called Double, not 'double'"),
        ("Double", '{"number": 12}', "number is called n"),
        ("Double", '{"input": "12"}', "n: '12' read as 12"),
        ("Double", '{"n": 12.0}', ""),
        ("Double", '```json\n{"n": 12}\n```', "code fence"),
    ],
)
def test_a_near_miss_is_repaired_and_noted(registry, name, text, note):
    """a near miss is repaired, and the model reads how to write it next time"""
    call = registry.bind(Action("", name, text))
    assert repr(call.arguments) == "{'n': 12}"
    assert note in " ".join(call.notes)
    assert registry.run(call).text() == "\nNote: ".join(["24", *call.notes])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1, 2, 3", "n has 3 values: call once per value"),
        ('{"n": NaN}', "arguments: not JSON ("),
        ('{"n": 1, "m": 2}', "'m' was unexpected"),
        ('{"n": 25}', "arguments.n: 25 is greater than the maximum of 20"),
    ],
)
def test_what_has_no_single_meaning_is_refused(registry, text, words):
    """what cannot be read in one way is refused, and the error shows how to write it"""
    error = registry.bind(Action("", "Double", text))
    assert (error.kind, error.retryable) == ("invalid_arguments", False)
    assert words in error.text()
    assert "Use Double(n: integer)." in error.hint


def test_a_strict_registry_takes_json_objects_alone(registry):
    """with `strict`, an Action Input must be a JSON object; the error shows one"""
    strict = ToolRegistry(registry, strict=True)
    refused = strict.bind(Action("", "Double", "12"))
    assert refused.message == 'the input is not a JSON object like {"n": 1}.'
    assert strict.bind(Action("", "Double", '{"n": 12}')).arguments == {"n": 12}


@pytest.mark.parametrize(
    ("name", "written", "arguments"),
    [
        ("Double", {"n": 1}, {"n": 1}),
        ("Double", '{"n": 1}', {"n": 1}),
        ("Now", "", {}),
        ("Now", None, {}),
        ("Now", "null", {}),
        ("Double", [1], 'arguments: [1] is not of type "object"'),
        ("Double", '{"n": 1', "the arguments are not JSON ("),
        ("Double", "[" * 5000, "the arguments are not JSON ("),
        ("Double", {None: None}, "was unexpected"),
        ("Double", {"number": [12, 15]}, "n has 2 values: call once per value"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_function_call_is_read_or_refused(registry, name, written, arguments):
    """a function call has data or the text of JSON; what is neither is refused"""
    bound = registry.bind_call(name, written, "c")
    assert bound == registry.bind(ToolRequest(name, written, "c"))
    if isinstance(arguments, dict):
        assert bound == ToolCall(name, arguments, "c")
    else:
        assert arguments in bound.text()


def test_an_unknown_tool_lists_what_there_is(registry):
    """an unknown tool is answered with the nearest name and the list of names"""
    error = registry.bind(Action("", "Serch", "Kyoto"))
    assert error.text() == (
        "Error (unknown_tool): there is no tool named 'Serch'. "
        "Did you mean Search? There is: Double, Measure, Search, Now."
    )
    assert registry.run(ToolCall("Serch", {}, "c")).error == error
    two = ToolRegistry([*registry, made("se_arch")])  # two tools could be meant
    assert two.bind(Action("", "search", "Kyoto")).kind == "unknown_tool"


def test_a_call_keeps_its_id_or_gets_a_number(registry):
    """a call without an id of its own gets the next number"""
    asked = [Action("", "Double", "1")] * 2
    asked += [ToolRequest("Double", {"n": 1}, call_id) for call_id in ("c7", "", None)]
    ids = [registry.bind(each).call_id for each in asked]
    assert ids == ["call_1", "call_2", "c7", "call_3", "call_4"]


def test_the_readers_checks_and_repairs_are_asked():
    """a registry checks and repairs by the functions that it was given"""

    def validate(schema, arguments):
        return ["no"] if arguments["n"] == 13 else []

    def repair(schema, arguments, aliases):
        return {"n": arguments["n"] + 1}, [f"input is {aliases['input']}"]

    registry = ToolRegistry([made()], validate=validate, repair=repair)
    bound = registry.bind(ToolRequest("Double", {"n": 1}, "c"))
    assert (bound.arguments, bound.notes) == ({"n": 2}, ("input is n",))
    assert registry.run(bound).text() == "4\nNote: input is n"
    assert registry.bind(ToolRequest("Double", {"n": 12}, "c")).message == "no."
    assert registry.problems("Double", {"n": 13}) == ["no"]


# Running


def run_with(function, **more):
    registry = ToolRegistry([made("Any", {}, function, **more)])
    return registry.run(ToolCall("Any", {}, "call_7"))


def raising(error):
    def run():
        raise error

    return run


def test_a_result_is_an_observation(registry):
    """what a tool returns is the observation of its call"""
    seen = registry.run(ToolCall("Double", {"n": 4}, "call_7"))
    assert seen == Observation("call_7", True, {"result": 8}, None, "Double")
    seen = registry.run(ToolCall("Measure", {"range": "1V", "seconds": 2}, "c"))
    assert seen.text() == '{"volts": 1.5, "range": "1V", "seconds": 2}'


@pytest.mark.parametrize("arguments", [{"n": 25}, {}, {"n": float("nan")}, {1: {2}}])
def test_a_call_that_nobody_bound_is_checked(registry, arguments):
    """a call that was written by hand, or changed since, is held to the schema too"""
    seen = registry.run(ToolCall("Double", arguments, "c"))
    assert (seen.error.kind, seen.call_id) == ("invalid_arguments", "c")


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
        (TimedOut("no answer"), "Error (timeout): Any did not answer in time."),
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


def test_ctrl_c_is_no_error_of_the_tool():
    """a KeyboardInterrupt ends the call, and is no observation"""
    with pytest.raises(KeyboardInterrupt):
        run_with(raising(KeyboardInterrupt))


@pytest.mark.parametrize("rows", [[1, 2], "one"])
def test_a_tool_and_its_call_share_no_data(rows):
    """a tool that changes its arguments, or its result later, changes no observation"""
    data, given = {"items": rows}, {"rows": [rows]}
    schema = {"properties": {"rows": {}}}
    registry = ToolRegistry([made("Take", schema, lambda rows: rows.clear() or data)])
    bound = registry.bind_call("Take", given, "c")
    seen = registry.run(bound)
    data["items"] = given["rows"] = None
    assert (bound.arguments, seen.result) == ({"rows": [rows]}, {"items": rows})


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (None, "Any returned NoneType, not a dict."),
        ({"x": {1, 2}}, "Any returned what is not JSON ("),
        ({"x": "\ud800"}, "Any returned what is not JSON ("),
        ({"x": "a" * 30_000}, "Any returned 30009 characters; the limit is 20000."),
    ],
    ids=["None", "set", "half", "long"],
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
        (QUERY, "```" * 20_000),
    ],
    ids=["brackets", "fields", "list", "multiple", "pattern", "fences"],
)
def test_a_hostile_input_is_answered_at_once(parameters, written):
    """what is made to break reading or checking is judged in no time, in few words"""
    registry = ToolRegistry([made(parameters=parameters)])
    started = time.thread_time()
    bound = registry.bind(Action("", "Double", written))
    assert time.thread_time() - started < 5
    text = bound.text() if isinstance(bound, ToolError) else str(bound.notes)
    assert len(text) < 1000


simple = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)
json_values = simple | st.lists(simple, max_size=3) | st.just({"n": [{}]})


@given(
    st.sampled_from(["Double", "double", "Measure", "Search", "Now", "x"]),
    st.text(max_size=30)
    | json_values.map(json.dumps)
    | st.dictionaries(st.sampled_from(["n", "query", "range", 1, None]), json_values),
    st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_nothing_that_a_model_writes_raises(name, written, is_text):
    """whatever a model writes: a call that gives an observation, or an error"""
    schemas = {"Double": INTEGER, "Measure": MEASURE, "Search": QUERY, "Now": {}}
    registry = ToolRegistry(made(each, schemas[each], dict) for each in schemas)
    is_text = is_text and isinstance(written, str)
    asked = Action("", name, written) if is_text else ToolRequest(name, written, "c")
    bound = registry.bind(asked)
    if isinstance(bound, ToolError):
        assert bound.kind in {"invalid_arguments", "unknown_tool"}
        assert bound.text().encode("utf-8")
    else:
        seen = registry.run(bound)
        assert seen.ok
        assert seen.text().encode("utf-8")


# Time


@pytest.mark.parametrize(
    ("effect", "hint"),
    [(Effect.READ, "go on without it"), (Effect.WRITE, "may still take effect")],
)
def test_a_stuck_tool_gives_its_observation_on_time(effect, hint):
    """it is answered at once, and its late result dropped; a READ may be made again"""
    gate = threading.Event()
    started = time.perf_counter()
    seen = run_with(lambda: {"at_last": gate.wait(60)}, effect=effect, timeout_s=0.2)
    gate.set()
    assert 0.2 <= time.perf_counter() - started < 30
    assert (seen.ok, seen.error.kind) == (False, "timeout")
    assert seen.error.retryable is (effect is Effect.READ)
    assert hint in seen.error.hint
    assert "within 0.2 s" in seen.error.message


def test_how_a_call_is_waited_for_is_up_to_the_caller(registry):
    """`wait` gets the call as a function, and the tool's time limit"""

    def wait(made, timeout_s):
        return {"made": made(), "limit": timeout_s}

    seen = registry.run(ToolCall("Now", {}, "c"), wait)
    assert seen.result == {"made": {"result": "noon"}, "limit": None}


def output_of(program):
    """Return the exit code, the output and the errors of a Python program."""
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("work", ["pass", "time.sleep(0.001)", "time.sleep(60)"])
def test_a_tool_that_was_given_up_does_not_end_the_process(work):
    """a call that was given up inside of pydantic ends with the process: it exits 0"""
    program = f"""
        import time
        from pydantic import validate_call
        from workbook.runtime.tools import Tool, ToolRegistry
        from workbook.runtime.calls import ToolCall

        @validate_call
        def work(n: float):
            while True:  # it wakes up while Python exits
                {work}

        schema = {{"properties": {{"n": {{"type": "number"}}}}}}
        registry = ToolRegistry([Tool("Work", "Works.", schema, work, timeout_s=0.1)])
        print(registry.run(ToolCall("Work", {{"n": 1}}, "c")).error.kind)
    """
    started = time.perf_counter()
    assert output_of(program) == (0, "timeout\n", "")
    assert time.perf_counter() - started < 4


def test_tools_are_light():
    """a tool with a schema of its own loads nothing that only a few tools need"""
    program = """
        import sys, workbook.runtime.wrappers
        heavy = {'pydantic', 'sqlite3', 'httpx', 'openai', 'langchain_core'}
        print(sorted(heavy & set(sys.modules)))
    """
    assert output_of(program) == (0, "[]\n", "")
