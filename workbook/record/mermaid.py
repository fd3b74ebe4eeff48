"""A Mermaid diagram as a value that JupyterLab draws by itself.

The diagram's source is text that we write; what a model or a tool wrote goes into it
only through `escape_mermaid`, so that it stays a label whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

MIME_TYPE = "text/vnd.mermaid"

# `#` opens an entity in Mermaid and `;` ends a statement, so the two come with the
# others in one pass. Doubled `%` and `$` would open a comment and a formula; a label
# with the word "style" or "classDef" would lose its last `;`.
_SPECIAL = re.compile(
    r"[#;<>&\"`\\{}]|%(?=[%{])|\$(?=\$)|s(?=tyle)|c(?=lassDef)|^(?=(?:no)?wrap:)",
)
_BREAK = re.compile(r"\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


@dataclass(frozen=True)
class Mermaid:
    """The source of a diagram. A notebook draws it; elsewhere it shows as text."""

    text: str

    def _repr_mimebundle_(
        self, include: Sequence[str] | None = None, exclude: Sequence[str] | None = None
    ) -> dict[str, str]:
        return {MIME_TYPE: self.text, "text/plain": self.text}

    def __str__(self) -> str:
        return self.text


def escape_mermaid(text: str) -> str:
    """Return text that Mermaid shows letter by letter, as a label on one line.

    >>> escape_mermaid("a;b #1\\n<b>")
    'a#59;b #35;1<br/>#60;b#62;'
    """
    lines = [_escape_line(line.strip()) for line in _BREAK.split(text.strip())]
    return "<br/>".join(lines) or "(empty)"


def _escape_line(line: str) -> str:
    line = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", line)
    return _SPECIAL.sub(_entity, line)


def _entity(match: re.Match[str]) -> str:
    # A label that starts with "wrap:" is an option; with a space of no width before
    # it, it is text.
    return f"#{ord(match[0])};" if match[0] else "#8203;"
