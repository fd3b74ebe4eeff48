"""LangChain's models behind the two protocols of `base`.

The engines know `TextModel` and `ChatModel` alone. Here anything that LangChain can
call becomes one of them; LangChain is imported only when such a model is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from workbook.models.base import ChatModel, Completion, Message, TextModel, Usage
from workbook.models.prompts import cut_at_stop, stop_sequences
from workbook.models.script import from_message

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel, BaseLLM
    from langchain_core.runnables import Runnable


def as_text_model(model: Any) -> TextModel:
    """Return `model` as something that continues a prompt.

    Args:
        model: a `TextModel`, a LangChain chat model, LLM or other runnable, or a
            function from a prompt to a text.

    Raises:
        TypeError: it is none of these.
    """
    if isinstance(model, TextModel):
        return model
    if _is_runnable(model):
        from langchain_core.language_models import BaseLLM

        return _TextLLM(model) if isinstance(model, BaseLLM) else _LangChain(model)
    if callable(model) and not isinstance(model, type):
        return _Function(model)
    raise TypeError(
        f"{_what(model)} cannot continue a prompt: give a TextModel (a name and"
        " complete(prompt, *, stop)), a LangChain model, or a function of the prompt"
    )


def as_chat_model(model: Any) -> ChatModel:
    """Return `model` as something that answers messages and may ask for tools.

    Args:
        model: a `ChatModel`, or a LangChain chat model.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(model, ChatModel):
        return model
    if _is_runnable(model):
        from langchain_core.language_models import BaseLLM

        if not isinstance(model, BaseLLM):
            return _LangChain(model)
    raise TypeError(
        f"{_what(model)} does not take messages: give a ChatModel (a name and"
        " chat(messages, *, tools, stop)) or a LangChain chat model"
    )


def _what(model: Any) -> str:
    return model.__name__ if isinstance(model, type) else f"a {type(model).__name__}"


def _is_runnable(model: Any) -> bool:
    if not hasattr(model, "invoke"):
        return False
    from langchain_core.runnables import Runnable

    return isinstance(model, Runnable)


def _name_of(model: Any) -> str:
    inner = getattr(model, "bound", model)  # bind() and bind_tools() wrap the model
    for field in ("model_name", "model", "name"):
        found = getattr(inner, field, None)
        if isinstance(found, str) and found:
            return found
    return type(inner).__name__


class _LangChain:
    """A LangChain chat model, or any runnable that answers as one."""

    def __init__(self, model: BaseChatModel | Runnable[Any, Any]) -> None:
        self.model = model
        self.name = _name_of(model)

    def complete(self, prompt: str, *, stop: Sequence[str] = ()) -> Completion:
        return self._invoke(self.model, prompt, stop)

    def chat(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[dict[str, Any]] = (),
        stop: Sequence[str] = (),
    ) -> Completion:
        from langchain_core.messages import convert_to_messages

        model: Any = self.model
        if tools:
            model = model.bind_tools(list(tools))
        sent: Any = list(messages)
        return self._invoke(model, convert_to_messages(sent), stop)

    def _invoke(self, model: Any, asked: Any, stop: Sequence[str]) -> Completion:
        found = list(stop_sequences(stop))
        options = {"stop": found} if found else {}
        answer = model.invoke(asked, **options)
        return Completion(answer) if isinstance(answer, str) else from_message(answer)


class _TextLLM:
    """A LangChain LLM: text in, text out."""

    def __init__(self, model: BaseLLM) -> None:
        self.model = model
        self.name = _name_of(model)

    def complete(self, prompt: str, *, stop: Sequence[str] = ()) -> Completion:
        result = self.model.generate([prompt], stop=list(stop_sequences(stop)) or None)
        generation = result.generations[0][0]
        info = generation.generation_info or {}
        spent = (result.llm_output or {}).get("token_usage") or {}
        details = spent.get("prompt_tokens_details") or {}
        usage = Usage(
            spent.get("prompt_tokens", 0),
            spent.get("completion_tokens", 0),
            details.get("cached_tokens", 0),
        )
        reason = info.get("finish_reason") or "stop"
        return Completion(generation.text, usage, finish_reason=reason)


class _Function:
    """A function from a prompt to a text or a `Completion`."""

    def __init__(self, function: Callable[[str], str | Completion]) -> None:
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)

    def complete(self, prompt: str, *, stop: Sequence[str] = ()) -> Completion:
        answer = self.function(prompt)
        if isinstance(answer, Completion):
            return answer
        if not isinstance(answer, str):
            raise TypeError(
                f"{self.name} returned {answer!r:.80}: a model's function returns a"
                " text or a Completion. Did you forget a return?"
            )
        return Completion(cut_at_stop(answer, stop))
