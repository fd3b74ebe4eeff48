"""What a tool promises, and the registry that holds it to that.

A tool takes a JSON object that its schema allows and returns one within its time. What
else a model writes or a tool does becomes an error that says what to do next.
"""

import difflib
import inspect
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, wraps
from textwrap import dedent
from typing import Any

from jsonschema_rs import Draft202012Validator

from . import arguments as reading
from . import calls
from .arguments import Schema, problems_with, type_name
from .calls import Effect, Observation, ToolCall, ToolError, ToolFailure, clip
from .model import ToolRequest
from .turns import Action
from .waiting import TimedOut, awaited, call_with_timeout

USUAL_ALIASES = ("input", "__arg1", "arg", "args", "value", "text")  # of an only one
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # as function calling accepts it

Wait = Callable[[Callable[[], Any], float | None], Any]  # a call, for so many seconds
Bound = ToolCall | ToolError


class ContractError(ValueError):
    """A tool that is defined wrongly: a mistake of the programmer, not of a model."""


@dataclass(frozen=True, eq=False, repr=False)
class Tool:
    """A function with its contract; ContractError where no call can keep it."""

    name: str
    description: str  # what the model reads: what it does, its limits, an example
    parameters: Schema  # refuses extra fields whether it says so or not
    run: Callable[..., dict[str, Any]]  # arguments by name; a dict that is JSON
    effect: Effect = Effect.READ
    timeout_s: float | None = 10.0  # None: in the calling thread, while it takes
    aliases: Mapping[str, str] = field(default_factory=dict)  # alias to argument
    asked_by: tuple[str, ...] = ()  # words and signs by which a question asks for it
    max_output_chars: int = 20_000  # of the result as JSON
    shown_chars: int | None = None  # of it to the model, which reads its two ends
    outside: bool = True  # what it returns others wrote, and what it is given leaves
    # What guards ask; all three functions take the arguments of the call, by name.
    look_up: Callable[..., dict[str, Any] | None] | None = None  # the result of a call
    # that had its effect; None where it cannot tell
    business_key: tuple[str, ...] = ()  # arguments that name one operation
    repeatable: bool = False  # a WRITE that does no harm once more
    preview: Callable[..., str] | None = None  # what a person sees who is to approve

    def __post_init__(self) -> None:
        try:
            parameters = reading.closed_schema(self.parameters)
            self.__dict__.update(parameters=parameters, effect=Effect(self.effect))
        except ValueError as error:
            raise ContractError(f"tool {self.name!r}: {error}") from None
        limit = 1 if self.timeout_s is None else self.timeout_s
        unknown = {*self.business_key} - parameters["properties"].keys()
        for is_right, words in (
            (NAME.fullmatch(self.name), "a name has 1 to 64 letters, digits, _ or -"),
            (self.description.strip(), "describe it, in a docstring or a text"),
            (not inspect.iscoroutinefunction(self.run), "nobody awaits an async def"),
            (0 < limit < float("inf"), f"timeout_s is {limit}; use seconds or None"),
            (not unknown, f"business_key names {unknown}, which are no arguments"),
        ):
            if not is_right:
                raise ContractError(f"tool {self.name!r}: {words}")

    def __repr__(self) -> str:
        return f"<Tool {self.signature()}: {self.description}>"

    @cached_property
    def validator(self) -> Draft202012Validator:
        """The schema, compiled once."""
        return reading.validator_for(dict(self.parameters))

    @cached_property
    def all_aliases(self) -> Mapping[str, str]:
        """The tool's aliases; of a tool with one argument also the usual ones."""
        only = reading.only_parameter(self.parameters)
        usual = {} if only is None else dict.fromkeys(USUAL_ALIASES, only)
        return {**usual, **self.aliases}

    def signature(self) -> str:
        """Return the call as a model reads it: `power(base: number, to?: integer)`."""
        schema, parts = self.parameters, []
        for name, part in schema["properties"].items():
            mark = "" if name in schema.get("required", ()) else "?"
            parts.append(f"{name}{mark}: {type_name(part, schema)}")
        return f"{self.name}({', '.join(parts)})"


