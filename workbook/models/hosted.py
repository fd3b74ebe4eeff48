"""A model behind an API: OpenAI's, or any endpoint that speaks as it does.

The key is read from the environment and shown nowhere: not in a repr, and not in an
error, whatever the endpoint answers.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from langchain_openai import ChatOpenAI

KEY = "OPENAI_API_KEY"
BASE_URL = "OPENAI_BASE_URL"
OPENAI_URL = "https://api.openai.com"
PLACEHOLDER = "none-needed"
"""Sent where an endpoint of one's own needs no key, as Ollama's."""


class MissingKey(RuntimeError):  # noqa: N818 - what is wrong, not an error's name
    """There is no usable key for the hosted model."""


class HostedModelError(RuntimeError):
    """The endpoint cannot be asked, or refused: its own words less the key."""


def hosted_model(name: str, **options: Any) -> ChatOpenAI:
    """Return a hosted model as langchain-openai's `ChatOpenAI`.

    Args:
        name: as the endpoint calls it: `gpt-4o-mini`, `llama3.2:3b`, …
        options: fields of `ChatOpenAI`. Temperature is 0 unless given.

    Raises:
        MissingKey: `OPENAI_API_KEY` is not set, and neither is `OPENAI_BASE_URL`.
        HostedModelError: `OPENAI_BASE_URL` is no URL.
    """
    url = options.setdefault("base_url", base_url())
    if url is not None and _host(url) is None:
        raise HostedModelError(
            f"{BASE_URL} (or base_url) is no whole URL: it begins with http:// or"
            " https:// and a host, as http://localhost:11434/v1 does."
        )
    if "api_key" not in options:
        options["api_key"] = read_key(name, needed=url is None)
    model: ChatOpenAI = _model_class()(
        **{"model": name, "temperature": 0, "stream_usage": True, **options}
    )
    return model


def base_url() -> str | None:
    """Return `OPENAI_BASE_URL`; None, for OpenAI's own, when it is empty or not set."""
    return os.environ.get(BASE_URL, "").strip() or None


def endpoint() -> str:
    """Return the host that is asked, without what a URL may hold besides."""
    return _host(base_url() or OPENAI_URL) or f"? ({BASE_URL} is no URL)"


def _host(url: str) -> str | None:
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return parts.hostname if parts.scheme in ("http", "https") else None


def read_key(name: str, *, needed: bool = True) -> str:
    """Return the key for the model `name`, or a placeholder where none is needed."""
    key = os.environ.get(KEY, "").strip()
    if not key and not needed:
        return PLACEHOLDER
    if not key:
        raise MissingKey(
            f"The model {name!r} needs a key, and the environment variable {KEY} is not"
            f" set. Set it; or set {BASE_URL} to an endpoint that needs no key (Ollama:"
            " http://localhost:11434/v1); or choose WORKBOOK_MODEL=local or"
            " WORKBOOK_MODEL=scripted, which need none."
        )
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise MissingKey(
            f"{KEY} holds characters that no key has (a space, a line break, a curly"
            " quote?): copy the key again."
        )
    return key


@cache
def _model_class() -> Any:
    from langchain_openai import ChatOpenAI

    class HostedChatModel(ChatOpenAI):
        """`ChatOpenAI` whose errors never hold the key."""

        def _generate(self, *args: Any, **kwargs: Any) -> Any:
            with _told_well(self):
                return super()._generate(*args, **kwargs)

        def _stream(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
            with _told_well(self):
                yield from super()._stream(*args, **kwargs)

        async def _agenerate(self, *args: Any, **kwargs: Any) -> Any:
            with _told_well(self):
                return await super()._agenerate(*args, **kwargs)

        async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
            with _told_well(self):
                async for chunk in super()._astream(*args, **kwargs):
                    yield chunk

    return HostedChatModel


@contextmanager
def _told_well(model: ChatOpenAI) -> Iterator[None]:
    """Take the key out of an error, and add the host to one about a connection."""
    import openai

    secret: Any = model.openai_api_key
    key = secret.get_secret_value() if hasattr(secret, "get_secret_value") else ""
    try:
        yield
    except Exception as error:
        if isinstance(error, openai.APIConnectionError):
            host = _host(model.openai_api_base or OPENAI_URL)
            error.add_note(f"{host} does not answer: is it running? See {BASE_URL}.")
        # What led to the error is shown with it.
        shown = [*traceback.format_exception(error), str(getattr(error, "body", ""))]
        if not key or key == PLACEHOLDER or not any(key in part for part in shown):
            raise
        said = f"{type(error).__name__}: {error}".replace(key, "[secret]")
        # Not chained: the first error holds the key.
        raise HostedModelError(said) from None
