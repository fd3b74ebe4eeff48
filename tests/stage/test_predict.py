"""Predictions: the guess is kept, and stands beside what happened."""

import pytest

from workbook.stage.predict import page, predict, right_choices


@pytest.mark.parametrize(
    ("choices", "happened", "right"),
    [
        (["once", "4 times", "5 times"], "5 times", ["5 times"]),
        (["0", "1"], "0.784 of them", []),
        (["Kyoto", "Kyoto] and Osaka"], "Kyoto] and Osaka", ["Kyoto] and Osaka"]),
        (["0 to 2", "3 to 6", "over 6"], "6 only Act", ["3 to 6"]),
        (["under 25 %", "25 to 75 %", "over 75 %"], "8% of all", ["under 25 %"]),
        (["none", "4 or more"], "12 of 40", ["4 or more"]),
        (["the policy", "none"], "something else", []),
    ],
)
def test_the_right_choice_is_found(choices, happened, right):
    """What happened begins with the choice, or with a number in its range"""
    assert right_choices(choices, happened) == right


def test_the_right_choice_can_be_given():
    """Where what happened is told in other words, `right` names the choice"""
    asked = predict("How many errors?", "none", "one", "two")
    asked.reveal("2: nobody looked at `exact`", right="two")
    assert asked.right == ["two"]
    asked.reveal("2 or 1", right=["one", "two"])
    assert asked.right == ["one", "two"]


@pytest.mark.parametrize(("guess", "words"), [("5", "✓ Right"), ("12", "✗ Not right")])
def test_the_guess_stands_beside_what_happened(capsys, guess, words):
    """A guess, whether it was right, what happened and why"""
    asked = predict("How many calls?", 5, 12)
    asked.guess = guess
    asked.reveal("5 calls", why="The loop asks once more.")
    told = capsys.readouterr().out
    for part in (words, f"guessed {guess}", "5 calls", "The loop asks once more."):
        assert part in told


def test_without_a_guess_the_answer_is_folded():
    """Where there is no guess yet it says so, and keeps the rest folded"""
    asked = predict("Who wrote it?", "the model", "a tool")
    asked.reveal("the model", why="It goes on.")
    html = page("revealed", asked)
    assert (
        html.index("No guess yet")
        < html.index("<details>")
        < html.index("What happened")
    )
    asked.guess = "a tool"
    assert "<details>" not in page("revealed", asked)


def test_a_cell_that_runs_again_keeps_its_guess():
    """The same question and choices have the same guess, in the whole kernel"""
    predict("Again?", "yes", "no").guess = "yes"
    assert predict("Again?", "yes", "no").guess == "yes"
    assert predict("Again?", "yes", "no", "perhaps").guess == ""


def test_once_the_answer_is_out_the_guess_stays():
    """A later click does not change a guess that was compared"""
    asked = predict("Does it stay?", "yes", "no")
    buttons = type("Buttons", (), {"value": None})()
    asked._keep({"new": "no", "owner": buttons})
    asked._keep({"new": "yes", "owner": buttons})
    assert asked.guess == "yes"
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
