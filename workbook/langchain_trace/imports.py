"""What posts about LangChain import, what happens today, and what works in its place.

LangChain 1.0 moved the classic agents into `langchain-classic`. A test runs every row.
"""

import tomllib
from typing import TYPE_CHECKING, NamedTuple

from workbook.paths import DATA
from workbook.wait import waiting

if TYPE_CHECKING:
    import pandas as pd


class Import(NamedTuple):
    """A statement of an old post, the error that it ends with today, what works now."""

    statement: str
    error: str = ""
    today: str = ""
    note: str = ""


_TEXT = (DATA / "langchain_imports.toml").read_text(encoding="utf-8")
IMPORTS = tuple(Import(**row) for row in tomllib.loads(_TEXT)["import"])


def import_table() -> "pd.DataFrame":
    """Run each statement of the posts, and what takes its place; return the results."""
    import pandas as pd

    rows = []
    with waiting("trying the imports", total=len(IMPORTS)) as tick:
        for row in IMPORTS:
            found, now = outcome(row.statement), row.today and outcome(row.today)
            rows.append((row.statement, found, row.today, now))
            tick()
    columns = ["the post says", "result", "write today", "its result"]
    return pd.DataFrame(rows, columns=columns)


def outcome(statement: str) -> str:
    """Return the name of what a statement raises, or that it works."""
    try:
        exec(statement, {})
    except Exception as error:  # whatever an import of today raises
        return type(error).__name__
    return "works"
