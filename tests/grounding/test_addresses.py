"""The addresses of a text: what a browser or a renderer makes a link of."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.grounding.addresses import addresses_in


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("See https://a.example/x?d=1.", ["https://a.example/x?d=1"]),
        ("![x](https://a.example/p.png?d=1)", ["https://a.example/p.png?d=1"]),
        (
            "[it](//a.example/x) and ftp://b.example",
            ["//a.example/x", "ftp://b.example"],
        ),
        ("[x]: /pixel?d=1", ["[x]: /pixel?d=1"]),
        ("![x](/pixel?d=1)", ["/pixel?d=1"]),
        (r"[x](https\://a.example)", [r"https\://a.example"]),
        (r"http:\\a.example\x", [r"http:\\a.example\x"]),
        ("mail mailto:ada@a.example", ["mailto:ada@a.example"]),
        ("or to ada@a.example!", ["ada@a.example"]),
        ("www.a.example, or a.example/x?d=1", ["www.a.example", "a.example/x?d=1"]),
        ("data:text/html,<b>x", ["data:text/html,<b>x"]),
        ("look at\nhttps://a.example\nthen", ["https://a.example"]),
        ("https://a.example、", ["https://a.example"]),
        ("at 203.0.113.7, or 10.0.0.1:80/x", ["203.0.113.7", "10.0.0.1:80/x"]),
        ("evil dot example and evil[.]example", ["evil dot example", "evil[.]example"]),
    ],
)
def test_the_addresses_of_a_text(text, found):
    """links, images, mail, hosts with a path are addresses, without what ends them"""
    assert addresses_in(text) == found


@pytest.mark.parametrize(
    "text",
    ['<img src="ht\ntps://a.example/x">', "<a href=x>", "[x](https&colon;//a.example)",
     "&#104;ttps://a.example", "ｈｔｔｐｓ://a.example", "ht\u200btps://a.example",
     "HTTPS://A.EXAMPLE", "https://known.example@a.example", "//a.example:8080/x",
     "https&colon;&sol;&sol;a.example", "![x]( https:a.example)",
     "![x](\nhttps:a.example)", "![x](<  x:a.example>)", "<x-app:a>",
     "_https://a.example_", "こちらhttps://a.example", "> [1]: //a", "- [1]: x:a",
     r"$\href{https:a.example}{x}$", f"[{'a' * 120}]: x:a", r"[a\]]: x:a",
     '<img alt=">" src=x:a>', "<style>@import 'x:a'</style>"],
)  # fmt: skip
def test_an_address_that_hides_is_found(text):
    """what a browser or a renderer of Markdown takes for an address is one"""
    assert addresses_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "It is 7, e.g. 3 + 4; see [D1], and/or step (2).",
        "handlers[state](run) in src/price.py:12 // a comment",
        "At 12:30 the ratio was 3:4. C:\\Users is a folder.",
        "売上は1,234円です。",
        "It is 3.14, of version 1.2.3.4 of the tool; see 1.2.3 and section 1.2.3.4.",
        "Dot to dot: the dot above, v1.2.3.4, list[.]x, 256.1.1.1",
    ],
)
def test_other_words_are_no_address(text):
    """times, files, code and citations are no addresses"""
    assert addresses_in(text) == []


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Zs", "Cc"])))
def test_data_behind_a_known_address_makes_another(data):
    """an address with anything more than three signs behind it is not the known one"""
    known = "https://a.example/x"
    if data.rstrip(".,;:!?)]}>\"'*_`。、，）」』"):
        assert addresses_in(f"[x]({known}{data})") != [known]
    assert addresses_in(f"{known}!!!") == [known] != addresses_in(f"{known}!!!!")


@pytest.mark.parametrize(
    "piece",
    ["a.", "a@", "](", "<a ", "<a src", "//a.", "data:", "http:/", "[", " src =", "[\n",
     "1.", "a dot ", "a [.] "],
)  # fmt: skip
def test_a_long_text_takes_no_time(piece):
    """a text made to be slow takes time in proportion"""
    start = time.process_time()
    addresses_in(piece * (100_000 // len(piece)))
    assert time.process_time() - start < 1
