"""What a tool promises, and the registry that holds it to that.

What the checks and repairs of arguments do by themselves is in `test_validation.py`
and `test_repair.py`, which are tests of exercises too.
"""

from __future__ import annotations

import functools
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import replace
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from workbook.runtime.calls import Effect, ToolCall, ToolError, ToolFailure
from workbook.runtime.model import ToolRequest
from workbook.runtime.tools import ContractError, Tool, ToolRegistry, tool
from workbook.runtime.turns import Action
from workbook.runtime.waiting import TimedOut

INTEGER = {"type": "integer"}
COUNT = {"properties": {"n": INTEGER | {"maximum": 20}}, "required": ["n"]}
RANGE = {"range": {"type": "string", "enum": ["1V", "10V"]}}
MEASURE = {"properties": {**RANGE, "seconds": {"type": "number"}}}
MEASURE["required"] = ["range", "seconds"]
QUERY = {"properties": {"query": {"type": "string"}}}


def made(name="Double", parameters=COUNT, run=lambda n: {"result": 2 * n}, **more):
    return Tool(name, f"{name} it.", parameters, run, **{"timeout_s": None, **more})


async def later(n: int):
    """Answers in an event loop."""
    return {"result": n + 1}


@pytest.fixture
def registry():
    measure = made("Measure", MEASURE, lambda **given: {"volts": 1.5, **given})
    search = made("Search", QUERY, lambda query: {"result": query})
    now = made("Now", {}, lambda: {"result": "noon"})
    return ToolRegistry([made(aliases={"number": "n"}), measure, search, now])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "web search"}, "web search"),
        ({"description": " "}, "describe it"),
        ({"parameters": {"properties": {"n": True}}}, "properties.n is True"),
        ({"timeout_s": 0}, "timeout_s is 0"),
        ({"timeout_s": float("inf")}, "timeout_s is inf"),
        ({"effect": "rewrite"}, "'rewrite' is not a valid Effect"),
        ({"run": later}, "nobody awaits"),
        ({"business_key": ("invoice",)}, "invoice"),
    ],
)
def test_a_wrong_definition_is_refused(change, words):
    """a tool that is defined wrongly is refused when it is defined, in a sentence"""
    fields = {"name": "A", "description": "a", "parameters": {}, "run": dict, **change}
    with pytest.raises(ContractError, match=words):
        Tool(**fields)
    with pytest.raises(ContractError, match="already a tool named 'Double'"):
        ToolRegistry([made(), made()])


def test_the_description_for_the_prompt_has_a_line_each(registry):
    """a prompt gets one line a tool: name, arguments with types, description"""
    parts = {
        "a": {"anyOf": [{"type": "array"}, {"enum": ["all"]}, {"$ref": "#/$defs/No"}]},
        "b": {"oneOf": [{"$ref": "#/$defs/Same"}, {"type": "null"}]},
        "c": {"allOf": [INTEGER, {"minimum": 0}]},
        "d": {"type": ["null", "integer"]},
        "e": {"$ref": "#/$defs/Tree"},  # without its items
        "f": {},
    }
    tree = {"type": "array", "items": {"$ref": "#/$defs/Tree"}}
    same = {"N": INTEGER, "Same": {"$ref": "#/$defs/N"}}
    defs = {"No": {"const": "none"}, "Tree": tree, **same}
    types = made("Types", {"properties": parts, "$defs": defs})
    assert ToolRegistry([*registry, types]).describe().splitlines() == [
        "Double(n: integer): Double it.",
        'Measure(range: "1V" | "10V", seconds: number): Measure it.',
        "Search(query?: string): Search it.",
        "Now(): Now it.",
        'Types(a?: array | "all" | "none", b?: integer | null, c?: integer,'
        " d?: integer | null, e?: array, f?: any): Types it.",
    ]


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


