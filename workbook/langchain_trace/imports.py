"""What posts about LangChain import, what happens today, and what works in its place.

LangChain 1.0 moved the classic agents into `langchain-classic`. A test runs every row.
"""

import tomllib
from typing import NamedTuple

from workbook.paths import DATA


class Import(NamedTuple):
    """A statement of an old post, the error that it ends with today, what works now."""

    statement: str
    error: str = ""
    today: str = ""
    note: str = ""


_TEXT = (DATA / "langchain_imports.toml").read_text(encoding="utf-8")
IMPORTS = tuple(Import(**row) for row in tomllib.loads(_TEXT)["import"])
