"""The scripted model as a LangChain chat model.

LangChain's own fake models refuse `bind_tools` and do not honour `stop`, so an agent
cannot be shown on them. This one behaves as a chat model behind an API does: stop
sequences, function calls, streaming, token usage, and errors where the script has one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    convert_to_openai_messages,
)
from langchain_core.messages.ai import InputTokenDetails, UsageMetadata
from langchain_core.messages.tool import tool_call, tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ConfigDict, PrivateAttr

from workbook.models.base import Completion, Message
from workbook.models.script import Request, Script, ScriptTurn


class ScriptedModel(BaseChatModel):
    """A LangChain chat model that plays a list of turns.

    Args:
        turns: what it answers; see `workbook.models.ScriptTurn`.
        script: a `Script` in place of turns; it may be shared.
        window_tokens: it sees only the last so many tokens of what it is given.
        loop: start again after the last turn.
        repeat_last: say the last turn again and again.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    script: Script
    _converted: list[tuple[BaseMessage, Any, Message]] = PrivateAttr(
        default_factory=list
    )

    def __init__(
        self,
        turns: Iterable[ScriptTurn] = (),
        *,
        script: Script | None = None,
        window_tokens: int | None = None,
        loop: bool = False,
        repeat_last: bool = False,
        **fields: Any,
    ) -> None:
        if script is None:
            script = Script(
                turns, window_tokens=window_tokens, loop=loop, repeat_last=repeat_last
            )
        super().__init__(**{"script": script, **fields})

    @property
    def requests(self) -> list[Request]:
        """What it was asked, in order."""
        return self.script.requests

    @property
    def seen(self) -> list[str]:
        """What its window left of each request."""
        return self.script.seen

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model": "scripted", "turns": len(self.script.turns)}

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: Any = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return the model with these tools in each request, as OpenAI schemas."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools])

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        answer = self._ask(messages, stop, kwargs)
        message = AIMessage(
            content=answer.text,
            tool_calls=[
                tool_call(name=r.name, args=r.arguments, id=r.call_id)
                for r in answer.tool_requests
            ],
            usage_metadata=_usage_metadata(answer),
            response_metadata=_response_metadata(answer),
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        answer = self._ask(messages, stop, kwargs)
        for chunk in _chunks(answer):
            piece = ChatGenerationChunk(message=chunk)
            if run_manager is not None:
                run_manager.on_llm_new_token(piece.text, chunk=piece)
            yield piece

    def _ask(
        self, messages: list[BaseMessage], stop: list[str] | None, options: Any
    ) -> Completion:
        return self.script.chat(
            self._as_dicts(messages), tools=options.get("tools", ()), stop=stop or ()
        )

    def _as_dicts(self, messages: list[BaseMessage]) -> list[Message]:
        """Convert what is new; an agent sends the same messages again each turn."""
        known = self._converted
        same = 0
        for (before, content, _), now in zip(known, messages, strict=False):
            if before is not now or content is not now.content:  # or reworded in place
                break
            same += 1
        fresh = messages[same:]
        if fresh:
            dicts: Any = convert_to_openai_messages(fresh)
            contents = (message.content for message in fresh)
            self._converted = known[:same]
            self._converted += zip(fresh, contents, dicts, strict=True)
        return [message for *_, message in self._converted[: len(messages)]]


def _chunks(answer: Completion) -> Iterator[AIMessageChunk]:
    """Cut an answer into pieces about as long as tokens; the last one has the usage."""
    for piece in re.findall(r"\s*\S{1,6}|\s+", answer.text):
        yield AIMessageChunk(content=piece)
    for index, request in enumerate(answer.tool_requests):
        arguments = json.dumps(request.arguments, ensure_ascii=False)
        call = tool_call_chunk(
            name=request.name, args=arguments, id=request.call_id, index=index
        )
        yield AIMessageChunk(content="", tool_call_chunks=[call])
    yield AIMessageChunk(
        content="",
        usage_metadata=_usage_metadata(answer),
        response_metadata=_response_metadata(answer),
        chunk_position="last",
    )


def _usage_metadata(answer: Completion) -> UsageMetadata:
    usage = answer.usage
    return UsageMetadata(
        input_tokens=usage.input,
        output_tokens=usage.output,
        total_tokens=usage.input + usage.output,
        input_token_details=InputTokenDetails(cache_read=usage.cached),
    )


def _response_metadata(answer: Completion) -> dict[str, Any]:
    return {"model_name": "scripted", "finish_reason": answer.finish_reason}
