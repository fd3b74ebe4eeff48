"""A guess is asked for, kept, and held next to what happened."""

from workbook import predict


def test_a_guess_is_kept_and_revealed(capsys):
    """what was chosen is said again, next to what happened"""
    guess = predict("How many calls?", 5, 12)
    guess.box().value = "12"
    assert guess.guess == "12"
    guess.reveal("9 calls")
    assert capsys.readouterr().out.splitlines() == [
        "How many calls?",
        "  guessed   12",
        "  it was    9 calls",
    ]


def test_without_choices_one_types():
    """a question without choices has a box for words"""
    guess = predict("Why?")
    guess.box().value = " because "
    assert guess.guess == "because"
    assert guess.box().value == "because"


def test_without_a_guess_nothing_is_graded(capsys):
    """who did not guess reads what happened all the same"""
    predict("How many calls?", "5").reveal(5)
    assert "no guess was made" in capsys.readouterr().out


def test_a_guess_survives_its_cell_being_shown_again():
    """a box that is drawn again shows the guess that was made"""
    guess = predict("How many?", "5", "12")
    guess.choose("5")
    assert guess.box().value == "5"


def test_the_question_stands_apart_from_its_widget(kernel):
    """the question is an output of its own, for pages on which no widget runs"""
    shown = kernel("from workbook import predict\npredict('1 < 2?', 'yes', 'no')")
    assert shown.splitlines()[0] == "Predict: 1 < 2? (yes / no)"
    assert "ToggleButtons" in shown
