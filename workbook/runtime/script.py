"""A model that plays a list of turns, by position: request n of a run gets turn n.

It makes every lesson exact: the same words in the same order, with stop sequences, a
context window and token usage as a real model has them. So a run that is replayed,
resumed or changed gets the turns that it had, or would have.
"""

import builtins
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .journal import shared_items
from .messages import Part, message_of, render_messages, text_of
from .model import Model, Request, Response, ToolRequest, Usage, stop_sequences

CHARS_PER_TOKEN = 4
SHAPES = (
    "a text, a Response, a ToolRequest or a list of them, an exception, a function of"
    " the text in the window, or a table: text or calls (a list of name, arguments and"
    " id) or both; raises and message; or if_seen, then and else"
)


def count_tokens(text: str) -> int:
    """Return how many tokens the script takes a text for: four characters each.

    >>> count_tokens("Thought: 2+2")
    3
    """
    return -(-len(text) // CHARS_PER_TOKEN)


class ScriptExhausted(RuntimeError):  # noqa: N818 - what happened, not an error's name
    """The model was asked once more than its script has turns."""


class Script(Model):
    r"""A model that plays turns, each in one of `SHAPES`.

    After the last one it starts again (`loop`), repeats that one (`repeat_last`), or
    raises ScriptExhausted. It sees only the last `window_tokens` of a prompt. A prefill
    at the prompt's end ("Thought:") with which the turn begins is not repeated.

    >>> script = Script(["Thought: easy\nObservation: 4", "Final Answer: 4"])
    >>> script.complete("Question: 2+2\n", stop=["\nObservation:"]).text
    'Thought: easy'
    """

    name = "scripted"
    streams = True

    def __init__(
        self,
        turns: Iterable[Any],
        *,
        window_tokens: int | None = None,
        loop: bool = False,
        repeat_last: bool = False,
    ) -> None:
        self.turns, self.window_tokens = read_turns(turns), window_tokens
        self.loop, self.repeat_last = loop, repeat_last
        self.at_once = not any(map(callable, self.turns))  # needs no time limit
        self.asked = 0  # requests, those that raised included
        self._parts: list[Part] = []  # of the last request
        self._counted = self._tokens = 0

    def __repr__(self) -> str:
        return f"Script({[getattr(turn, 'text', turn) for turn in self.turns]!r})"

    def again(self) -> "Script":
        """Return a script at its first turn."""
        options: dict[str, Any] = {"loop": self.loop, "repeat_last": self.repeat_last}
        return Script(self.turns, window_tokens=self.window_tokens, **options)

    def respond(self, request: Request) -> Response:
        """Return the next turn, up to its cap, and until `on_text` returns True."""
        self.asked += 1
        size, cached = self._sizes(request)
        number = (request.step or self.asked) - 1
        reply = self._turn(number, request)
        if isinstance(reply, BaseException):
            raise reply.with_traceback(None)  # it may be raised again and again
        text = reply.text or ""
        if not request.chat:
            text = unsaid(request.parts, text)
        text = cut_at_stop(text, request.stop)
        usage = reply.usage
        if usage == Usage():  # not counted yet
            if self.window_tokens is not None and size > self.window_tokens:
                size, cached = self.window_tokens, 0  # the window's start has moved
            output = count_tokens(text) + sum(map(_tokens_of, reply.calls))
            usage = Usage(size, output, cached)
        return _sent(replace(reply, text=text, usage=usage), request)

    def count(self, prompt: str | Sequence[Mapping[str, Any]]) -> int:
        """Return how many tokens it will read of a prompt or of messages."""
        text = prompt if isinstance(prompt, str) else render_messages(prompt)
        return min(count_tokens(text), self.window_tokens or len(text))

    def _sizes(self, request: Request) -> tuple[int, int]:
        """Return the tokens of a request, and those that it shares with the last one."""
        parts, chat = request.parts, request.chat
        if parts is self._parts:  # of the same run: they have only grown
            cached = self._tokens
        else:
            cached = self._shared(parts, chat)
            self._parts, self._counted, self._tokens = parts, 0, 0
        for part in parts[self._counted :]:
            self._tokens += count_tokens(_shown(part, chat))
        self._counted = len(parts)
        return self._tokens, cached

    def _shared(self, parts: list[Part], chat: bool) -> int:
        before, now = ([_shown(p, chat) for p in each] for each in (self._parts, parts))
        if chat:
            return sum(map(count_tokens, now[: shared_items(before, now)]))
        return shared_items("".join(before), "".join(now)) // CHARS_PER_TOKEN

    def _turn(self, number: int, request: Request) -> Response | BaseException:
        if self.loop:
            number %= len(self.turns)
        if self.repeat_last:
            number = min(number, len(self.turns) - 1)
        if number >= len(self.turns):
            end = _shown(request.parts[-1], request.chat)[-120:]
            raise ScriptExhausted(
                f"request {number + 1} has no turn left, of {len(self.turns)} in all. "
                f"The prompt ended with {end!r}. "
                "Add a turn, or pass loop=True or repeat_last=True."
            )
        turn = self.turns[number]
        while callable(turn):
            text = "".join(_shown(part, request.chat) for part in request.parts)
            window = text[-(self.window_tokens or len(text)) * CHARS_PER_TOKEN :]
            turn = read_turn(turn(window), "what the turn's function returned")
        return turn  # type: ignore[no-any-return]


def _shown(part: Part, chat: bool) -> str:
    return render_messages([message_of(part)]) if chat else text_of(part)


def _sent(reply: Response, request: Request) -> Response:
    """Send a turn token by token: up to its cap, or until it is stopped."""
    text, most = reply.text or "", request.max_tokens
    size = count_tokens(text) + sum(map(_tokens_of, reply.calls))
    if most is not None and most < max(size, reply.usage.output):
        reply = _cut(reply, most, "length")
    if request.on_text is not None:
        text = reply.text or ""
        for start in range(0, len(text), CHARS_PER_TOKEN):
            if request.on_text(text[start : start + CHARS_PER_TOKEN]):
                return _cut(reply, start // CHARS_PER_TOKEN + 1, "cancelled")
    return reply


def _cut(reply: Response, tokens: int, reason: str) -> Response:
    """Return the first tokens of a turn; a call that is not whole is dropped."""
    text, calls, end = (reply.text or "")[: tokens * CHARS_PER_TOKEN], [], 0
    end = count_tokens(text)
    for call in reply.calls:
        end += _tokens_of(call)
        if end <= tokens:
            calls.append(call)
    usage = replace(reply.usage, output=min(tokens, reply.usage.output))
    return Response(text, usage, calls, reason, {}, reply.timings)


def _tokens_of(call: ToolRequest) -> int:
    return count_tokens(f"{call.name}{call.arguments}")


def cut_at_stop(text: str, stop: Sequence[str]) -> str:
    """Return `text` up to the first place where a stop sequence begins.

    >>> cut_at_stop("Action Input: 1\\nObservation: 2", ["\\nObservation:"])
    'Action Input: 1'
    """
    found = [text.find(sequence) for sequence in stop_sequences(stop)]
    return text[: min((at for at in found if at >= 0), default=len(text))]


def unsaid(parts: Sequence[Part], turn: str) -> str:
    """Return a turn less the prefill that the prompt ends with: it is written once.

    >>> unsaid([{"role": "system", "text": "Question: 2+2\\nThought:"}], "Thought: easy")
    ' easy'
    """
    end = text_of(parts[-1]) if parts else ""
    prefill = end[end.rfind("\n") + 1 :]
    return turn.removeprefix(prefill) if prefill.endswith(":") else turn


def read_turns(turns: Iterable[Any]) -> list[Any]:
    """Return the turns of a script, each checked, with `times` written out.

    TypeError: one text, or a turn of no such shape. ValueError: a wrong table.
    """
    if isinstance(turns, (str, Mapping)):
        raise TypeError(f"a script is a list of turns, not one {type(turns).__name__}")
    found: list[Any] = []
    for number, turn in enumerate(turns, start=1):
        times = 1
        if isinstance(turn, Mapping):
            times = turn.get("times", 1)
            turn = {key: value for key, value in turn.items() if key != "times"}
        if type(times) is not int or times < 0:
            raise ValueError(f"turn {number}: times is {times!r}, not a count")
        found += [read_turn(turn, f"turn {number}")] * times
    return found


def read_turn(turn: Any, where: str) -> Any:
    """Return one turn, read and checked; `where` says which it is. Raises as above."""
    match turn:
        case str():
            return Response(turn)
        case Response() | BaseException():
            return turn
        case ToolRequest():
            return Response(calls=[turn], finish="tool_calls")
        case [ToolRequest(), *rest] if all(isinstance(r, ToolRequest) for r in rest):
            return Response(calls=turn, finish="tool_calls")
        case Mapping():
            return _read_table(turn, where)
    if callable(turn) and not isinstance(turn, type):
        return turn
    raise TypeError(_misfit(turn, where))


def _read_table(turn: Mapping[str, Any], where: str) -> Any:
    match turn:
        case {"text": str(text), **rest} if not rest:
            return Response(text)
        case {"calls": [_, *_] as calls, **rest} if rest.keys() <= {"text"}:
            requests = [_read_call(call, where) for call in calls]
            text = str(rest.get("text", ""))
            return Response(text, calls=requests, finish="tool_calls")
        case {"raises": str(name), **rest} if rest.keys() <= {"message"}:
            found = getattr(builtins, name, None)
            if isinstance(found, type) and issubclass(found, Exception):
                return found(rest.get("message", ""))
            raise ValueError(f"{name!r} is not a built-in exception")
        case {"if_seen": str(part), "then": then, "else": other, **rest} if not rest:
            read_turn(then, f"{where}, then")
            read_turn(other, f"{where}, else")
            return lambda seen: then if part in seen else other
    raise ValueError(_misfit(turn, where))


def _read_call(call: Any, where: str) -> ToolRequest:
    match call:
        case {"name": str(name), "arguments": dict(given), **rest}:
            if rest.keys() <= {"id"}:
                return ToolRequest(name, given, str(rest.get("id", "")))
    raise ValueError(_misfit(call, where))


def _misfit(turn: Any, where: str) -> str:
    shown = json.dumps(turn, default=repr, ensure_ascii=False)[:120]
    return f"{where} is {shown}. A turn is {SHAPES}."
