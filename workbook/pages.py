"""The pages of `data/pages/`: templates that escape what they show."""

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
