"""When two answers are the same."""

import pytest

from workbook.loop.answers import exact_match, normalize_answer


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  New \t York\nCity ", "new york city"),
        ("$8_8^ `|~<=>%&#@*dollars+ (Saint-Denis).", "88 dollars saintdenis"),
        ("a cup of AN apple, The Theodor, Anna", "cup of apple theodor anna"),
        ("１２３ ＡＢＣ大学\u3000タワー", "123 abc大学 タワー"),
        ("「京都」。《西游记》（昔の）都！", "京都西游记昔の都"),
    ],
)
def test_case_space_punctuation_articles_and_width_do_not_count(text, expected):
    """small letters, one space between words, no punctuation in any script"""
    assert normalize_answer(text) == expected
    assert exact_match(text, f"The {expected}.")
    assert not exact_match(text, f"{expected} tower")
