"""Old posts' imports: each row of the table is executed."""

import pytest

from workbook.langchain_trace.imports import IMPORTS

EACH = pytest.mark.parametrize("row", IMPORTS, ids=[row.statement for row in IMPORTS])


def outcome(statement):
    """Return the name of what a statement raises, or "" where it works."""
    try:
        exec(statement, {})
    except Exception as error:
        return type(error).__name__
    return ""


@EACH
def test_the_old_statement_does_what_the_table_says(row):
    """an old import fails with the error in the table, or works"""
    assert outcome(row.statement) == row.error


@EACH
def test_the_statement_of_today_works(row):
    """what the table gives in its place runs"""
    assert outcome(row.today) == ""


@EACH
def test_what_fails_has_a_replacement_or_a_reason(row):
    """a statement that fails comes with one that works, or says what is missing"""
    assert row.today or not row.error or "needs" in row.note
