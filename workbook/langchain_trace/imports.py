"""What old posts about LangChain import, how that ends today, and what works now."""

import tomllib
from typing import TYPE_CHECKING

from workbook.paths import DATA
from workbook.wait import waiting

if TYPE_CHECKING:
    import pandas as pd

_TEXT = (DATA / "lessons/03/imports.toml").read_text(encoding="utf-8")
IMPORTS: list[dict[str, str]] = tomllib.loads(_TEXT)["import"]


def import_table() -> "pd.DataFrame":
    """Run each statement of the posts, and what takes its place; return the results."""
    import pandas as pd

    rows = []
    with waiting("trying the imports", total=len(IMPORTS)) as tick:
        for row in IMPORTS:
            old, today = row["statement"], row.get("today", "")
            rows.append((old, outcome(old), today, today and outcome(today)))
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
