"""What went wrong, by kind: categories, patterns, advice, and a better description.

An error is classed by its kind, which is data, and never by the words of its message.
Which argument was at fault, the tool's schema says of the recorded call.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from workbook.runtime.arguments import (
    UnreadableInput,
    example_of,
    read_arguments,
    repair_arguments,
    type_name,
)
from workbook.runtime.calls import clip, to_json
from workbook.runtime.tools import Tool
from workbook.runtime.trace import Event as TraceEvent
from workbook.runtime.trace import Kind, Trace
from workbook.views.descriptions import MAX_CHARS
from workbook.views.logs import error_kind

KINDS: Mapping[str, str] = {
    "invalid_arguments": "arguments",
    **dict.fromkeys(("unreadable_turn", "unknown_tool", "duplicate_call_id"), "turn"),
    **dict.fromkeys(("denied", "stale_approval"), "refused"),
    **dict.fromkeys(("unauthorized", "forbidden"), "access"),  # HTTP's 401 and 403
    **dict.fromkeys(("cancelled", "budget", "run_ended", "withdrawn"), "stopped"),
    "KeyboardInterrupt": "stopped",  # as LangChain's traces have it
    **dict.fromkeys(("timeout", "needs_person"), "unsettled"),
    **dict.fromkeys(("tool_raised", "bad_output"), "tool"),
    **dict.fromkeys(("tool_error", "server_gone"), "tool"),  # of a stranger's server
    **dict.fromkeys(("unsupported", "address"), "answer"),
}
"""The known kinds of error, each with its category."""

ADVICE: Mapping[str, str] = {
    "arguments": "say in the description what the tool takes (improved_description)",
    "turn": "show the model the form of a step, and the names of the tools",
    "refused": "look at the rules, at the mode, and at what the person said",
    "access": "log in again, or give the agent the right: the model cannot",
    "stopped": "the run was over: look at its end, and at its limits",
    "unsettled": "find out whether it was done, before anybody calls it again",
    "tool": "fix the tool",
    "answer": "look at what the run had read, and why that did not carry the answer",
    "transient": "if the tool only reads, make the call again after a pause",
    "own kind": "read the tool's own word for it, and give it a category",
    "not recorded": "record the error as data: this trace has its words only",
}
"""What a person can do about the errors of each category."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """Failures that are alike; a call with two arguments at fault is in two of them."""

    tool: str | None  # None: of turns in which no call could be read
    kind: str  # "" where the trace has none
    category: str
    argument: str | None  # at fault; None where that is none, or not known
    count: int
    calls: int  # of that tool in all, or turns


def classify_error(event: TraceEvent) -> str:
    """Return the category of a failed observation, a key of `ADVICE`.

    What is retryable is "transient". Of the rest `KINDS` says it, by the error's kind.
    A kind that it lacks is the tool's "own kind". Where `error` is a text it names the
    exception that a tool raised; where there is none, it is "not recorded".
    ValueError: the event is no failed observation.

    >>> late = {"kind": "timeout", "message": "invalid arguments", "retryable": False}
    >>> classify_error({"kind": "observation", "ok": False, "error": late})
    'unsettled'
    """
    if event.get("ok") is not False:
        raise ValueError(f"this is no failed observation: {clip(str(event), 200)}")
    error = event.get("error")
    if not error:
        return "not recorded"
    if isinstance(error, str):
        return KINDS.get(error, "tool")
    if error.get("retryable"):
        return "transient"
    return KINDS.get(error["kind"], "own kind")


def patterns(
    traces: Iterable[Trace],
    tools: Iterable[Tool] = (),
    classify: Callable[[TraceEvent], str] = classify_error,
) -> list[Pattern]:
    """Return the failures by tool, kind and argument at fault, the commonest first.

    The arguments at fault are known of the `tools` that are given.
    """
    known = {tool.name: tool for tool in tools}
    made: Counter[str | None] = Counter()  # calls by tool; under None, turns
    failed: Counter[tuple[str | None, str, str, str | None]] = Counter()
    for trace in traces:
        calls = {(e.get("parent"), e["call_id"]): e for e in trace.of(Kind.TOOL_CALL)}
        made.update(event["tool"] for event in trace.of(Kind.TOOL_CALL))
        made[None] += sum("parent" not in turn for turn in trace.of(Kind.MODEL_TURN))
        for event in trace.of(Kind.OBSERVATION):
            if not event["ok"]:
                tool, names = event["tool"], list[Any]()
                if tool in known:
                    call = calls[event.get("parent"), event["call_id"]]
                    names = _at_fault(known[tool], call)
                for name in names or [None]:
                    failed[tool, error_kind(event), classify(event), name] += 1
    return [
        Pattern(*alike, count, made[alike[0]]) for alike, count in failed.most_common()
    ]


def improved_description(tool: Tool, found: Iterable[Pattern]) -> Tool:
    """Return the tool with a warning about each argument at fault in its description.

    They are a block, which new ones replace, and which is gone where there are no
    patterns. Their words are the schema's alone: what a model or an error says may be
    an attacker's. Of the rarest patterns those are left out for which 1,024 characters
    have no room.
    """
    before = r"(.*\S.*)\n\[Often wrong: [^\n]*\]"  # the block is the last line
    found_block = re.fullmatch(before, tool.description, re.DOTALL)
    plain = found_block[1] if found_block else tool.description
    said = list(dict.fromkeys(_warnings(tool, found)))
    while said and len(plain + _block(said)) > MAX_CHARS:
        said.pop()
    return replace(tool, description=plain + _block(said))


def _block(said: list[str]) -> str:
    return f"\n[Often wrong: {'; '.join(said)}.]" if said else ""


def _warnings(tool: Tool, found: Iterable[Pattern]) -> Iterator[str]:
    parts, needed = tool.parameters["properties"], tool.parameters.get("required", ())
    for each in found:
        said, name = "", each.argument  # no description keeps a tool from failing
        if name in parts:
            always = " is needed" if name in needed else ""
            said = f"{to_json(name)}{always}: one {_in_words(parts[name])}"
        elif name is not None:
            said = "there is no argument but "
            said += ", ".join(map(to_json, parts)) or "none"
        elif each.category == "arguments":
            said = f"write one JSON object, like {example_of(tool.parameters)}"
        if said and each.tool == tool.name:
            yield clip(said, 200)


def _in_words(part: Mapping[str, Any]) -> str:
    """Return the type of an argument, and its limits in the schema's own words."""
    told = ("type", "enum", "const", "anyOf", "default", "description", "title")
    limits = [f"{key} {to_json(part[key])}" for key in part if key not in told]
    return ", ".join([type_name(part), *limits])


def arguments_of(tool: Tool, call: TraceEvent) -> Any:
    """Return the arguments of a recorded call, read and repaired for its tool.

    UnreadableInput, TypeError or ValueError: nobody can read them.
    """
    schema, arguments = tool.parameters, call.get("arguments")
    if arguments and arguments.keys() == {"input"} - schema["properties"].keys():
        # It was refused, or is a naive loop's: it stands there as the model wrote it.
        arguments, _ = read_arguments(schema, str(arguments["input"]))
    return repair_arguments(schema, arguments, tool.all_aliases)[0]  # type: ignore[arg-type]


def _at_fault(tool: Tool, call: TraceEvent) -> list[str]:
    """Return which recorded arguments the schema refuses, or misses, each once."""
    names = list[Any]()
    try:
        for error in tool.validator.iter_errors(arguments_of(tool, call)):
            about = error.kind.as_dict()
            missing = [about["property"]] if error.kind.name == "required" else []
            names += error.instance_path[:1] or about.get("unexpected", missing)
    except (UnreadableInput, TypeError, ValueError):  # nobody can read them
        return []
    return list(dict.fromkeys(map(str, names)))
