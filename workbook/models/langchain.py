"""Models of ours as LangChain's: one that answers messages, and one that writes on."""

from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel, BaseLanguageModel, BaseLLM
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.tool import tool_call
from langchain_core.messages.utils import convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult, Generation, LLMResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from workbook.models.base import TextModel


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
        asked: Any = convert_to_openai_messages(messages)
        tools = kwargs.get("tools", ())
        answer = self.model.chat(asked, tools=tools, stop=stop or ())
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
        return ChatResult(generations=[ChatGeneration(message=message)])


class TextModelLLM(BaseLLM):
    """A `TextModel` as a LangChain LLM: text in, text out, usage and timings kept."""

    model: Any

    @property
    def _llm_type(self) -> str:
        return str(self.model.name)

    def _generate(
        self, prompts: list[str], stop: Any = None, *_: Any, **kwargs: Any
    ) -> LLMResult:
        (prompt,) = prompts
        answer = self.model.complete(prompt, stop=stop or ())
        about: dict[str, Any] = {"usage": answer.usage.to_dict()}
        if answer.timings:
            about["timings"] = answer.timings
        generation = Generation(text=answer.text, generation_info=about)
        return LLMResult(generations=[[generation]])


def text_llm(model: Any) -> BaseLanguageModel[Any]:
    """Return a `TextModel` as a LangChain LLM, and a LangChain model as it is."""
    if isinstance(model, BaseLanguageModel):
        return model
    if isinstance(model, TextModel):
        return TextModelLLM(model=model)
    raise TypeError(f"a {type(model).__name__} cannot continue a prompt")
