"""A conversation is a list of parts that only grows: text, calls and results.

A part is a dict of plain JSON. `as_text` and `as_chat` show the same parts to the two
kinds of model, one that continues a text and one that calls functions; `read_turn`
returns what a response asks for.
"""

import json
import re
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from .calls import NotJson, ToolCall, ToolError, as_json, to_json
from .turns import (
    Action,
    Final,
    Malformed,
    Unreadable,
    parse_turn,
    split_fields,
    split_turn,
    without_thinking,
)

Part = dict[str, Any]
"""`role` is system, question, model, result, note or prefill; `text` is its text. The
model's may have `calls` ({"id", "name", "arguments" as text}), a result an `id`."""

STOP = ("\nObservation:",)
CUT = ("length", "cancelled", "error", "content_filter")
"""Why a model ended in the middle of what it wrote."""
TEXT_PREAMBLE = """\
Answer the question. These tools are there:
{tools}

Write one step at a time, in this form:
Thought: what is known and what is missing
Action: the name of one tool
Action Input: what it gets
The Observation is then written for you. Once you know the answer:
Thought: why it is the answer
Final Answer: the answer

"""
CHAT_PREAMBLE = (
    "Answer the question. Call a tool where one helps; once you know the answer, "
    "write it without calling a tool."
)
TEXT_HINT = "Write Action and Action Input, or Final Answer, each on a line of its own."
CHAT_HINT = "Call the tool as a function, or write Final Answer: and the answer."


def as_text(parts: Sequence[Part]) -> str:
    """Return the parts as one prompt."""
    return "".join(map(text_of, parts))


def text_of(part: Part) -> str:
    """Return one part as it stands in a prompt."""
    text: str = part["text"]
    match part["role"]:
        case "result":
            return f"\nObservation: {text}\n"
        case "question":
            return f"Question: {text}\n"
        case "note":
            return f"\n{text}\n"
    if calls := part.get("calls"):
        steps = [f"Action: {c['name']}\nAction Input: {c['arguments']}" for c in calls]
        return "\n".join([*filter(None, [text]), *steps])
    return text


