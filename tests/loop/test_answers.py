"""When two answers are the same."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.loop.answers import exact_match, f1, normalize_answer

# normalize_answer


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Kyoto", "kyoto"),
        ("  New \t York\nCity ", "new york city"),
        ("Paris.", "paris"),
        ("(Saint-Denis)", "saintdenis"),
    ],
    ids=["small letters", "one space", "no full stop", "no punctuation"],
)
def test_case_space_and_punctuation_do_not_count(text, expected):
    """small letters, one space between words, no punctuation"""
    assert normalize_answer(text) == expected


@pytest.mark.parametrize("mark", "$+_^`|~<=>%&#@*")
def test_signs_do_not_count(mark):
    """all of string.punctuation goes, signs such as $, + and _ with it"""
    assert normalize_answer(f"{mark}8{mark}8 dollars") == "88 dollars"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("The Beatles", "beatles"), ("a cup of AN apple", "cup of apple")],
)
def test_articles_do_not_count(text, expected):
    """a, an and the are dropped"""
    assert normalize_answer(text) == expected


def test_a_word_that_begins_like_an_article_stays():
    """only whole words are articles: Theodor, Anna and Atlas stay"""
    assert normalize_answer("Theodor, Anna, Atlas") == "theodor anna atlas"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("１２３", "123"), ("ＡＢＣ大学", "abc大学"), ("東京\u3000タワー", "東京 タワー")],
)
def test_full_width_becomes_half_width(text, expected):
    """full-width letters, digits and spaces count as their half-width twins"""
    assert normalize_answer(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("「京都」。", "京都"), ("《西游记》", "西游记"), ("（昔の）都！", "昔の都")],
)
def test_cjk_punctuation_does_not_count(text, expected):
    """the brackets, points and quotes of Japanese and Chinese are punctuation too"""
    assert normalize_answer(text) == expected


def test_nothing_stays_nothing():
    """an answer of articles and punctuation alone is empty"""
    assert normalize_answer(" The ... ") == ""


# exact match and F1


def test_exact_match_compares_normalised():
    """Two answers match when they are the same once normalised."""
    assert exact_match("The Eiffel Tower.", "eiffel tower")
    assert not exact_match("Eiffel", "Eiffel Tower")


def test_exact_match_is_blind_to_a_decimal_point():
    """The official rule takes a point for punctuation: 3.5 and 35 match."""
    assert exact_match("3.5", "35")


@pytest.mark.parametrize(
    ("answer", "gold", "score"),
    [
        ("Marie Curie", "marie curie", 1.0),
        ("Pierre Curie", "Marie Curie", 0.5),
        ("in the city of Kyoto", "Kyoto", 2 / 5),
        ("Nara", "Kyoto", 0.0),
        ("", "Kyoto", 0.0),
        ("京都市", "京都", 0.8),
        ("１８６９年", "1869年", 1.0),
        ("yes it is", "yes", 0.0),
        ("to be or not to be", "to be", 2 * 2 / 8),
    ],
)
def test_f1_counts_shared_words(answer, gold, score):
    """F1 weighs the words, or CJK characters, that two answers share."""
    assert math.isclose(f1(answer, gold), score)


@given(st.text(max_size=30), st.text(max_size=30))
@settings(max_examples=200, deadline=None)
def test_f1_lies_between_0_and_1_and_has_no_side(answer, gold):
    """F1 is from 0 to 1, the same both ways round, and 1 on an exact match."""
    assert 0.0 <= f1(answer, gold) <= 1.0
    assert math.isclose(f1(answer, gold), f1(gold, answer))
    assert f1(answer, answer) == 1.0