def test_a_function_is_a_tool():
    """name, description and schema come from the function, and its call is a result"""
    assert (convert.name, convert.effect) == ("convert", Effect.READ)
    assert (convert.timeout_s, convert.run(amount=5)) == (10.0, {"result": "5.00 EUR"})
    assert convert.description == "Convert an amount of money."
    to = {"type": "string", "enum": ["EUR", "USD"], "description": "a currency"}
    amount = {"type": "number", "description": "in dollars, cents included"}
    assert convert.parameters == {
        "type": "object",
        "properties": {"amount": amount, "to": to},
        "required": ["amount"],
        "additionalProperties": False,
    }


class Size(Enum):
    SMALL = "s"
    LARGE = "l"


class Shop:
    def order(
        self,
        size: Size,
        more: list[Size] | None = None,
        n: Annotated[int, Field(ge=1)] | None = 1,
        gift: bool = Field(False, description="wrapped"),
    ) -> dict:
        """Order shirts."""
        return {"ordered": f"{size} {more} {n} {gift}"}


def test_a_call_takes_values_as_the_hints_have_them():
    """the function gets members of an Enum, its own defaults; it may be async"""
    order = tool(Shop().order)
    types = 'size: "s" | "l", more?: array | null, n?: integer | null, gift?: boolean'
    assert order.signature() == f"order({types})"
    words = f"Size.SMALL {[Size.LARGE]} 1 False"
    assert order.run(size="s", more=["l"]) == {"ordered": words}
    assert tool(later).run(n=1) == {"result": 2}


def of_objects(n: list[Tool]): ...


def of_nobody_knows_what(n: Undefined): ...  # noqa: F821


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda n: n, "n has no type hint"),
        (lambda *numbers: 0, r"\*numbers"),
        (of_objects, "of_objects: a type has no JSON Schema"),
        (of_nobody_knows_what, "Undefined"),
        (functools.partial(convert.run, to="USD"), "write a def"),
    ],
)
def test_a_function_that_cannot_be_a_tool_is_refused(function: Any, words: str):
    """what is missing in the function stands in a sentence"""
    with pytest.raises(ContractError, match=words):
        tool(function)


FENCED = '```json\n{"query": "Oslo"}\n```'
FENCE = "write the input without a code fence"


@pytest.mark.parametrize(
    ("name", "written", "arguments", "note"),
    [
        ("double", "12", {"n": 12}, "the tool is called Double, not 'double'"),
        ("Double", '{"number": 12}', {"n": 12}, "number is called n"),
        ("Double", '{"input": 12}', {"n": 12}, "input is called n"),
        ("Double", '{"n": "12"}', {"n": 12}, "n: '12' read as 12"),
        ("Double", '{"n": 12.0}', {"n": 12}, ""),
        ("Search", " Oslo\nNorway ", {"query": "Oslo\nNorway"}, ""),
        ("Search", "12", {"query": "12"}, ""),
        ("Search", '{"query": "```{}```"}', {"query": "```{}```"}, ""),
        ("Search", FENCED, {"query": "Oslo"}, FENCE),  # dynamiq-ai/dynamiq#506
        ("Search", FENCED[:-4], {"query": "Oslo"}, FENCE),  # a stop sequence cut it
        ("Search", f"Here:\n{FENCED}\nI wait.", {"query": "Oslo"}, FENCE),
        ("Search", "```\nOslo\n```", {"query": "Oslo"}, FENCE),
        ("Now", "None", {}, ""),
    ],
)
def test_a_near_miss_is_repaired_and_noted(registry, name, written, arguments, note):
    """what has one meaning is repaired, and the model reads how to write it"""
    bound = registry.bind(Action("", name, written))
    assert repr(bound.arguments) == repr(arguments)
    assert bound.notes == ((note,) if note else ())
    seen = registry.run(bound)
    assert seen.text().split("\nNote: ")[1:] == [*bound.notes]
    assert (seen.ok, seen.tool) == (True, name.title())


