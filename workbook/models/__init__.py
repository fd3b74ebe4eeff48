"""Models to ask: one that plays a script, one that runs here, and any hosted one.

`Script` and `local_text_model()` are what the engines take; `ScriptedModel`,
`local_model()` and `hosted_model()` are LangChain models. Nothing heavy is imported
before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbook.models.adapters import as_chat_model, as_text_model
from workbook.models.base import (
    ChatModel,
    Completion,
    Message,
    TextModel,
    ToolRequest,
    Usage,
)
from workbook.models.choice import (
    UnknownModel,
    describe_model,
    get_model,
    get_text_model,
    model_name,
)
from workbook.models.hosted import HostedModelError, MissingKey, hosted_model
from workbook.models.local import (
    LocalTextModel,
    local_completion,
    local_model,
    local_or_none,
    local_text_model,
)
from workbook.models.primed import Primed
from workbook.models.prompts import count_tokens
from workbook.models.scripted import Request, Script, ScriptExhausted, ScriptTurn
from workbook.models.server import LocalModelError, close_local_server, local_server
from workbook.models.weights import fetch_weights, weights_path
from workbook.models.wheel import WeightsError

if TYPE_CHECKING:
    from workbook.models.scripted_chat import ScriptedModel

__all__ = [
    "ChatModel",
    "Completion",
    "HostedModelError",
    "LocalModelError",
    "LocalTextModel",
    "Message",
    "MissingKey",
    "Primed",
    "Request",
    "Script",
    "ScriptExhausted",
    "ScriptTurn",
    "ScriptedModel",
    "TextModel",
    "ToolRequest",
    "UnknownModel",
    "Usage",
    "WeightsError",
    "as_chat_model",
    "as_text_model",
    "close_local_server",
    "count_tokens",
    "describe_model",
    "fetch_weights",
    "get_model",
    "get_text_model",
    "hosted_model",
    "local_completion",
    "local_model",
    "local_or_none",
    "local_server",
    "local_text_model",
    "model_name",
    "weights_path",
]


def __getattr__(name: str) -> Any:
    if name == "ScriptedModel":  # it brings LangChain along
        from workbook.models.scripted_chat import ScriptedModel

        return ScriptedModel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
