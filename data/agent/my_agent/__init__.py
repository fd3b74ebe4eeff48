"""An agent of your own: a model, tools, guards, and what it did in traces.

from my_agent import Agent
print(Agent(model="openai:gpt-4o-mini").ask("What is 17% of 2350?").answer)
"""

from .agent import Agent
from .config import ConfigError, UsageError
from .parts import PartError
from .runtime.calls import ToolFailure
from .runtime.machine import RunResult
from .runtime.permission import Approve, Edit, Reject, Request, no, yes
from .runtime.tools import Tool, tool
from .runtime.trace import Trace

__all__ = [
    "Agent", "Approve", "ConfigError", "Edit", "PartError", "Reject", "Request",
    "RunResult", "Tool", "ToolFailure", "Trace", "UsageError", "no", "tool", "yes",
]  # fmt: skip