NO_OBJECT = "the input is not a JSON object like "


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (Action("", "Double", "1, 2, 3"), "n has 3 values: call once per value"),
        (Action("", "Double", "twelve"), '"twelve" is not of type'),
        (Action("", "Double", '{"n": NaN}'), "arguments: not JSON ("),
        (Action("", "Double", '{"n": 25}'), "arguments.n: 25 is greater than the max"),
        (Action("", "Double", '{"n": 1, "n": 2}'), "n is given twice"),
        (Action("", "Double", '{"n":' * 5000), 'write it like {"n": 1}'),
        (Action("", "Double", "{'n': 1}"), "the input is not JSON (Expecting"),
        (Action("", "Now", "tomorrow"), NO_OBJECT + "{}"),
        (Action("", "Measure", "1V"), NO_OBJECT + '{"range": "1V", "seconds": 1.5}'),
        (Action("", "Search", f"{FENCED}\nor\n{FENCED}"), NO_OBJECT),
        (Action("", "Search", "Here it is:\n```\nOslo\n```"), NO_OBJECT),
        (ToolRequest("Double", [1]), 'arguments: [1] is not of type "object"'),
        (ToolRequest("Double", '{"n": 1'), "the arguments are not JSON ("),
        (ToolRequest("Double", {None: None}), "was unexpected"),
    ],
    ids=lambda each: str(each)[:60],
)
def test_what_has_no_single_meaning_is_refused(registry, asked, words):
    """what cannot be read in one way is refused, and the error shows how to write it"""
    error = registry.bind(asked)
    assert (error.kind, error.retryable) == ("invalid_arguments", False)
    assert words in error.text()
    name = asked.tool if isinstance(asked, Action) else asked.name
    assert f"Use {registry[name].signature()}." in error.hint


@pytest.mark.parametrize("text", ["Oslo", "[1]", "```\nOslo\n```"])
def test_strict_takes_a_json_object_alone(text):
    """with `strict`, text that is no JSON object is refused, and an example given"""
    strict = ToolRegistry([made("Search", QUERY)], strict=True)
    error = strict.bind(Action("", "Search", text))
    assert NO_OBJECT + '{"query": "…"}' in error.text()
    bound = strict.bind(Action("", "Search", FENCED))
    assert bound.arguments == {"query": "Oslo"}


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
    assert registry.bind(ToolRequest("Double", {"n": 12}, "c")).message == "no."
    not_json = registry.bind(ToolRequest("Double", {"n": float("nan")}, "c"))
    assert not_json.kind == "invalid_arguments"  # neither of them gets it
    assert registry.problems("Double", {"n": 13}) == ["no"]


def run_with(function, **more):
    registry = ToolRegistry([made("Any", {}, function, **more)])
    return registry.run(ToolCall("Any", {}, "call_7"))


@pytest.mark.parametrize("arguments", [{"n": 25}, {1: {2}}])
def test_a_call_that_nobody_bound_is_checked(registry, arguments):
    """a call that was written by hand, or changed since, is held to the schema too"""
    seen = registry.run(ToolCall("Double", arguments, "c"))
    assert (seen.error.kind, seen.call_id) == ("invalid_arguments", "c")


def raising(error):
    """Return a function of a tool that raises this."""

    def run():
        raise error

    return run


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
        run_with(raising(KeyboardInterrupt()))


