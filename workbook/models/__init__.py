"""Models to ask: one that plays a script, one that runs here, and any hosted one.

The engines know two protocols, `TextModel` and `ChatModel`; `Script` and the local
model are both what they take. LangChain is imported by the functions that need it.
"""

from workbook.models.base import Completion, ToolRequest, Usage
from workbook.models.choice import get_model, get_text_model
from workbook.models.script import Script

__all__ = [
    "Completion",
    "Script",
    "ToolRequest",
    "Usage",
    "get_model",
    "get_text_model",
]
