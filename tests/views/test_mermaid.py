"""Labels in a Mermaid diagram: shown letter by letter, whatever they hold."""

import html
import re

from hypothesis import example, given
from hypothesis import strategies as st

from workbook.views.mermaid import escape_mermaid


def drawn(label):
    """Return what Mermaid shows for a label: entities decoded, breaks as newlines."""
    text = re.sub(r"#(\d+);", r"&#\1;", label).replace("<br/>", "\n")
    return html.unescape(text)


@example("a:b; #35; <b>&amp;</b> {x} \\n 100% %%{init} $$x$$ ```text 価格は88ドル。")
@example("one\r\ntwo\x1b")
@example(" \n ")
@given(st.text(max_size=60))
def test_a_label_is_one_statement_and_shows_what_was_written(text):
    """no text can end its statement, open a tag or begin another line"""
    label = escape_mermaid(text)
    bare = re.sub(r"#\d+;", "x", label).replace("<br/>", "")
    assert not re.search(r"[;:#<>&\"`\\{}\n\r\x85\u2028\u2029]|%%|\$\$", bare)
    lines = [line.strip() for line in text.strip().splitlines()]
    shown = [re.sub(r"[\x00-\x1f\x7f]", "\N{REPLACEMENT CHARACTER}", s) for s in lines]
    assert drawn(label) == ("\n".join(shown) or "(empty)")
