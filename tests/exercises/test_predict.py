"""A guess is asked for, kept, and held next to what happened."""

from workbook import predict


def box_of(guess):
    """Return the widget in which one guesses, as a notebook would show it."""
    import ipywidgets

    model = guess._repr_mimebundle_()["application/vnd.jupyter.widget-view+json"]
    widget = ipywidgets.Widget.widgets[model["model_id"]]
    return widget.children[1]


def test_a_guess_is_kept_and_revealed(capsys):
    """what was chosen is said again, next to what happened"""
    guess = predict("How many calls?", 5, 12)
    box_of(guess).value = "12"
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
    box_of(guess).value = " because "
    assert guess.guess == "because"
    assert box_of(guess).value == "because"


def test_without_a_guess_nothing_is_graded(capsys):
    """who did not guess reads what happened all the same"""
    predict("How many calls?", "5").reveal(5)
    assert "no guess was made" in capsys.readouterr().out


def test_a_guess_survives_its_cell_being_shown_again():
    """a box that is drawn again shows the guess that was made"""
    guess = predict("How many?", "5", "12")
    guess.choose("5")
    assert box_of(guess).value == "5"


def test_where_no_widget_runs_the_question_is_text():
    """a page without widgets shows the question and its choices, escaped"""
    bundle = predict("1 < 2?", "yes", "no")._repr_mimebundle_()
    assert bundle["text/html"] == "Predict: 1 &lt; 2? (yes / no)"
