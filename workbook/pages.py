"""The pages of `data/pages/`, templates that escape what they show, and all tables."""

import base64
import io
import re
import sys
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
    columns = [as_column(column) for column in zip(*rows, strict=True)]
    numbers = [any(c) and all(map(_NUMBER.fullmatch, c)) for c in columns]
    written = list(zip(*columns, strict=True))
    if more := len(written[MOST_ROWS:]):
        footer = f"and {more:,} more rows. {footer}"
    grid = template("shown.html").module.grid
    shown = written[:MOST_ROWS], numbers or [False] * len(head)
    return str(grid([*map(str, head)], *shown, footer))


def as_column(values: Sequence[Any]) -> list[str]:
    """Return values as they are written below each other: with as many decimals."""
    texts = [as_cell(value) for value in values]
    if not all(isinstance(value, float) for value in values):
        return texts
    decimals = max(len(text.partition(".")[2]) for text in texts)
    pairs = zip(values, texts, strict=True)
    return [t if t == "–" else f"{value:,.{decimals}f}" for value, t in pairs]


def as_cell(value: Any) -> str:
    """Return a value as it is written in a table.

    >>> [as_cell(value) for value in (1109, 0.12345, 2500.0, None, "a", True)]
    ['1,109', '0.1235', '2,500', '–', 'a', 'True']
    """
    if value is None or value != value:
        return "–"
    if isinstance(value, str | bool) or not hasattr(value, "__round__"):
        return str(value)
    if value == round(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}" if abs(value) >= 0.001 else f"{value:.6f}"


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


def plot_html(figure: Any) -> str:
    """Return a figure of matplotlib as HTML, for light pages and for dark ones."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=200, bbox_inches="tight")
    wide = int.from_bytes(file.getvalue()[16:20])  # as a PNG says in its head
    png = base64.b64encode(file.getvalue()).decode()
    words = " · ".join(filter(None, (axes.get_title() for axes in figure.axes)))
    return str(template("shown.html").module.plot(png, wide // 2, words))


def style_page() -> None:
    """Give the page of a notebook what no cell can say of itself."""
    ipython = sys.modules.get("IPython")
    if ipython and ipython.get_ipython() and DATA.is_dir():
        style = str(template("shown.html").module.page())
        ipython.display.display({"text/html": style, "text/plain": ""}, raw=True)


def looks_in_notebooks(formatter: Any) -> None:
    """Have a notebook's HTML formatter show tables and plots in one look."""
    for module in ("pandas", "pandas.core.frame"):  # of version 3, and before
        formatter.for_type_by_name(module, "DataFrame", frame_table)
    # A backend that begins its work forgets what was said of a Figure, not of its base.
    formatter.for_type_by_name("matplotlib.figure", "FigureBase", plot_html)
