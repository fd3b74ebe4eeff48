"""The one look of tables, whatever they are made of."""

import re

from workbook.checks.display import Grid
from workbook.pages import table


def sides(page):
    """Return the side of each column, as its title has it."""
    return re.findall(r"<th style=\"text-align:(\w+)", page)


def test_texts_are_at_the_left_and_numbers_at_the_right():
    """also numbers that were written as text, with a unit or as a share"""
    rows = [["a", 1109, "12 of 40", "88 %", "w004"], ["b", None, "", "9 %", "3"]]
    page = table(["", "n", "right", "rate", "source"], rows)
    assert sides(page) == ["left", "right", "right", "right", "left"]
    assert "1,109" in page
    assert "1109" not in page


def test_a_table_without_rows_has_its_head():
    """and says that there are none; a long one says how many it leaves out"""
    assert sides(page := table(["a", "b"], [])) == ["left", "left"]
    assert "none" in page
    assert "none" in repr(Grid(["a", "b"], []))
    assert "and 1,100 more rows. Done." in table(
        ["n"], [[n] for n in range(1200)], "Done."
    )


def test_a_grid_as_text_writes_its_numbers_alike():
    """the thousands are told apart in plain text as well"""
    assert "1,109" in repr(Grid(["n"], [[1109]]))
