"""A model whose turn is begun for it."""

import pytest

from workbook.models import Script
from workbook.models.primed import Primed


def test_the_cue_is_sent_and_stands_in_front_of_the_answer():
    """the model goes on behind the cue, and the turn has the cue in it"""
    script = Script([" I add."])

    assert Primed(script).complete("1+1?\n").text == "Thought: I add."
    assert script.requests[0].prompt == "1+1?\nThought:"


@pytest.mark.parametrize("own", ["\nQuestion:", ["\nQuestion:"]])
@pytest.mark.parametrize("asked", ["\nObservation:", ["\nObservation:"]])
def test_both_kinds_of_stop_sequence_are_sent(own, asked):
    """its own stop sequences come behind those of the request, listed or alone"""
    script = Script(["a"])
    Primed(script, stop=own).complete("p", stop=asked)

    assert script.requests[0].stop == ("\nObservation:", "\nQuestion:")
