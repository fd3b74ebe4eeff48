"""A model at an endpoint that speaks OpenAI's chat completions.

OpenAI's own, Ollama's, vLLM's: each has its dialect. We read what any of them sends,
and put what went wrong into one sentence, without the key.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import chain
from typing import Any

import httpx

from .calls import clip
from .messages import CUT
from .model import Model, Request, Response, ToolRequest, Usage

OPENAI = "https://api.openai.com/v1"
NO_KEY = "none-needed"  # for an endpoint of one's own
LOOPBACK = ("127.0.0.1", "localhost", "::1")
LONGEST_WAIT_S = 30.0
OLD_CAP, CAP = "max_tokens", "max_completion_tokens"  # two names of one field
UNASKED = {"temperature", "stop", "stream_options", OLD_CAP}  # some refuse these
ONCE = {"role", "id", "type", "name"}  # fields that are not sent in pieces
MESSAGE_FIELDS = {"role", "content", "tool_calls", "refusal", "annotations", "audio"}
CALL_FIELDS = {"id", "type", "function", "index"}
BROKEN = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What reading an answer raises that is no chat completion, or no JSON."""


class HostedModelError(RuntimeError):
    """The endpoint refused, did not answer, or sent no chat completion."""


class HostedModel(Model):
    """A hosted model; `options` are more fields of the request, None leaves one out."""

    streams = True

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        api_key: str = NO_KEY,
        max_tokens: int = 512,
        timeout_s: float = 300,  # without a byte
        retries: int = 2,  # of a request that found it busy
        **options: Any,
    ) -> None:
        self.name, self.max_tokens, self.options = name, max_tokens, options
        self.retries, self._key = retries, api_key
        # OpenAI's models know the cap by its new name, most other servers by the old.
        self._left_out = set() if base_url else {OLD_CAP}
        try:
            url = httpx.URL(base_url or OPENAI)
        except httpx.InvalidURL as error:
            wrong = f"{base_url!r} is no address of an endpoint: {error}."
            raise HostedModelError(f"{wrong} One looks like {OPENAI}.") from None
        self._client = httpx.Client(
            base_url=url,
            trust_env=url.host not in LOOPBACK,  # no proxy is between
            headers={"Authorization": f"Bearer {api_key}"},
            timeout=timeout_s,
            # A connection that is kept may be closed by a server while we write to it.
            limits=httpx.Limits(max_keepalive_connections=0),
        )

    def respond(self, request: Request) -> Response:
        """Return the next message; HostedModelError says in a sentence why not."""
        try:
            with closing(self._asked(request)) as reply:
                return _response(request.stop, *_read(chunks(reply), request.on_text))
        except HostedModelError as error:
            what, words = error.args
        except httpx.TimeoutException as error:
            what = f"has not answered within {self._client.timeout.read:g} s"
            words = type(error).__name__
        except httpx.RequestError as error:
            what = f"does not answer ({type(error).__name__}); see OPENAI_BASE_URL"
            words = error
        except BROKEN as error:
            what, words = "sent what is no chat completion", repr(error)
        line = " ".join(str(words).replace(self._key, "[secret]").split())
        host = self._client.base_url.host
        raise HostedModelError(f"{host} {what}: {clip(line, 200)}")

    def _asked(self, request: Request) -> httpx.Response:
        tried = 0
        while True:
            body = self._body(request)
            sent = self._client.build_request("POST", "chat/completions", json=body)
            reply = self._client.send(sent, stream=True)
            if reply.is_success:
                return reply
            status, words = reply.status_code, reply.read().decode(errors="replace")
            sent_unasked = body.keys() & UNASKED - self.options.keys()
            named = {name for name in sent_unasked if re.search(rf"\b{name}\b", words)}
            if status in (400, 422) and named:
                self._left_out |= named
                continue
            is_busy = status in (408, 429) or status >= 500
            if not is_busy or tried == self.retries:
                raise HostedModelError(f"answered {status}", error_message(words))
            asked = reply.headers.get("Retry-After", "")
            wait_s = float(asked) if re.fullmatch(r"\d+\.?\d*", asked) else 2.0**tried
            time.sleep(min(wait_s, LONGEST_WAIT_S))
            tried += 1

    def _body(self, request: Request) -> dict[str, Any]:
        text_alone = [{"role": "user", "content": request.text}]
        cap = CAP if OLD_CAP in self._left_out else OLD_CAP
        caps = [self.options.get(cap, self.max_tokens), request.max_tokens]
        body = {"model": self.name, "temperature": 0, **self.options}
        body["messages"] = request.messages if request.chat else text_alone
        body["tools"] = [*request.tools] or None
        body[cap] = min((most for most in caps if most is not None), default=None)
        if request.stop:
            body["stop"] = [*request.stop]
        if request.on_text:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        sent = {name: value for name, value in body.items() if value is not None}
        return {n: value for n, value in sent.items() if n not in self._left_out}


