"""The pages of `data/pages/`, templates that escape what they show, and all tables."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from workbook.paths import DATA


@cache
def _pages() -> Any:
    from jinja2 import Environment, FileSystemLoader

    options: Any = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True}
    return Environment(loader=FileSystemLoader(DATA / "pages"), **options)


def template(name: str, **known: Any) -> Any:
    """Return a page that escapes what it shows, and knows these names."""
    return _pages().get_template(name, globals=known)


MOST_ROWS = 100  # of a table; below it is said how many more there are
_NUMBER = re.compile(r"[-+±−]?[\d.,]+( of [\d.,]+)?( ?(%|s|ms))?|–|")


def table(
    head: Sequence[object], rows: Iterable[Sequence[Any]], footer: str = ""
) -> str:
    """Return a table as HTML: numbers at the right, texts at the left."""
    written = [[as_cell(value) for value in row] for row in rows]
    numbers = [
        any(column) and all(map(_NUMBER.fullmatch, column))
        for column in zip(*written, strict=True)
    ] or [False] * len(head)
    if more := len(written[MOST_ROWS:]):
        footer = f"and {more:,} more rows. {footer}"
    grid = template("shown.html").module.grid
    return str(grid([*map(str, head)], written[:MOST_ROWS], numbers, footer))


def as_cell(value: Any) -> str:
    """Return a value as it is written in a table.

    >>> [as_cell(value) for value in (1109, 0.12345, 2500.0, None, "a", True)]
    ['1,109', '0.1235', '2,500', '–', 'a', 'True']
    """
    if value is None or value != value:
        return "–"
    if isinstance(value, str | bool) or not hasattr(value, "__round__"):
        return str(value)
    whole = value == round(value) or abs(value) >= 1000
    return f"{value:,.0f}" if whole else f"{value:.4g}"


def frame_table(frame: Any) -> str:
    """Return a pandas DataFrame as HTML; rows that are only numbered have no name."""
    index = frame.index
    told = [" ".join(map(str, c)) if isinstance(c, tuple) else c for c in frame.columns]
    rows = frame.itertuples(index=False, name=None)
    if type(index).__name__ == "RangeIndex" and index.name is None:
        return table(told, rows)
    names = [each if isinstance(each, tuple) else (each,) for each in index]
    named = [(*name, *row) for name, row in zip(names, rows, strict=True)]
    return table([*(name or "" for name in index.names), *told], named)


def tables_in_notebooks(formatter: Any) -> None:
    """Have a notebook's HTML formatter show tables of pandas in the look of ours."""
    for module in ("pandas", "pandas.core.frame"):  # of version 3, and before
        formatter.for_type_by_name(module, "DataFrame", frame_table)
