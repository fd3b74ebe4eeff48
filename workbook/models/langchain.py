"""LangChain's models and ours, both ways.

`ChatModelAdapter`, `ScriptedModel` and `text_llm` make LangChain's models of ours,
`LangChainModel` makes one of ours of theirs.
"""

from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from itertools import chain
from json import JSONDecodeError
from typing import Any, cast

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel, BaseLanguageModel, BaseLLM
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    convert_to_messages,
)
from langchain_core.messages.tool import default_tool_parser, tool_call
from langchain_core.messages.utils import convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult, Generation, LLMResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from workbook.models.base import (
    Completion,
    Message,
    OnText,
    TextModel,
    ToolRequest,
    Usage,
    streams,
)
from workbook.models.hosted import HostedModelError
from workbook.models.prompts import stop_sequences
from workbook.models.script import Script
from workbook.models.script_turns import ScriptTurn


class ChatModelAdapter(BaseChatModel):
    """A `ChatModel` of ours as a LangChain chat model."""

    model: Any
    _asked: int = PrivateAttr(0)

    @property
    def _llm_type(self) -> str:
        return str(self.model.name)

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: Any = None, **kwargs: Any
    ) -> Runnable[Any, AIMessage]:
        """Return the model with these tools in each request, as OpenAI schemas."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools])

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, *_: Any, **kwargs: Any
    ) -> ChatResult:
        answer = self._ask(messages, stop, kwargs)
        self._asked += 1
        usage, made = answer.usage, f"unnamed_{self._asked}"
        message = AIMessage(
            content=answer.text,
            tool_calls=[
                # LangChain's agents need an id, and one that no model gives.
                tool_call(name=r.name, args=r.arguments, id=r.call_id or f"{made}_{n}")
                for n, r in enumerate(answer.tool_requests, start=1)
            ],
            usage_metadata={
                "input_tokens": usage.input,
                "output_tokens": usage.output,
                "total_tokens": usage.input + usage.output,
                "input_token_details": {"cache_read": usage.cached},
            },
        )
        info = {"model_name": self.model.name, "finish_reason": answer.finish_reason}
        said = ChatGeneration(message=message, generation_info=info)
        return ChatResult(generations=[said])

    def _ask(
        self, messages: list[BaseMessage], stop: list[str] | None, options: Any
    ) -> Completion:
        dicts: Any = convert_to_openai_messages(messages)
        asked = {key: options[key] for key in ("tools", "max_tokens") if key in options}
        return cast(Completion, self.model.chat(dicts, stop=stop or (), **asked))


class ScriptedModel(ChatModelAdapter):
    """A LangChain chat model that plays a `Script`: `model`, or one of these turns.

    LangChain's own fake models refuse `bind_tools` and do not honour `stop`.
    """

    def __init__(self, turns: Iterable[ScriptTurn] = (), **options: Any) -> None:
        if "model" not in options:
            options = {"model": Script(turns, **options)}
        super().__init__(**options)

    @property
    def script(self) -> Script:
        """The script that it plays."""
        return cast(Script, self.model)

    def again(self) -> BaseChatModel:
        """Return one whose script is at its first turn."""
        return self.model_copy(update={"model": self.script.again()})


class TextModelLLM(BaseLLM):
    """A `TextModel` as a LangChain LLM: text in, text out, usage and timings kept."""

    model: Any

    @property
    def _llm_type(self) -> str:
        return str(self.model.name)

    def _generate(
        self, prompts: list[str], stop: Any = None, *_: Any, **kwargs: Any
    ) -> LLMResult:
        if len(prompts) != 1:
            raise ValueError(f"one prompt at a time, not {len(prompts)}: call it again")
        answer = self.model.complete(prompts[0], stop=stop or ())
        info = {"finish_reason": answer.finish_reason, "timings": answer.timings}
        spent = {
            "prompt_tokens": answer.usage.input,
            "completion_tokens": answer.usage.output,
            "prompt_tokens_details": {"cached_tokens": answer.usage.cached},
        }
        generation = Generation(text=answer.text, generation_info=info)
        return LLMResult(generations=[[generation]], llm_output={"token_usage": spent})


def text_llm(model: Any) -> BaseLanguageModel[Any]:
    """Return a `TextModel` as a LangChain LLM, and a LangChain model as it is."""
    if isinstance(model, BaseLanguageModel):
        return model
    if isinstance(model, TextModel):
        return TextModelLLM(model=model)
    raise TypeError(f"a {type(model).__name__} cannot continue a prompt")


class WithoutStop:
    """A model that gets no stop sequences: what it writes without them."""

    def __init__(self, model: TextModel) -> None:
        self.name, self.model, self.streams = model.name, model, streams(model)

    def complete(self, prompt: str, **options: Any) -> Completion:
        """Ask the model and leave out `stop`."""
        return self.model.complete(prompt, **{**options, "stop": ()})


class LangChainModel:
    """A LangChain model, or a chain that answers as one, as the engines take it.

    `chat` needs a chat model. Where a text is the answer, there is no usage.
    """

    streams = True

    def __init__(self, model: Runnable[Any, Any]) -> None:
        self.model = model
        inner = getattr(model, "bound", model)  # bind() and bind_tools() wrap the model
        names = (getattr(inner, key, None) for key in ("model_name", "model", "name"))
        known = (name for name in names if isinstance(name, str) and name)
        self.name = next(known, type(inner).__name__)

    def complete(
        self, prompt: str, *, stop: Sequence[str] = (), **options: Any
    ) -> Completion:
        """Return the continuation of `prompt`."""
        return self._ask(self.model, prompt, stop, **options)

    def chat(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[dict[str, Any]] = (),
        stop: Sequence[str] = (),
        **options: Any,
    ) -> Completion:
        """Return the next message; `tools` are OpenAI function schemas."""
        model: Any = self.model
        if tools:
            model = model.bind_tools(list(tools))
        asked = convert_to_messages(cast(Any, messages))
        return self._ask(model, asked, stop, **options)

    def _ask(
        self,
        model: Any,
        asked: Any,
        stop: Sequence[str],
        max_tokens: int | None = None,
        on_text: OnText | None = None,
    ) -> Completion:
        ending = Ending()
        options: dict[str, Any] = {}
        if found := list(stop_sequences(stop)):
            options["stop"] = found
        if max_tokens is not None:
            own = getattr(getattr(model, "bound", model), "max_tokens", None)
            options["max_tokens"] = min(max_tokens, own or max_tokens)
        options["config"] = {"callbacks": [ending]}
        whole: Any = None
        with closing(self._answer(model, asked, on_text is not None, options)) as come:
            for text, whole in come:
                if on_text and text and on_text(text):
                    return Completion(_text_of(whole), finish_reason="cancelled")
        if isinstance(whole, str):
            return Completion(whole, finish_reason=ending.reason)
        return from_message(whole)

    def _answer(
        self, model: Any, asked: Any, streamed: bool, options: dict[str, Any]
    ) -> Generator[tuple[str, Any]]:
        """Yield the text of each chunk, and all chunks so far; or all at once."""
        try:
            if not streamed:
                yield "", model.invoke(asked, **options)
                return
            with closing(model.stream(asked, **options)) as chunks:
                whole = None
                for chunk in chunks:
                    whole = chunk if whole is None else whole + chunk
                    yield _text_of(chunk), whole
        except (JSONDecodeError, LookupError, TypeError, AttributeError) as error:
            said = f"{self.name} sent what is no chat completion ({error!r:.200})"
            raise HostedModelError(said) from error


def _text_of(answer: Any) -> str:
    return answer if isinstance(answer, str) else str(answer.text)


class Ending(BaseCallbackHandler):
    """Hears why a model stopped, which a text alone does not say."""

    reason = "stop"

    def on_llm_end(self, response: LLMResult, **kwargs: Any) -> None:
        for generation in chain(*response.generations):
            info = generation.generation_info or {}
            self.reason = info.get("finish_reason") or "stop"


def from_message(message: AIMessage) -> Completion:
    """Return what a LangChain chat model answered as a `Completion`.

    Arguments that were no JSON become one, `unreadable`: the text itself.
    """
    spent: Any = message.usage_metadata or {}
    details = spent.get("input_token_details") or {}
    read, wrote = spent.get("input_tokens") or 0, spent.get("output_tokens") or 0
    usage = Usage(read, wrote, details.get("cache_read") or 0)  # if it `holds`
    calls, unreadable = message.tool_calls, message.invalid_tool_calls
    if isinstance(message, AIMessageChunk):  # it takes half a JSON object for a whole
        raw = []
        for chunk in message.tool_call_chunks:
            asked = {"name": chunk["name"], "arguments": chunk["args"] or "{}"}
            raw.append({"id": chunk["id"], "function": asked})
        calls, unreadable = default_tool_parser(raw)
    requests = [
        ToolRequest(call["name"], dict(call["args"]), call["id"] or "")
        for call in calls
    ]
    requests += [
        ToolRequest(call["name"] or "", {"unreadable": call["args"]}, call["id"] or "")
        for call in unreadable
    ]
    usual = "tool_calls" if requests else "stop"
    reason = message.response_metadata.get("finish_reason") or usual
    return Completion(str(message.text), usage, tuple(requests), reason)