def to_openai(tool: Tool) -> dict[str, Any]:
    """Return the function schema that goes into a chat request's `tools`."""
    about = {"name": tool.name, "description": tool.description}
    function = about | {"parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def tool(function: Callable[..., Any] | None = None, /, **fields: Any) -> Any:
    """Make a `Tool` of a typed function, as pydantic reads it: `@tool`, `@tool(…)`."""
    if function is None:
        return partial(tool, **fields)
    if not (inspect.isfunction(function) or inspect.ismethod(function)):
        raise ContractError(f"{function!r} cannot be a tool: write a def")
    from pydantic import validate_call  # here: a tool with a schema needs none

    text = inspect.getdoc(function) or ""
    # Converts the arguments, and has returned when the function begins: a thread that
    # is given up inside of pydantic aborts the interpreter as it exits.
    given = wraps(function)(lambda **arguments: arguments)
    schema, convert = _schema_of(given, text), validate_call(given)

    @wraps(function)
    def run(**arguments: Any) -> dict[str, Any]:
        result = function(**convert(**arguments))
        result = awaited(result) if inspect.iscoroutine(result) else result
        return result if isinstance(result, dict) else {"result": result}

    description = " ".join(text.split("\n\n")[0].split())
    about = {"name": function.__name__, "description": description}
    return Tool(**{**about, "parameters": schema, "run": run, **fields})


def _schema_of(function: Any, text: str) -> dict[str, Any]:
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUserError

    called = function.__name__
    for name, given in inspect.signature(function).parameters.items():
        if given.kind not in (given.POSITIONAL_OR_KEYWORD, given.KEYWORD_ONLY):
            raise ContractError(f"{called}: {given} is not given by name")
        if given.annotation is given.empty:
            raise ContractError(f"{called}: {name} has no type hint, such as str")
    try:
        schema = TypeAdapter(function).json_schema()
    except (PydanticUserError, NameError) as error:
        raise ContractError(f"{called}: a type has no JSON Schema: {error}") from None
    section = re.search(r"^Args:\n((?:[ \n].*\n?)+)", text, re.MULTILINE)
    entries = re.split(r"\n(?=\S)", dedent(section[1])) if section else []
    notes = {re.split("[ :]", entry)[0]: entry.partition(":")[2] for entry in entries}
    for name, part in schema["properties"].items():
        part.pop("title", None)
        part.pop("default", None)
        if name in notes:
            part["description"] = " ".join(notes[name].split())
    return schema


class ToolRegistry:
    """The tools of an agent; `strict`: an Action Input must be a JSON object."""

    def __init__(
        self,
        tools: Iterable[Tool] = (),
        *,
        validate: Callable[[Schema, Any], list[str]] | None = None,
        repair: Callable[..., tuple[Any, list[str]]] | None = None,
        strict: bool = False,
    ) -> None:
        self.validate, self.repair, self.strict = validate, repair, strict
        self._tools: dict[str, Tool] = {}
        self._numbers = itertools.count(1)
        for tool in tools:
            if tool.name in self._tools:
                raise ContractError(f"there is already a tool named {tool.name!r}")
            self._tools[tool.name] = tool

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def describe(self) -> str:
        """Return one line a tool, for a prompt."""
        return "\n".join(
            f"{tool.signature()}: {' '.join(tool.description.split())}" for tool in self
        )

    def bind(self, asked: Action | ToolRequest, call_id: str = "") -> Bound:
        """Return the call that is meant, near misses repaired, or what is wrong."""
        if isinstance(asked, Action):
            return self.bind_call(asked.tool, asked.input, call_id, is_text=True)
        call_id = call_id or str(asked.call_id or "")
        return self.bind_call(str(asked.name), asked.arguments, call_id)

    def bind_call(
        self, name: str, arguments: Any, call_id: str, is_text: bool = False
    ) -> Bound:
        """Return the same for a function call: data, or the text of JSON."""
        tool, notes, more = self._tools.get(name), list[str](), list[str]()
        if tool is None:
            near = [each for each in self if _plain(each.name) == _plain(name)]
            if len(near) != 1:
                return self._unknown(name)
            [tool] = near
            notes = [f"the tool is called {tool.name}, not {clip(repr(name), 60)}"]
        schema = tool.parameters
        try:
            if is_text:
                arguments, more = reading.read_arguments(schema, arguments, self.strict)
            else:
                arguments = reading.read_json(arguments)
            arguments = calls.as_json(arguments)
        except reading.UnreadableInput as error:
            return _invalid(tool, [str(error)])
        except calls.NotJson as error:
            return _invalid(tool, [f"arguments: not JSON ({error})"])
        notes += more
        if self.repair or self.validate or not tool.validator.is_valid(arguments):
            if isinstance(arguments, dict):
                repair = self.repair or reading.repair_arguments
                arguments, repairs = repair(schema, arguments, tool.all_aliases)
                notes += repairs
            if problems := self.problems(tool.name, arguments):
                return _invalid(tool, problems, notes)
        call_id = call_id or f"call_{next(self._numbers)}"
        return ToolCall(tool.name, arguments, call_id, tuple(notes))

    def problems(self, name: str, arguments: Any) -> list[str]:
        """Return in sentences what a tool's schema refuses in arguments."""
        tool = self[name]
        if self.validate:
            return self.validate(tool.parameters, arguments)
        return problems_with(tool.validator, arguments)

    def run(self, call: ToolCall, wait: Wait | None = None) -> Observation:
        """Make a call and return what came of it; Ctrl-C alone gets through."""
        tool, wait = self._tools.get(call.name), wait or call_with_timeout
        if tool is None:
            return _not_made(call, self._unknown(call.name))
        if problems := problems_with(tool.validator, call.arguments):
            return _not_made(call, _invalid(tool, problems))
        arguments = calls.as_json(call.arguments)  # the tool may change its own
        try:
            output = wait(partial(tool.run, **arguments), tool.timeout_s)
            return _observed(tool, call, output)
        except TimedOut:
            # Without a limit of its own, it has given up waiting for something else.
            limit_s, is_read = tool.timeout_s, tool.effect is Effect.READ
            limit = "in time" if limit_s is None else f"within {limit_s:g} s"
            hint = "It may still take effect: find out before you call it again."
            hint = "Ask for less, or go on without it." if is_read else hint
            message = f"{tool.name} did not answer {limit}."
            late = ToolError(calls.ErrorKind.TIMEOUT, message, is_read, hint)
            return _not_made(call, late)
        except ToolFailure as failure:
            error, most = failure.error, tool.max_output_chars
            message, hint = clip(error.message, most), clip(error.hint, most)
            return _not_made(call, replace(error, message=message, hint=hint))
        except (Exception, SystemExit) as raised:
            return failed(call, raised)

    def shown(self, seen: Observation) -> str:
        """Return what the model reads of an observation, which the trace has whole."""
        text, tool = seen.text(), self._tools.get(seen.tool)
        most = tool.shown_chars if tool else None
        if most is None or len(text) <= most:
            return text
        left_out = f"\n[... {len(text) - most:,} characters left out ...]\n"
        return text[: most // 2] + left_out + text[most // 2 - most :]

    def _unknown(self, asked: str) -> ToolError:
        near = difflib.get_close_matches(asked[:64], self._tools, n=1)
        hint = f"Did you mean {near[0]}? " if near else ""
        hint += f"There is: {', '.join(self._tools) or 'no tool at all'}."
        message = f"there is no tool named {clip(repr(asked), 60)}."
        return ToolError(calls.ErrorKind.UNKNOWN_TOOL, message, hint=hint)


def failed(call: ToolCall, error: BaseException) -> Observation:
    """Return the observation of a call that raised."""
    try:
        words = clip(str(error), 300)
    except Exception:  # an error can be broken itself
        words = "it cannot say why"
    message = f"{call.name} raised {type(error).__name__}: {words}."
    hint = "Try other arguments, or go on without this tool."
    return _not_made(call, ToolError(calls.ErrorKind.TOOL_RAISED, message, hint=hint))


def _observed(tool: Tool, call: ToolCall, output: Any) -> Observation:
    what, limit = f"{type(output).__name__}, not a dict", tool.max_output_chars
    try:
        if isinstance(output, dict):
            result = calls.as_json(output)
            seen = Observation(call.call_id, True, result, None, call.name, call.notes)
            if (size := len(seen.text())) <= limit:
                return seen
            what = f"{size} characters; the limit is {limit}"
    except calls.NotJson as error:
        what = f"what is not JSON ({error})"
    message = f"{tool.name} returned {what}."
    hint = "Ask for less, or go on without this tool."
    return _not_made(call, ToolError(calls.ErrorKind.BAD_OUTPUT, message, hint=hint))


def _invalid(tool: Tool, problems: list[str], notes: Sequence[str] = ()) -> ToolError:
    listed = "; ".join(clip(problem, 200) for problem in problems[:5])
    advice = "".join(f"{clip(note, 200)}. " for note in notes)
    hint = f"{advice}Use {tool.signature()}."
    return ToolError(calls.ErrorKind.INVALID_ARGUMENTS, f"{listed}.", hint=hint)


def _not_made(call: ToolCall, error: ToolError) -> Observation:
    return Observation(call.call_id, False, None, error, call.name, call.notes)


def _plain(name: str) -> str:
    return re.sub(r"[\s_`*\"'-]+", "", name[:200]).casefold()
