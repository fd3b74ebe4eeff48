"""The matcher: the sentences, numbers and addresses of a text."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.lessons.grounding import split_claims
from workbook.lessons.matcher import addresses_in, facts, sentences


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It is 3.5 km in v1.2. So! He", ["It is 3.5 km in v1.2.", "So!", "He"]),
        ("J. S. Bach left the U.S. He died.", ["J. S. Bach left the U.S.", "He died."]),
        ('He said "It is. It was." in May.', ['He said "It is. It was." in May.']),
        ("「はい。そうだ。」と言った。", ["「はい。そうだ。」と言った。"]),
        ("1. The Nile.\n2) a long\nRhine\n\nIt", ["The Nile.", "a long Rhine", "It"]),
        ("High. [1] 高い。【doc_2】 Old", ["High. [1]", "高い。【doc_2】", "Old"]),
    ],
)
def test_a_text_is_cut_into_its_sentences(text, found):
    """full stops of three languages part; abbreviations, decimals and quotes do not"""
    assert sentences(text) == found


def test_numbers_are_read_in_digits_words_and_characters():
    """each number is read with its unit"""
    assert facts("3,776 m, twenty-five").numbers == {(3776, "m"), (25, "")}
    assert facts("一百二十米, 2nd").numbers == {(120, "m"), (2, "")}


@pytest.mark.parametrize(
    "text",
    ['<img src="ht\ntps://a.example/x">', "<a href=x>", "[x](https&colon;//a.example)",
     "&#104;ttps://a.example", "ｈｔｔｐｓ://a.example", "ht\u200btps://a.example",
     "HTTPS://A.EXAMPLE", "https&colon;&sol;&sol;a.example", "![x]( https:a.example)",
     "![x](\nhttps:a.example)", "![x](<  x:a.example>)", "<x-app:a>", "a.example/x?d=1",
     "_https://a.example_", "こちらhttps://a.example", "> [1]: //a", "- [1]: x:a",
     r"$\href{https:a.example}{x}$", f"[{'a' * 120}]: x:a", r"[a\]]: x:a",
     '<img alt=">" src=x:a>', "<style>@import 'x:a'</style>", "![x](/pixel?d=1)",
     r"http:\\a.example\x", "mailto:ada@a.example", "ada@b.example", "www.a.example",
     "data:text/html,<b>x", "203.0.113.7", "evil dot example", "evil[.]example"],
)  # fmt: skip
def test_an_address_is_found_however_it_hides(text):
    """what a browser or a renderer of Markdown takes for an address is one"""
    assert addresses_in(text)


@pytest.mark.parametrize(
    "text",
    ["It is 7, e.g. 3 + 4; see [D1], and/or step (2) at 12:30. 1,234円です。",
     "handlers[state](run) in src/price.py:12 // a comment in C:\\Users",
     "It is 3.14, of version 1.2.3.4 of the tool; see 1.2.3 and section 1.2.3.4.",
     "Dot to dot: the dot above, v1.2.3.4, list[.]x, 256.1.1.1"],
)  # fmt: skip
def test_other_words_are_no_address(text):
    """times, files, code, versions and citations are no addresses"""
    assert addresses_in(text) == []


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_categories=["Zs", "Cc"])))
def test_data_after_a_known_address_makes_another(data):
    """an address with more than three signs after it is not the known one"""
    known = "https://a.example/x"
    if data.rstrip(".,;:!?)]}>\"'*_`。、，）」』"):
        assert addresses_in(f"[x]({known}{data})") != [known]
    assert addresses_in(f"{known}!!!") == [known] != addresses_in(f"{known}!!!!")


@pytest.mark.parametrize(
    "piece",
    ["a.", "a@", "](", "<a ", "<a src", "//a.", "data:", "http:/", "[", " src =", "[\n",
     "1.", "a dot ", "a [.] ", "A is b. ", ". ", "[1]", "“", "(", "```a", "。", "\n- ",
     ".[1] ", "「はい。」", "I think ", "I do not know, "],
)  # fmt: skip
def test_a_hundred_thousand_characters_take_no_time(piece):
    """a text that was made to be slow takes time in proportion"""
    text, started = piece * (100_000 // len(piece)), time.thread_time()
    addresses_in(text)
    split_claims(text)
    assert time.thread_time() - started < 30