def _read(
    pieces: Iterator[dict[str, Any]], on_text: Callable[[str], bool] | None
) -> tuple[dict[str, Any], str, Any]:
    # The message, why it ends, and the usage, sent in many pieces or in one.
    message, finish, usage = dict[str, Any](), "", None
    for piece in pieces:
        if error := piece.get("error"):
            raise HostedModelError("sent an error", error)
        usage = piece.get("usage") or usage
        choice: dict[str, Any] = next(iter(piece.get("choices") or []), {})
        finish = choice.get("finish_reason") or finish
        if "message" in choice and "delta" not in choice:
            message, finish = choice["message"], finish or "stop"
            text = _words(message.get("content"))
        else:
            delta = choice.get("delta") or {}
            text = _words(delta.get("content"))
            _add(message, {**delta, "content": text})
        if text and on_text and on_text(text):
            return message, "cancelled", usage
    return message, finish, usage


def _response(
    stop: Sequence[str], message: dict[str, Any], finish: str, usage: Any
) -> Response:
    text, refusal = _words(message.get("content")), message.get("refusal")
    if refusal or finish == "content_filter":
        raise HostedModelError("refused", refusal or text or finish)
    if not finish:
        raise ValueError("it broke off before its end")
    for sequence in stop:  # some leave it out, or are not asked for it
        text = text.partition(sequence)[0]
    calls = []
    for call in message.get("tool_calls") or ():
        function = call.get("function") or {}
        name, arguments = function.get("name"), function.get("arguments")
        if finish not in CUT or _is_whole(arguments):  # one that was cut is no call
            others = _others(call, CALL_FIELDS)
            calls.append(ToolRequest(name, arguments, call.get("id") or "", others))
    extra = _others(message, MESSAGE_FIELDS)
    return Response(text, _usage(usage), tuple(calls), finish, extra)


def _add(fields: dict[str, Any], piece: dict[str, Any]) -> None:
    for name, value in piece.items():
        before: Any = fields.get(name)
        if name == "tool_calls":
            for call in value or ():
                _add(_call_of(fields.setdefault(name, []), call), call)
        elif isinstance(value, dict) and isinstance(before, dict):
            _add(before, value)
        elif type(before) in (str, list) and type(before) is type(value):
            fields[name] = before or value if name in ONCE else before + value
        elif value not in (None, ""):
            fields[name] = value


def _call_of(calls: list[dict[str, Any]], piece: dict[str, Any]) -> dict[str, Any]:
    # A piece may have no index, or repeat id and name.
    index, call_id = piece.get("index"), piece.get("id")
    near = [call for call in calls if index in (None, call.get("index"))]
    same = [call for call in near if call_id and call.get("id") == call_id]
    is_named = bool((piece.get("function") or {}).get("name"))
    begins = is_named and (call_id or index is None) and not same
    if begins or not near:
        calls.append({})
        return calls[-1]
    return (same or near)[-1]


def _others(fields: dict[str, Any], known: set[str]) -> dict[str, Any]:
    # The fields that nobody here knows go back as they came.
    return {n: v for n, v in fields.items() if n not in known and v is not None}


def _words(content: Any) -> str:
    if isinstance(content, list):
        content = "".join(p["text"] for p in content if p.get("type") == "text")
    # A character may have been cut in two.
    return (content or "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _is_whole(arguments: Any) -> bool:
    try:
        read = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return False
    return isinstance(read, dict)


def _usage(reported: Any) -> Usage:
    try:
        cached = (reported.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        usage = Usage(reported["prompt_tokens"], reported["completion_tokens"], cached)
    except BROKEN:
        return Usage()
    return usage if usage.holds else Usage()


def chunks(reply: httpx.Response) -> Iterator[dict[str, Any]]:
    """Yield the chunks of a streamed reply; one that is not streamed is one chunk."""
    rest, other, is_streamed = b"", [], False
    for piece in chain(reply.iter_bytes(), [b"\n"]):
        *lines, rest = (rest + piece).split(b"\n")  # no other character ends a line
        for line in lines:
            if not line.startswith(b"data:"):
                other.append(line)
                continue
            data, is_streamed = line[5:].strip(), True
            if data == b"[DONE]":  # some keep the connection open
                return
            if data.startswith(b"{"):
                yield json.loads(data)
    if not is_streamed:
        yield json.loads(b"\n".join(other))


def error_message(words: str) -> str:
    """Return the message in an error's body, or the body."""
    try:
        return str(json.loads(words)["error"]["message"])
    except BROKEN:
        return words
