"""A hosted model, or any endpoint that speaks OpenAI's chat completions, asked by HTTP.

It is a `ChatModel`, and a `TextModel` for models that cannot call functions. The key
comes from the environment and is in no error.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import httpx

from workbook.models.base import Completion, Message, ToolRequest, Usage
from workbook.models.prompts import clip, stop_sequences

OPENAI_URL = "https://api.openai.com/v1"
BUSY = (408, 409, 429, 500, 502, 503, 504, 529)
"""Statuses after which the same request may succeed."""
TRIES = 3
LONGEST_WAIT_S = 30.0


class EndpointError(RuntimeError):
    """The endpoint refused, did not answer, or sent what is no chat completion."""


class NoFunctionCalls(EndpointError):  # noqa: N818 - what happened, not an error's name
    """The endpoint refused a request because it offered tools."""


class Endpoint:
    """A model by its name at an endpoint.

    Args:
        name: as the endpoint knows it, without `openai:`.
        url: such as `http://localhost:11434/v1`; None is `OPENAI_BASE_URL`, or OpenAI.
        key: None is `OPENAI_API_KEY`. Only OpenAI itself must have one.
        max_tokens: the most that it may write in one turn.
        options: more fields of the request, such as `temperature`.

    Raises:
        ValueError: the URL is none, or the key is missing or cannot be one.
    """

    def __init__(
        self,
        name: str,
        *,
        url: str | None = None,
        key: str | None = None,
        max_tokens: int = 4096,
        **options: Any,
    ) -> None:
        self.name, self.max_tokens, self.options = name, max_tokens, options
        self.calls_functions = True  # until it refuses a request for its tools
        given = url or os.environ.get("OPENAI_BASE_URL", "").strip()
        self.url = (given or OPENAI_URL).rstrip("/")
        self.host = _host_of(self.url)
        self._key = key or os.environ.get("OPENAI_API_KEY", "").strip()
        if not self._key and self.url == OPENAI_URL:
            raise ValueError(
                f"The model {name!r} needs a key: set OPENAI_API_KEY, or set"
                " OPENAI_BASE_URL to an endpoint that needs none (Ollama:"
                " http://localhost:11434/v1)."
            )
        if not (self._key.isascii() and self._key.isprintable()) or " " in self._key:
            raise ValueError(
                "OPENAI_API_KEY holds characters that no key has (a space, a line"
                " break, a curly quote?): copy the key again."
            )
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        self._client = httpx.Client(headers=headers, timeout=httpx.Timeout(600))

    def complete(
        self, prompt: str, *, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> Completion:
        """Return the continuation of a prompt, which is sent as one user message."""
        asked: Message = {"role": "user", "content": prompt}
        return self.chat([asked], stop=stop, max_tokens=max_tokens)

    def chat(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[dict[str, Any]] = (),
        stop: Sequence[str] = (),
        max_tokens: int | None = None,
    ) -> Completion:
        """Return the next message; may be an `EndpointError` or `NoFunctionCalls`."""
        most = min(max_tokens or self.max_tokens, self.max_tokens)
        # OpenAI wants the new name of the cap, others know the old one.
        cap = "max_completion_tokens" if self.url == OPENAI_URL else "max_tokens"
        body = {"model": self.name, "messages": list(messages), cap: most}
        if tools:
            body["tools"] = list(tools)
        if found := stop_sequences(stop):
            body["stop"] = list(found)
        answer = self._post({**body, **self.options})
        try:
            return _completion(answer.json())
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            said = self._clean(f"{error}")
            words = f"what {self.host} answered is no chat completion ({said})"
            raise EndpointError(words) from None

    def _post(self, body: dict[str, Any]) -> httpx.Response:
        """Send a request, again while the endpoint is busy, and return its answer."""
        for attempt in range(1, TRIES + 1):
            try:
                answer = self._client.post(f"{self.url}/chat/completions", json=body)
            except httpx.HTTPError as error:
                said = self._clean(f"{type(error).__name__}: {error}")
                words = f"{self.host} does not answer ({said}): see OPENAI_BASE_URL"
                raise EndpointError(words) from None
            if answer.status_code not in BUSY or attempt == TRIES:
                break
            time.sleep(_wait_s(answer, attempt))
        if answer.is_success:
            return answer
        said = self._clean(_error_text(answer))
        words = f"{self.host} refused with {answer.status_code}: {said}"
        if answer.status_code in (401, 403):
            words += ". Is the key in OPENAI_API_KEY right?"
        offered = "tools" in body and answer.status_code in (400, 404, 422, 501)
        if offered and any(word in said.lower() for word in ("tool", "function")):
            self.calls_functions = False
            raise NoFunctionCalls(words)
        raise EndpointError(words)

    def _clean(self, text: str) -> str:
        """Return one short line without the key."""
        if self._key:
            text = text.replace(self._key, "[secret]")
        return clip(" ".join(text.split()), 200)


def _completion(answer: dict[str, Any]) -> Completion:
    """Read a chat completion; ValueError, KeyError … where it is none."""
    choice = answer["choices"][0]
    message = choice["message"]
    requests = []
    for call in message.get("tool_calls") or ():
        function = call["function"]
        arguments = _arguments(function.get("arguments") or "{}")
        if choice.get("finish_reason") == "length" and "unreadable" in arguments:
            break  # a call that was cut is no call
        requests.append(ToolRequest(function["name"], arguments, call.get("id") or ""))
    usual = "tool_calls" if requests else "stop"
    return Completion(
        message.get("content") or "",
        _usage(answer.get("usage") or {}),
        tuple(requests),
        choice.get("finish_reason") or usual,
    )


def _arguments(said: Any) -> dict[str, Any]:
    """Return a call's arguments; a text that is no JSON object is `unreadable`."""
    try:
        read = said if isinstance(said, dict) else json.loads(said)
    except (ValueError, RecursionError):
        return {"unreadable": said}
    return read if isinstance(read, dict) else {"unreadable": said}


def _usage(said: dict[str, Any]) -> Usage:
    details = said.get("prompt_tokens_details") or {}
    return Usage(
        said.get("prompt_tokens") or 0,
        said.get("completion_tokens") or 0,
        details.get("cached_tokens") or 0,
    )


def _error_text(answer: httpx.Response) -> str:
    """Return an endpoint's own words about an error."""
    try:
        error = answer.json()["error"]
        return str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, LookupError, TypeError):
        return answer.text or answer.reason_phrase


def _wait_s(answer: httpx.Response, attempt: int) -> float:
    """Return the seconds to wait: as the endpoint says, else 1, then 2."""
    try:
        said = float(answer.headers.get("Retry-After", ""))
    except ValueError:
        said = float(2 ** (attempt - 1))
    return min(max(said, 0.0), LONGEST_WAIT_S)


def _host_of(url: str) -> str:
    try:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname:
            return parts.hostname
    except ValueError:
        pass
    raise ValueError(
        f"{url!r} is no URL of an endpoint: a whole one begins with http:// or"
        " https:// and a host, as http://localhost:11434/v1 does."
    )
