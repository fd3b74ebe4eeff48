"""What posts about LangChain import, what happens today, and what works in its place.

LangChain 1.0 moved the classic agents into `langchain-classic`; much of what a search
engine finds no longer runs as it stands. A test executes every row.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Import:
    """One statement of an old post.

    Args:
        statement: as the posts have it.
        error: the exception that it ends with today; empty where it works.
        today: the statement that works; empty where there is none without more to
            install.
        note: what changed.
    """

    statement: str
    error: str = ""
    today: str = ""
    note: str = ""

    @property
    def works(self) -> bool:
        """Whether the old statement runs as it stands."""
        return not self.error


IMPORTS = (
    Import(
        "from langchain.agents import initialize_agent",
        "ImportError",
        "from langchain_classic.agents import initialize_agent",
        "moved with 1.0; deprecated",
    ),
    Import(
        "from langchain.agents import AgentType",
        "ImportError",
        "from langchain_classic.agents import AgentType",
        "moved with 1.0",
    ),
    Import(
        "from langchain.agents import AgentExecutor, create_react_agent",
        "ImportError",
        "from langchain_classic.agents import AgentExecutor, create_react_agent",
        "moved with 1.0",
    ),
    Import(
        "from langchain.agents import Tool",
        "ImportError",
        "from langchain_core.tools import Tool",
        "tools live in langchain-core",
    ),
    Import(
        "from langchain.agents import load_tools",
        "ImportError",
        "",
        "needs langchain-community; build the tool yourself: llm_math_tool",
    ),
    Import(
        "from langchain.chains import LLMMathChain",
        "ModuleNotFoundError",
        "from langchain_classic.chains import LLMMathChain",
        "moved with 1.0; deprecated",
    ),
    Import(
        "from langchain.chains import LLMChain",
        "ModuleNotFoundError",
        "from langchain_classic.chains import LLMChain",
        "moved with 1.0; deprecated",
    ),
    Import(
        "from langchain.llms import OpenAI",
        "ModuleNotFoundError",
        "from langchain_openai import OpenAI",
        "each provider has a package of its own",
    ),
    Import(
        "from langchain.chat_models import ChatOpenAI",
        "ImportError",
        "from langchain_openai import ChatOpenAI",
        "each provider has a package of its own",
    ),
    Import(
        "from langchain.prompts import PromptTemplate",
        "ModuleNotFoundError",
        "from langchain_core.prompts import PromptTemplate",
        "prompts live in langchain-core",
    ),
    Import(
        "from langchain.schema import AgentAction",
        "ModuleNotFoundError",
        "from langchain_core.agents import AgentAction",
        "the schema lives in langchain-core",
    ),
    Import(
        "from langchain.callbacks.base import BaseCallbackHandler",
        "ModuleNotFoundError",
        "from langchain_core.callbacks import BaseCallbackHandler",
        "callbacks live in langchain-core",
    ),
    Import(
        "import langchain; langchain.debug",
        "AttributeError",
        "from langchain_core.globals import set_debug; set_debug(False)",
        "the switch is a function now; True turns it on",
    ),
    Import(
        "from langchain.globals import set_debug",
        "ModuleNotFoundError",
        "from langchain_core.globals import set_debug",
        "moved with 1.0",
    ),
    Import("from langchain_core.globals import set_debug"),
    Import("from langchain.agents import create_agent", note="today's agent"),
    Import("from langchain.tools import tool"),
)


def imports_frame() -> pd.DataFrame:
    """Return the statements as a table, a row each."""
    import pandas as pd

    rows = [{**asdict(row), "works": row.works} for row in IMPORTS]
    columns = ["statement", "works", "error", "today", "note"]
    return pd.DataFrame(rows, columns=columns)