def as_chat(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """Return the parts as messages in the shape of OpenAI's API."""
    return [*map(message_of, parts)]


_ROLES = {"system": "system", "model": "assistant", "prefill": "assistant"}


def message_of(part: Part) -> dict[str, Any]:
    """Return one part as a message."""
    if part["role"] == "result" and "id" in part:
        return {"role": "tool", "tool_call_id": part["id"], "content": part["text"]}
    role = _ROLES.get(part["role"], "user")
    message: dict[str, Any] = {"role": role, "content": part["text"]}
    if calls := part.get("calls"):
        message["tool_calls"] = [
            {"id": call["id"], "type": "function"}
            | {"function": {"name": call["name"], "arguments": call["arguments"]}}
            | call.get("extra", {})
            for call in calls
        ]
    message |= part.get("extra", {})
    return message


def part_of(message: Mapping[str, Any]) -> Part:
    """Return a message as a part; `message_of` makes the same message of it."""
    names = {"system": "system", "assistant": "model", "tool": "result"}
    part: Part = {"role": names.get(message["role"], "question")}
    part["text"] = message.get("content") or ""
    if calls := message.get("tool_calls"):
        part["calls"] = [{"id": c.get("id"), **c["function"]} for c in calls]
    if "tool_call_id" in message:
        part["id"] = message["tool_call_id"]
    return part


def render_messages(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return chat messages as one text: of each its role, its text, its calls."""
    parts = []
    for message in messages:
        parts.append(f"{message.get('role', 'user')}: {message.get('content') or ''}\n")
        if calls := message.get("tool_calls"):
            parts.append(json.dumps(calls, ensure_ascii=False) + "\n")
    return "".join(parts)


def shown(part: Part, chat: bool) -> str:
    """Return one part as a model reads it, which is how its tokens are counted."""
    return render_messages([message_of(part)]) if chat else text_of(part)


class Asked(NamedTuple):
    """A call of the model, and why it cannot be made, if so."""

    call: ToolCall
    refusal: ToolError | None = None


class Reply(NamedTuple):
    """What the model did with its turn: the event, and what follows from it."""

    event: str  # tool_requested, final_answer or unreadable_turn
    part: Part | None  # what the conversation keeps
    asked: tuple[Asked, ...] = ()  # its calls, in their order
    answer: str | None = None
    problem: ToolError | None = None  # what could not be read


def read_turn(
    response: Mapping[str, Any],
    tools: Any,
    chat: bool,
    used: set[str],
    parse: Callable[[str], Any] = parse_turn,
) -> Reply:
    """Return what a `model_turn` asks for; `used` holds the call_ids of the run."""
    if chat and response.get("calls"):
        return _read_calls(response, tools, used)
    text, cut = response["text"], response.get("finish") in CUT
    turn = read_words(text, tools) if chat else parse(text)
    if cut and not isinstance(turn, Malformed):  # was it cut in its step, or answer?
        value = turn.input if isinstance(turn, Action) else turn.answer
        if chat or split_fields(text)[-1][1] == value:
            turn = Malformed(Unreadable.NO_STEP, text)
    kept = split_turn(text, turn)[0]
    if chat and isinstance(turn, Final):  # words are kept as they are
        words = without_thinking(text)
        kept = words if turn.answer == words.strip() else kept
    part: Part | None = {"role": "model", "text": kept} | _extra(response)
    if chat and not kept.strip():
        part = None
    if isinstance(turn, Action):
        call_id = f"call_{len(used) + 1}"
        used.add(call_id)
        found = tools.bind(turn, call_id)
        as_is = ToolCall(turn.tool, {"input": turn.input}, call_id)
        asked = Asked(found) if isinstance(found, ToolCall) else Asked(as_is, found)
        return Reply("tool_requested", part, (asked,))
    if isinstance(turn, Final):
        return Reply("final_answer", part, answer=turn.answer)
    hint, reason = CHAT_HINT if chat else TEXT_HINT, turn.reason.replace("_", " ")
    if cut:
        reason, hint = "the reply was cut at its limit", f"Write less. {hint}"
    message = f"no step could be read ({reason})."
    problem = ToolError("unreadable_turn", message, hint=hint)
    return Reply("unreadable_turn", part, problem=problem)


def _extra(response: Mapping[str, Any]) -> Part:
    return {"extra": response["extra"]} if response.get("extra") else {}


def read_words(text: str, tools: Container[str]) -> Final | Malformed:
    """Read a message without a call: words are the answer, unless they are a call."""
    words = without_thinking(text).strip()
    if not words:
        return Malformed(Unreadable.EMPTY, text)
    turn = parse_turn(words)
    if isinstance(turn, Action) or _is_call(words, tools):
        return Malformed(Unreadable.NO_STEP, text)
    if re.fullmatch(r"(?i)\W*final\W?answer\W*", words):
        return Malformed(Unreadable.MISSING_ANSWER, text)
    if isinstance(turn, Final) and re.match(r"(?i)\W*(thought|final)", words):
        return Final("", turn.answer)
    return Final("", words)


_WRAPPED = re.compile(
    r"<tool_call>(.*?)(?:</tool_call>|\Z)|\[TOOL_CALLS\](.*)|```\w*\n(.*?)```",
    re.DOTALL,
)
_NAMED = re.compile(r"<function=([\w.-]+)>|\[TOOL_CALLS\]\s*([\w.-]+)\s*[({\[]")


def _is_call(words: str, tools: Container[str]) -> bool:
    if any(name in tools for match in _NAMED.findall(words) for name in match):
        return True
    inside = [text for match in _WRAPPED.findall(words) for text in match if text]
    for text in [words, *inside]:
        with suppress(ValueError, RecursionError):
            written = json.loads(text)
            for call in written if isinstance(written, list) else [written]:
                name = call.get("function", call) if isinstance(call, dict) else ""
                name = name.get("name") if isinstance(name, dict) else name
                if isinstance(name, str) and name in tools:
                    return True
    return False


def _read_calls(response: Mapping[str, Any], tools: Any, used: set[str]) -> Reply:
    asked, written_back, in_turn = [], [], set[str]()
    for written in response["calls"]:
        name, given = (
            "" if written.get(key) is None else str(written[key])
            for key in ("name", "call_id")
        )
        call_id, number = given, len(used) + 1
        while not call_id or call_id in used:  # none, or an earlier turn's
            call_id, number = f"runtime_{number}", number + 1
        arguments = written.get("arguments")
        found = tools.bind_call(name, arguments, call_id)
        try:
            is_text = isinstance(arguments, str) and arguments.strip()
            plain = json.loads(arguments) if is_text else arguments
            plain = {} if plain in (None, "") else as_json(plain)
        except (NotJson, ValueError, RecursionError):
            plain = str(arguments)
        text = to_json(plain if isinstance(plain, dict) else {"input": plain})
        if given and given in in_turn:  # nobody could say which result is whose
            message = f"call_id {given!r} has been used before; nothing was done."
            hint = "Read the observation of the first call, or use a new call_id."
            found = ToolError("duplicate_call_id", message, hint=hint)
        used.add(call_id)
        in_turn.add(given)
        as_is = ToolCall(name, json.loads(text), call_id)
        is_made = isinstance(found, ToolCall)
        asked.append(Asked(found) if is_made else Asked(as_is, found))
        back: Part = {"id": call_id, "name": name, "arguments": text}
        written_back.append(back | _extra(written))
    kept = split_turn(response["text"], Malformed(Unreadable.NO_STEP, ""))[0]
    part: Part = {"role": "model", "text": kept, "calls": written_back}
    return Reply("tool_requested", part | _extra(response), tuple(asked))
