"""What `lookup_next` must do: walk through the sentences that hold a string."""

import pytest

NILE = (
    "The Nile is a river in Africa.",
    "It is about 6,650 km long.",
    "The White Nile leaves Lake Victoria.",
    "Cairo lies on its banks.",
    "The Blue Nile comes from Lake Tana, a lake.",
)
JAPANESE = ("標高は3,776メートルである。", "日本で最も高い。")


def sentence_of(found):
    """Return the sentence that a lookup shows, without its number."""
    return found[0].partition(") ")[2]


@pytest.mark.parametrize(("position", "number"), [(0, "1 / 2"), (1, "2 / 2")])
def test_a_match_has_its_number(lookup_next, position, number):
    """the text is "(Result i / n) sentence": match i, counted from 1, of n matches"""
    text, _ = lookup_next(NILE, "Lake", position)
    why = f"at position {position} the text is {text!r}, not (Result {number}) The …"
    assert text.startswith(f"(Result {number}) The "), why


@pytest.mark.parametrize(
    ("position", "expected"), [(0, (NILE[2], 1)), (1, (NILE[4], 2))]
)
def test_the_position_counts_matches(lookup_next, position, expected):
    """the position counts matches shown, not sentences passed, and moves on by one"""
    found = lookup_next(NILE, "Lake", position)
    shown = sentence_of(found), found[1]
    assert shown == expected, f"sentence and new position are {shown}, not {expected}"


@pytest.mark.parametrize(
    ("keyword", "position"), [("Nile", 3), ("Nile", 4), ("Amazon", 0), ("Amazon", 2)]
)
def test_there_is_an_end(lookup_next, keyword, position):
    """if no match is left, or there was none, the position stays as it is"""
    assert lookup_next(NILE, keyword, position) == ("No more results.", position)


@pytest.mark.parametrize(
    "keyword", ["lake victoria", "LAKE VICTORIA", " Lake Victoria "]
)
def test_case_and_blanks_do_not_matter(lookup_next, keyword):
    """capital letters, and spaces around the keyword, make no difference"""
    found = sentence_of(lookup_next(NILE, keyword, 0))
    assert found == NILE[2], f"the sentence for {keyword!r} is {found!r}"


@pytest.mark.parametrize("keyword", ["", "  "])
def test_a_blank_keyword_matches_nothing(lookup_next, keyword):
    """a blank keyword matches nothing"""
    assert lookup_next(NILE, keyword, 0) == ("No more results.", 0)


@pytest.mark.parametrize(
    ("sentences", "keyword", "expected"),
    [
        (JAPANESE, "日本", "日本で最も高い。"),
        (["a (b", "abc", "a.c"], "a.c", "a.c"),
        (["a (b", "abc", "a.c"], "(b", "a (b"),
    ],
    ids=["no blanks between words", "a dot", "a bracket"],
)
def test_the_keyword_is_text_and_no_pattern(lookup_next, sentences, keyword, expected):
    """the keyword is plain text, not a pattern, and may be part of a word"""
    found = sentence_of(lookup_next(sentences, keyword, 0))
    assert found == expected, f"the sentence for {keyword!r} is {found!r}"
