"""Models of ours as LangChain's: one that answers messages, and one that writes on."""

from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel, BaseLanguageModel, BaseLLM
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.tool import invalid_tool_call, tool_call
from langchain_core.messages.utils import convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult, Generation, LLMResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from workbook.runtime.arguments import UnreadableInput, read_json
from workbook.runtime.model import Model, ToolRequest


class ChatModelAdapter(BaseChatModel):
    """A `Model` of ours as a LangChain chat model."""

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
        usage = answer.usage
        message = AIMessage(
            content=answer.text or "",
            usage_metadata={
                "input_tokens": usage.input,
                "output_tokens": usage.output,
                "total_tokens": usage.input + usage.output,
                "input_token_details": {"cache_read": usage.cached},
            },
        )
        for number, call in enumerate(answer.calls, start=1):
            _add_call(message, call, f"unnamed_{self._asked}_{number}")
        return ChatResult(generations=[ChatGeneration(message=message)])


def _add_call(message: AIMessage, call: ToolRequest, own_id: str) -> None:
    """Add a call to a message, as one that is not valid where nobody can read it.

    LangChain's agents need an id: `own_id` is for a call to which the model gave none.
    """
    name, id_ = str(call.name or ""), str(call.call_id or own_id)
    try:
        given = read_json(call.arguments)
        problem = "" if isinstance(given, dict) else "the arguments are no object"
    except UnreadableInput as error:
        given, problem = call.arguments, str(error)
    if problem:
        args = str(call.arguments)
        refused = invalid_tool_call(name=name, args=args, id=id_, error=problem)
        message.invalid_tool_calls.append(refused)
    else:
        message.tool_calls.append(tool_call(name=name, args=given, id=id_))


class TextModelLLM(BaseLLM):
    """A `Model` as a LangChain LLM: text in, text out, usage and timings kept."""

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
        generation = Generation(text=answer.text or "", generation_info=about)
        return LLMResult(generations=[[generation]])


def text_llm(model: Any) -> BaseLanguageModel[Any]:
    """Return a `Model` as a LangChain LLM, and a LangChain model as it is."""
    if isinstance(model, BaseLanguageModel):
        return model
    if isinstance(model, Model):
        return TextModelLLM(model=model)
    raise TypeError(f"a {type(model).__name__} cannot continue a prompt")