@pytest.mark.parametrize("rows", [[1, 2], "one"])
def test_a_tool_and_its_call_share_no_data(rows):
    """a tool that changes its arguments, or its result later, changes no observation"""
    data, given = {"items": rows}, {"rows": [rows]}
    schema = {"properties": {"rows": {}}}
    registry = ToolRegistry([made("Take", schema, lambda rows: rows.clear() or data)])
    bound = registry.bind(ToolRequest("Take", given, "c"))
    seen = registry.run(bound)
    data["items"] = given["rows"] = None
    assert (bound.arguments, seen.result) == ({"rows": [rows]}, {"items": rows})


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (None, "Any returned NoneType, not a dict."),
        ({"x": "\ud800"}, "Any returned what is not JSON ("),
        ({"x": "a" * 30_000}, "Any returned 30009 characters; the limit is 20000."),
    ],
    ids=["None", "half", "long"],
)
def test_output_that_breaks_the_contract_is_an_error(output, words):
    """output that is no dict, no JSON or too long is an error, not a crash"""
    seen = run_with(lambda: output)
    assert seen.error.kind == "bad_output"
    assert words in seen.text()
    assert run_with(lambda: {"x": "a" * 19_991}).ok  # 20,000 characters of JSON


def test_the_model_reads_two_ends_of_a_long_result_and_the_trace_has_it_whole():
    """`shown_chars` is of what the model reads"""
    long = made(parameters={}, run=lambda: {"result": "a" * 50 + "z"}, shown_chars=20)
    registry = ToolRegistry([long])
    seen = registry.run(ToolCall("Double", {}, "c"))
    assert len(seen.text()) == 51
    assert registry.shown(seen).startswith("aaaaaaaaaa\n[... 31 characters left out")
    assert registry.shown(seen).endswith("z")
    assert registry.shown(replace(seen, tool="")) == seen.text()


NUMBER = {"properties": {"v": {"type": "number", "multipleOf": 0.5}}}
TEXT = {"properties": {"v": {"type": "string", "pattern": r"(a*)*\1b"}}}


@pytest.mark.parametrize(
    ("parameters", "written"),
    [
        (COUNT, "[" * 100_000),
        (NUMBER, "1" + "0" * 399),
        (TEXT, "a" * 5_000 + "!"),
        (QUERY, "```" * 20_000),
    ],
    ids=["brackets", "multiple", "pattern", "fences"],
)
def test_a_hostile_input_is_answered_at_once(parameters, written):
    """what is made to break reading or checking is judged in no time, in few words"""
    registry, started = ToolRegistry([made("V", parameters)]), time.thread_time()
    bound = registry.bind(Action("", "V", written))
    assert time.thread_time() - started < 30
    text = bound.text() if isinstance(bound, ToolError) else str(bound.notes)
    assert len(text) < 1000


@pytest.mark.parametrize(
    ("effect", "hint"),
    [(Effect.READ, "go on without it"), (Effect.WRITE, "may still take effect")],
)
def test_a_stuck_tool_gives_its_observation_on_time(effect, hint):
    """nobody waits for its result; a READ may be made again"""
    gate = threading.Event()
    seen = run_with(lambda: {"at_last": gate.wait(60)}, effect=effect, timeout_s=0.2)
    gate.set()
    assert (seen.ok, seen.error.kind) == (False, "timeout")
    assert seen.error.retryable is (effect is Effect.READ)
    assert hint in seen.error.hint
    assert "within 0.2 s" in seen.error.message


GIVEN_UP = """
    import time
    from workbook.runtime.tools import ToolRegistry, tool
    from workbook.runtime.calls import ToolCall

    @tool(timeout_s=0.1)
    def work(n: float):
        "Works, and wakes up while Python exits."
        while True:
            time.sleep(0.001)

    print(ToolRegistry([work]).run(ToolCall("work", {"n": 1}, "c")).error.kind)
"""
LIGHT = """
    import sys, workbook.runtime.wrappers
    heavy = {'pydantic', 'sqlite3', 'httpx', 'openai', 'langchain_core'}
    print(sorted(heavy & set(sys.modules)))
"""


@pytest.mark.parametrize(("program", "output"), [(GIVEN_UP, "timeout"), (LIGHT, "[]")])
def test_a_program_with_tools(program, output):
    """a call that was given up ends with the process; tools load nothing heavy"""
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{output}\n", "")
