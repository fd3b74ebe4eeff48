"""Text as a label in a Mermaid diagram."""

import re

# `#` opens an entity in Mermaid, `;` ends a statement, `:` a name; doubled, `%` opens a
# comment and `$` a formula.
_SPECIAL = re.compile(r"[#;:<>&\"`\\{}]|%(?=[%{])|\$(?=\$)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def escape_mermaid(text: str) -> str:
    """Return text that Mermaid shows letter by letter, as a label on one line."""
    lines = (line.strip() for line in text.strip().splitlines())
    plain = "\n".join(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", line) for line in lines)
    shown = _SPECIAL.sub(lambda found: f"#{ord(found[0])};", plain)
    return shown.replace("\n", "<br/>") or "(empty)"
