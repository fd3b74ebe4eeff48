"""The pages of `data/pages/`, templates that escape what they show, and all tables."""

import base64
import io
import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from workbook.paths import DATA

MOST_ROWS = 100  # of a table; a line below it says how many more there are
_NUMBER = re.compile(r"[-+±−]?[\d.,]+( of [\d.,]+)?( ?(%|s|ms))?|–|")


@cache
def _pages() -> Any:
    from jinja2 import Environment, FileSystemLoader

    options: Any = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True}
    return Environment(loader=FileSystemLoader(DATA / "pages"), **options)


def template(name: str, **known: Any) -> Any:
    """Return a page that escapes what it shows, and knows these names."""
    return _pages().get_template(name, globals=known)


def table(
    head: Sequence[object], rows: Iterable[Sequence[Any]], footer: str = ""
) -> str:
    """Return a table as HTML: numbers at the right, texts at the left."""
    columns = [as_column(column) for column in zip(*rows, strict=True)]
    numbers = [any(c) and all(map(_NUMBER.fullmatch, c)) for c in columns]
    written = [*zip(*columns, strict=True)]
    if more := len(written[MOST_ROWS:]):
        footer = f"and {more:,} more rows. {footer}"
    shown = written[:MOST_ROWS], numbers or [False] * len(head), footer
    return str(template("shown.html").module.grid([*map(str, head)], *shown))


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


def plot_html(figure: Any) -> str:
    """Return a figure of matplotlib as HTML, for light pages and for dark ones."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=200, bbox_inches="tight")
    wide = int.from_bytes(file.getvalue()[16:20])  # as a PNG says in its head
    png = base64.b64encode(file.getvalue()).decode()
    words = " · ".join(filter(None, (axes.get_title() for axes in figure.axes)))
    return str(template("shown.html").module.plot(png, wide // 2, words))
