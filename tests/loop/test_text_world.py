"""A world made of functions, and what is kept of a long observation."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.loop.text_world import ToolWorld, cut_observation


def divide(text):
    return 1 / int(text)


def test_a_verb_calls_its_function():
    """An action in brackets calls the function of that name, in any case."""
    seen = ToolWorld({"Upper": str.upper}).step("UPPER[kyoto]")
    assert (seen.text, seen.done) == ("KYOTO", False)
    assert ToolWorld({}).step("Finish[KYOTO]").done


@pytest.mark.parametrize(
    ("action", "text"),
    [
        ("Search[x]", "Invalid action. Valid actions are Divide[…], Finish[…]."),
        ("Divide 1", "Invalid action. Valid actions are Divide[…], Finish[…]."),
        ("Divide[0]", "Error: division by zero"),
    ],
)
def test_what_goes_wrong_is_observed(action, text):
    """What is no action of this world, or throws, gets an answer and no exception."""
    assert ToolWorld({"Divide": divide}).step(action).text == text


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("One is here. Two is here. Three.", 26, "One is here. Two is here."),
        ("It is 3.14 m. It is old.", 14, "It is 3.14 m."),
        ('He said "Go!" Then he went on.', 20, 'He said "Go!"'),
        ("京都は市です。昔の都です。", 8, "京都は市です。"),
        ("「行け！」と言った。そして行った。", 12, "「行け！」と言った。"),
        ("It is 3.14 m long", 8, "It is"),
        ("longwordwithoutend", 4, "long"),
        ("anything", 0, ""),
    ],
)
def test_an_observation_is_cut_behind_a_sentence(text, limit, expected):
    """Whole sentences are kept; else whole words; else as much as there is room."""
    assert cut_observation(text, limit) == expected


@given(st.text(alphabet="ab .!。」3\n", max_size=60), st.integers(0, 70))
@settings(max_examples=300, deadline=None)
def test_a_cut_is_the_start_of_the_text_and_fits(text, limit):
    """What is kept stands at the start of the text and is never over the limit."""
    kept = cut_observation(text, limit)
    assert text.startswith(kept)
    assert len(kept) <= limit
