"""When two answers are the same."""

import pytest

from workbook.loop.answers import exact_match, normalize_answer


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  New \t York\nCity ", "new york city"),
        ("(Saint-Denis).", "saintdenis"),
        ("$8_8^ `|~<=>%&#@*dollars+", "88 dollars"),
        (
            "a cup of AN apple, The Theodor, Anna, Atlas",
            "cup of apple theodor anna atlas",
        ),
        ("１２３ ＡＢＣ大学\u3000タワー", "123 abc大学 タワー"),
        ("「京都」。《西游记》（昔の）都！", "京都西游记昔の都"),
        (" The ... ", ""),
    ],
)
def test_case_space_punctuation_articles_and_width_do_not_count(text, expected):
    """small letters, one space between words, no punctuation in any script"""
    assert normalize_answer(text) == expected


def test_exact_match_compares_normalised():
    """Two answers match when they are the same once normalised, as officially."""
    assert exact_match("The Eiffel Tower.", "eiffel tower")
    assert not exact_match("Eiffel", "Eiffel Tower")
    assert exact_match("3.5", "35")  # the official rule takes a point for punctuation
