"""A model behind an endpoint that speaks OpenAI's chat completions.

OpenAI's own, Ollama's, vLLM's: whatever it answers, what went wrong is one sentence,
and the key is not in it.
"""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import httpx

from workbook.models.base import (
    MAX_TOKENS,
    Completion,
    Message,
    OnText,
    ToolRequest,
    Usage,
)
from workbook.models.prompts import clip, stop_sequences

OPENAI = "https://api.openai.com/v1"
NO_KEY = "none-needed"  # for an endpoint of one's own
LOOPBACK = ("127.0.0.1", "localhost")
TRY_AGAIN = (408, 429, 500, 502, 503, 504)
LONGEST_WAIT_S = 30.0
NO_SENSE = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What reading an answer raises that is no chat completion, or no JSON."""


class HostedModelError(RuntimeError):
    """The endpoint refused, did not answer, or sent no chat completion."""


class HostedModel:
    """A hosted model: a `ChatModel`, and a `TextModel` by one message of the user.

    Args:
        name: the name that the endpoint has for the model.
        base_url: the endpoint, up to `/v1`; OpenAI's where it is None.
        api_key: sent with each request, and shown nowhere.
        max_tokens: the longest answer, in tokens.
        timeout_s: how long the endpoint may stay silent, in seconds.
        retries: how often a busy endpoint is asked again.
        options: other fields of the request; temperature is 0 unless given.
    """

    streams = True

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        api_key: str = NO_KEY,
        max_tokens: int = MAX_TOKENS,
        timeout_s: float = 300,
        retries: int = 2,
        **options: Any,
    ) -> None:
        self.name, self.retries, self._key = name, retries, api_key
        self.timeout_s = timeout_s
        # OpenAI's newer models know the cap by a new name, other servers by the old.
        self.cap = "max_tokens" if base_url else "max_completion_tokens"
        usual = {"model": name, "temperature": 0, self.cap: max_tokens}
        self.options = {**usual, **options}
        try:
            url = httpx.URL(base_url or OPENAI)
        except httpx.InvalidURL as error:
            said = f"{base_url!r} is no address of an endpoint: {error}."
            raise HostedModelError(f"{said} One looks like {OPENAI}.") from None
        self._client = httpx.Client(
            base_url=url,
            trust_env=url.host not in LOOPBACK,  # no proxy is between
            headers={"Authorization": f"Bearer {api_key}"},
            timeout=timeout_s,
            # A connection that is kept may be closed by a server while we write to it.
            limits=httpx.Limits(max_keepalive_connections=0),
        )

    def __repr__(self) -> str:
        return f"HostedModel({self.name!r}, base_url={str(self._client.base_url)!r})"

    def complete(
        self, prompt: str, *, stop: Sequence[str] = (), **options: Any
    ) -> Completion:
        """Return the answer to the prompt as the only message."""
        return self.chat([{"role": "user", "content": prompt}], stop=stop, **options)

    def chat(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[dict[str, Any]] = (),
        stop: Sequence[str] = (),
        max_tokens: int | None = None,
        on_text: OnText | None = None,
    ) -> Completion:
        """Return the next message; raises HostedModelError."""
        body = {**self.options, "messages": list(messages)}
        if tools:
            body["tools"] = list(tools)
        if found := stop_sequences(stop):
            body["stop"] = list(found)
        if max_tokens is not None:
            body[self.cap] = min(max_tokens, body[self.cap])
        if on_text is not None:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        with self._sent(body) as reply:
            if on_text is not None:
                return _streamed(reply.iter_lines(), on_text)
            answer = json.loads(reply.read())
            choice = answer["choices"][0]
            reason = choice.get("finish_reason")
            return _completion(choice["message"], reason, answer.get("usage"))

    @contextmanager
    def _sent(self, body: dict[str, Any]) -> Iterator[httpx.Response]:
        """Yield the answer to a request, not read yet; what goes wrong is said."""
        try:
            with closing(self._asked(body)) as reply:
                yield reply
        except httpx.TimeoutException as error:
            why = f"has not answered within {self.timeout_s:g} s"
            raise self._failed(why, type(error).__name__) from None
        except httpx.RequestError as error:
            why = f"does not answer ({type(error).__name__}); see OPENAI_BASE_URL"
            raise self._failed(why, error) from None
        except NO_SENSE as error:
            raise self._failed("sent what is no chat completion", repr(error)) from None

    def _asked(self, body: dict[str, Any]) -> httpx.Response:
        """Return the answer to a request, not read yet; ask again where it is busy."""
        for tried in range(self.retries + 1):
            request = self._client.build_request("POST", "chat/completions", json=body)
            reply = self._client.send(request, stream=True)
            if reply.is_success:
                return reply
            said = reply.read().decode(errors="replace")
            if reply.status_code not in TRY_AGAIN or tried == self.retries:
                break
            asked = reply.headers.get("Retry-After", "")
            wait_s = float(asked) if asked.isdecimal() else 2.0**tried
            time.sleep(min(wait_s, LONGEST_WAIT_S))
        raise self._failed(f"answered {reply.status_code}", error_message(said))

    def _failed(self, what: str, said: object) -> HostedModelError:
        words = " ".join(str(said).replace(self._key, "[secret]").split())
        return HostedModelError(
            f"{self._client.base_url.host} {what}: {clip(words, 200)}"
        )


def error_message(said: str) -> str:
    """Return the message in an error's body, or the body."""
    try:
        return str(json.loads(said)["error"]["message"])
    except (ValueError, LookupError, TypeError):
        return said


