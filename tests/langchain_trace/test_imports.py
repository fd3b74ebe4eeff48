"""Old posts' imports: each row of the table is executed."""

import pytest

from workbook.langchain_trace.imports import IMPORTS, outcome


@pytest.mark.parametrize("row", IMPORTS, ids=[row["statement"] for row in IMPORTS])
def test_the_statements_do_what_the_table_says(row):
    """an old import fails with its error or works; what replaces it runs"""
    assert outcome(row["statement"]) == row.get("error", "works")
    if "today" in row:
        assert outcome(row["today"]) == "works"
    else:
        assert "error" not in row or "needs" in row["note"]
