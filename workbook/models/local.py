"""The real model, without a key: three ways to ask the server of `server.py`.

langchain-openai talks to it as it talks to any other. `LocalTextModel` asks it without
LangChain and keeps everything that it says about tokens and time.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from workbook.models.base import Completion, Usage
from workbook.models.prompts import stop_sequences
from workbook.models.server import NAME, LocalModelError, LocalServer, local_server
from workbook.models.wheel import WeightsError

if TYPE_CHECKING:
    from langchain_openai import ChatOpenAI, OpenAI

MAX_TOKENS = 256
SEED = 1

NO_FUNCTIONS = (
    f"{NAME} calls no functions: its chat template leaves the tools out, so it never"
    " sees them and answers in words. Give it a text prompt with Action and Action"
    " Input, or choose a hosted model for function calls."
)


class LocalTextModel:
    """The local model as a `TextModel`.

    Args:
        max_tokens: the answer is cut after so many tokens.
        temperature: 0 is greedy: always the likeliest token.
        seed: of the dice, where temperature is above 0.
        grammar: GBNF; the answer can only be what it allows.
        options: more fields of llama.cpp's completion request (`top_k`, …).

    `timings` of its completions are llama.cpp's: `prompt_n` tokens read in `prompt_ms`,
    `cache_n` not read again, `predicted_n` written in `predicted_ms`.
    """

    def __init__(
        self,
        *,
        max_tokens: int = MAX_TOKENS,
        temperature: float = 0.0,
        seed: int = SEED,
        grammar: str | None = None,
        **options: Any,
    ) -> None:
        self.name = NAME
        self.options = {
            "max_tokens": max_tokens,
            "temperature": temperature,
            "seed": seed,
            **({"grammar": grammar} if grammar else {}),
            **options,
        }

    @property
    def server(self) -> LocalServer:
        """The server that answers, started when there is none."""
        return local_server()

    def complete(self, prompt: str, *, stop: Sequence[str] = ()) -> Completion:
        """Continue the prompt. Raises `WeightsError` and `LocalModelError`."""
        body = {**self.options, "prompt": prompt, "stop": stop_sequences(stop)}
        answer = self.server.post("/v1/completions", body)
        choice, usage = answer["choices"][0], answer["usage"]
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
        return Completion(
            text=choice["text"],
            usage=Usage(usage["prompt_tokens"], usage["completion_tokens"], cached),
            finish_reason=choice["finish_reason"],
            timings=answer.get("timings", {}),
        )

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens of a text as this model splits it."""
        return self.server.tokenize(text)


def local_text_model(**options: Any) -> LocalTextModel:
    """Return the local model, loaded, as a `TextModel`; see `LocalTextModel`.

    Raises:
        WeightsError: the weights could not be had.
        LocalModelError: llama.cpp could not start.
    """
    model = LocalTextModel(**options)
    _ = model.server
    return model


def local_or_none(**options: Any) -> LocalTextModel | None:
    """Return `local_text_model()`; where it cannot be had, say why and return None."""
    try:
        return local_text_model(**options)
    except (WeightsError, LocalModelError) as error:
        print(f"The local model is not there. {error}")
        return None


def local_model(**options: Any) -> ChatOpenAI:
    """Return the local model as langchain-openai's `ChatOpenAI`.

    It calls no functions, and `bind_tools` warns of it: the model was not trained for
    that, and its chat template has no place for tools. A request with tools is
    answered as one without.

    Args:
        options: fields of `ChatOpenAI`; `extra_body={"grammar": …}` passes a grammar.
    """
    options = {**_client_options(), "stream_usage": True, **options}
    model: ChatOpenAI = _chat_class()(**options)
    return model


@cache
def _chat_class() -> Any:
    from langchain_openai import ChatOpenAI

    class LocalChatModel(ChatOpenAI):
        """`ChatOpenAI` that says when tools will not reach the model."""

        def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
            if tools:
                warnings.warn(NO_FUNCTIONS, stacklevel=2)
            return super().bind_tools(tools, **kwargs)

    return LocalChatModel


def local_completion(**options: Any) -> OpenAI:
    """Return the local model as langchain-openai's `OpenAI`: text in, text out.

    It suits a ReAct prompt better than the chat endpoint: nothing is put around it.
    """
    from langchain_openai import OpenAI

    return OpenAI(**{**_client_options(), **options})


def _client_options() -> dict[str, Any]:
    import openai

    return {
        "model": NAME,
        "base_url": local_server().url,
        "api_key": "none-needed",  # never the real one
        "temperature": 0,
        "seed": SEED,
        "max_tokens": MAX_TOKENS,
        "http_client": openai.DefaultHttpxClient(trust_env=False),
        "http_async_client": openai.DefaultAsyncHttpxClient(trust_env=False),
    }