def chunks(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    """Yield what the lines of a streamed answer hold."""
    for line in lines:
        if line.startswith("data: {"):
            yield json.loads(line.removeprefix("data: "))


def _streamed(lines: Iterator[str], on_text: OnText) -> Completion:
    """Tell the pieces of the text as they come, and return what was sent."""
    text, reason, usage = "", None, None
    calls: dict[int, dict[str, Any]] = {}
    for chunk in chunks(lines):
        if "choices" not in chunk:
            raise ValueError(str(chunk))
        usage = chunk.get("usage") or usage
        for choice in chunk["choices"]:
            delta = choice["delta"]
            reason = choice.get("finish_reason") or reason
            for part in delta.get("tool_calls") or ():
                _add(calls.setdefault(part["index"], {}), part)
            if piece := delta.get("content"):
                text += piece
                if on_text(piece):
                    return Completion(text, finish_reason="cancelled")
    if reason is None:
        raise ValueError("it broke off before its end")
    message = {"content": text, "tool_calls": [*calls.values()]}
    return _completion(message, reason, usage)


def _add(call: dict[str, Any], part: dict[str, Any]) -> None:
    """Add a piece to a call: its id and its name come once, its arguments in pieces."""
    function = call.setdefault("function", {"name": "", "arguments": ""})
    call["id"] = part.get("id") or call.get("id")
    for key in function:
        function[key] += (part.get("function") or {}).get(key) or ""


def _completion(message: Any, reason: str | None, usage: Any) -> Completion:
    """Return a message of the API as a `Completion`; one of no such form raises."""
    requests = tuple(
        ToolRequest(
            call["function"]["name"],
            _arguments(call["function"].get("arguments") or "{}"),
            call.get("id") or "",
        )
        for call in message.get("tool_calls") or ()
    )
    if reason == "length":  # a call that was cut is no call
        requests = tuple(r for r in requests if "unreadable" not in r.arguments)
    text = message.get("content") or ""
    if not isinstance(text, str):
        raise TypeError(f"its content is {text!r:.40}")
    reason = reason or ("tool_calls" if requests else "stop")
    return Completion(text, _usage(usage), requests, reason)


def _usage(said: Any) -> Usage:
    """Return the tokens that were reported; none where no model can have counted so."""
    try:
        cached = (said.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        usage = Usage(said["prompt_tokens"], said["completion_tokens"], cached)
    except (LookupError, TypeError, AttributeError):
        return Usage()
    return usage if usage.holds else Usage()


def _arguments(written: str) -> dict[str, Any]:
    """Return the arguments of a call; those that are no JSON object as `unreadable`."""
    try:
        found = json.loads(written)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {"unreadable": written}
