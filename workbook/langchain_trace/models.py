"""Our models, as LangChain's two agents want them.

The classic agent asks a model for text, so any `TextModel` becomes a LangChain LLM.
`create_agent` asks for function calls, so a script of text turns is turned into those.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseLanguageModel, BaseLLM
from langchain_core.messages import BaseMessage
from langchain_core.outputs import Generation, LLMResult
from langchain_core.tools import BaseTool
from pydantic import ConfigDict

from workbook.langchain_trace.function_calls import as_function_calls
from workbook.models.base import Completion, TextModel
from workbook.models.langchain import ScriptedModel
from workbook.models.prompts import count_tokens
from workbook.models.script import Script
from workbook.tools.tool import Tool

LABEL = "Thought:"


class TextModelLLM(BaseLLM):
    """A `TextModel` as a LangChain LLM: text in, text out, usage and timings kept."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    model: TextModel

    @property
    def _llm_type(self) -> str:
        return self.model.name

    def _generate(
        self,
        prompts: list[str],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> LLMResult:
        if len(prompts) != 1:
            raise ValueError(f"one prompt at a time, not {len(prompts)}: call it again")
        answer = self.model.complete(prompts[0], stop=stop or ())
        info: dict[str, Any] = {"finish_reason": answer.finish_reason}
        if answer.timings:
            info["timings"] = answer.timings
        spent = {
            "prompt_tokens": answer.usage.input,
            "completion_tokens": answer.usage.output,
            "prompt_tokens_details": {"cached_tokens": answer.usage.cached},
        }
        generation = Generation(text=answer.text, generation_info=info)
        return LLMResult(generations=[[generation]], llm_output={"token_usage": spent})


class ContinuedScript:
    """A script whose turns go on where the prompt ends.

    The classic prompt ends with "Thought:", and a model writes what follows. A script's
    turns have that label; here it is not said twice.
    """

    def __init__(self, script: Script) -> None:
        self.name, self.script = script.name, script

    def complete(self, prompt: str, *, stop: Sequence[str] = ()) -> Completion:
        """Return the script's next turn, less a label that is there already."""
        answer = self.script.complete(prompt, stop=stop)
        if not prompt.endswith(LABEL) or not answer.text.startswith(LABEL):
            return answer
        text = answer.text.removeprefix(LABEL)
        usage = replace(answer.usage, output=count_tokens(text))
        return replace(answer, text=text, usage=usage)


class WithoutStop:
    """A model that is never told where to stop: what happens without stop words."""

    def __init__(self, model: TextModel) -> None:
        self.name, self.model = model.name, model

    def complete(self, prompt: str, *, stop: Sequence[str] = ()) -> Completion:
        """Ask the model and leave out `stop`."""
        return self.model.complete(prompt)


class CallingModel(ScriptedModel):
    """The scripted chat model for scripts of text turns: an Action becomes a call."""

    contracts: tuple[Tool, ...] = ()

    def _ask(
        self, messages: list[BaseMessage], stop: list[str] | None, options: Any
    ) -> Completion:
        answer = super()._ask(messages, stop, options)
        if answer.tool_requests:
            return answer
        call_id = f"call_{self.script.asked}"
        found = as_function_calls(answer.text, self.contracts, call_id=call_id)
        return replace(found, usage=answer.usage)


def script_of(model: Any) -> Script | None:
    """Return the script that a model plays, or None where it plays none."""
    found = getattr(model, "script", model)
    return found if isinstance(found, Script) else None


def text_llm(model: Any) -> BaseLanguageModel[Any]:
    """Return a model as LangChain's classic agent takes it.

    Args:
        model: a `TextModel`, or a LangChain model, which is taken as it is.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(model, Script):
        return TextModelLLM(model=ContinuedScript(model))
    if isinstance(model, BaseLanguageModel):
        return model
    if isinstance(model, TextModel):
        if isinstance(model, WithoutStop) and isinstance(model.model, Script):
            model = WithoutStop(ContinuedScript(model.model))
        return TextModelLLM(model=model)
    raise TypeError(
        f"a {type(model).__name__} cannot continue a prompt: "
        "give a TextModel or a LangChain model"
    )


def chat_model(model: Any, tools: Iterable[Tool | BaseTool]) -> Any:
    """Return a model as `create_agent` takes it: one that can call functions.

    Args:
        model: a `Script`, or a LangChain chat model, which is taken as it is.
        tools: what the script's actions may name.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(model, Script):
        ours = tuple(tool for tool in tools if isinstance(tool, Tool))
        return CallingModel(script=model, contracts=ours)
    if hasattr(model, "bind_tools"):
        return model
    raise TypeError(
        f"a {type(model).__name__} cannot call functions: "
        "give a Script or a LangChain chat model"
    )
