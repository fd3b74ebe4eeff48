"""Predictions: the guess is kept, and shown beside what happened."""

import pytest

from workbook.stage.predict import page, predict, right_choices


@pytest.mark.parametrize(
    ("choices", "happened", "right"),
    [
        (["once", "4 times", "5 times"], "5 times", ["5 times"]),
        (["0", "1"], "0.784 of them", []),
        (["Kyoto", "Kyoto] and Osaka"], "Kyoto] and Osaka", ["Kyoto] and Osaka"]),
        (["0 to 2", "3 to 6", "over 6"], "6 only Act", ["3 to 6"]),
        (["0 to 2", "3 to 6", "over 6"], "3 only Act", ["3 to 6"]),
        (["under 25 %", "25 to 75 %", "over 75 %"], "8% of all", ["under 25 %"]),
        (["none", "4 or more"], "12 of 40", ["4 or more"]),
        (["the policy", "none"], "something else", []),
    ],
)
def test_the_right_choice_is_found(choices, happened, right):
    """What happened begins with the choice, or with a number in its range"""
    assert right_choices(choices, happened) == right


@pytest.mark.parametrize(
    ("guess", "right", "words"),
    [
        ("5", None, "✓ Right"),
        ("12", None, "✗ Not right"),
        ("12", 12, "✓ Right"),  # `right` names the choice
        ("5", ["5", "12"], "✓ Right"),
    ],
)
def test_the_guess_is_shown_beside_what_happened(capsys, guess, right, words):
    """A guess, whether it was right, what happened and why"""
    asked = predict("How many calls?", 5, 12)
    asked.guess = guess
    asked.reveal("5 calls", why="The loop asks once more.", right=right)
    printed = capsys.readouterr().out
    for part in (words, f"guessed {guess}", "5 calls", "The loop asks once more."):
        assert part in printed


def test_without_a_guess_the_answer_is_folded():
    """Where there is no guess yet it says so, and keeps the rest folded"""
    asked = predict("Who wrote it?", "the model", "a tool")
    asked.reveal("the model", why="It goes on.")
    before, _, folded = page("revealed", asked).partition("<details>")
    assert "No guess yet" in before
    assert "What happened" in folded


def test_a_guess_is_kept_and_stays_once_the_answer_is_out():
    """A cell that runs again has the same guess; a later click does not change it"""
    asked = predict("Does it stay?", "yes", "no")
    buttons = type("Buttons", (), {"value": None})()
    for new in ("no", "yes"):
        asked._keep({"new": new, "owner": buttons})
    assert predict("Does it stay?", "yes", "no").guess == "yes"
    assert predict("Does it stay?", "yes", "no", "perhaps").guess == ""
    asked.reveal("yes")
    asked._keep({"new": "no", "owner": buttons})
    assert (asked.guess, buttons.value) == ("yes", "yes")


def test_what_is_asked_and_what_happened_is_text():
    """HTML in a question, a choice or an outcome does not become part of the page"""
    asked = predict("<b>one</b>?", "<i>two</i>", "`code`")
    asked.guess = "<i>two</i>"
    asked.reveal("<u>three</u>", why="<s>four</s>")
    for macro in ("question", "place", "asked", "revealed"):
        html = page(macro, asked)
        assert not any(tag in html for tag in ("<i>", "<u>", "<s>", "<b>one"))
    assert "<code>code</code>" in page("asked", asked)
