"""What posts about LangChain import, what happens today, and what works in its place.

LangChain 1.0 moved the classic agents into `langchain-classic`; much of what a search
engine finds no longer runs as it stands. A test executes every row.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass

from workbook.paths import DATA


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


_TEXT = (DATA / "langchain_imports.toml").read_text(encoding="utf-8")
IMPORTS = tuple(Import(**row) for row in tomllib.loads(_TEXT)["import"])
