"""Models behind an API, as langchain-openai's `ChatOpenAI`.

The key stands in no error, whatever the endpoint answers.
"""

import traceback
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any, cast

import openai
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from workbook.models.base import MAX_TOKENS
from workbook.models.local import NAME, SEED, local_server
from workbook.models.prompts import clip


class HostedModelError(RuntimeError):
    """The endpoint refused, in its own words less the key, or made no sense."""


_NO_SENSE = (ValueError, LookupError, TypeError, AttributeError)
"""What reading an answer raises that is no chat completion, or no JSON at all."""


def hosted_model(name: str, **options: Any) -> ChatOpenAI:
    """Return a model by the name that its endpoint has for it.

    The options are fields of `ChatOpenAI`. Unless given, temperature is 0, and an
    answer is cut after `MAX_TOKENS` tokens.
    """
    if "max_completion_tokens" not in options:  # OpenAI's new name for it
        options.setdefault("max_tokens", MAX_TOKENS)
    usual = {"model": name, "temperature": 0, "stream_usage": True}
    return HostedModel(**{**usual, **options})


def local_model(**options: Any) -> ChatOpenAI:
    """Return the local model; `extra_body={"grammar": …}` passes a grammar.

    It calls no functions: its chat template leaves the tools out.
    """
    usual = {
        "base_url": local_server().url,
        "api_key": "none-needed",  # never the real one
        "seed": SEED,
        # No proxy stands between this process and itself.
        "http_client": openai.DefaultHttpxClient(trust_env=False),
        "http_async_client": openai.DefaultAsyncHttpxClient(trust_env=False),
    }
    return hosted_model(NAME, **{**usual, **options})


class HostedModel(ChatOpenAI):
    """`ChatOpenAI` that every endpoint can cut, and whose errors hold no key."""

    def _get_request_payload(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        payload: dict[str, Any] = super()._get_request_payload(*args, **kwargs)
        # Ollama and others know the cap by its old name only, OpenAI wants the new.
        if self.openai_api_base and "max_completion_tokens" in payload:
            payload["max_tokens"] = payload.pop("max_completion_tokens")
        return payload

    def _generate(self, *args: Any, **kwargs: Any) -> Any:
        with self._told_well():
            if (answer := super()._generate(*args, **kwargs)).generations:
                return answer
            raise ValueError("no choice was in it")

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        with self._told_well():
            chunk = None
            for chunk in super()._stream(*args, **kwargs):
                yield chunk
            if chunk is None:
                raise ValueError("no chunk was in it")

    async def _agenerate(self, *args: Any, **kwargs: Any) -> Any:
        with self._told_well():
            return await super()._agenerate(*args, **kwargs)

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        with self._told_well():
            async for chunk in super()._astream(*args, **kwargs):
                yield chunk

    @contextmanager
    def _told_well(self) -> Iterator[None]:
        """Take the key out of an error, and say which endpoint does not answer."""
        key = cast(SecretStr, self.openai_api_key).get_secret_value()
        try:
            yield
        except Exception as error:
            host, said = self.root_client.base_url.host, f"{error}"
            if isinstance(error, openai.APIConnectionError):
                error.add_note(f"{host} does not answer: see OPENAI_BASE_URL.")
            makes_sense = not isinstance(error, _NO_SENSE)
            if makes_sense and key not in "".join(traceback.format_exception(error)):
                raise
            said = clip(" ".join(said.replace(key, "[secret]").split()), 200)
            said = f"{type(error).__name__}: {said}"
            if not makes_sense:
                said = f"what {host} answered is no chat completion ({said})"
            # Not chained: the first error holds the key.
            raise HostedModelError(said) from None
