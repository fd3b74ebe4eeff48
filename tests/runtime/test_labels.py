"""Who writes which line of a transcript."""

import pytest

from workbook.runtime import turns


@pytest.mark.parametrize("label", ["Thought", "Action", "Action Input"])
def test_the_model_writes_what_it_thinks_and_asks_for(who_writes, label):
    """`Thought`, `Action`, `Action Input`: written by the one who continues the text"""
    assert who_writes(label) == "model"


def test_the_runtime_writes_the_observation(who_writes):
    """`Observation`: written by the one who runs the tool

    perhaps, of model: the model can ask for a tool, and has no way to run one
    """
    assert who_writes("Observation") == "runtime"


def test_the_model_writes_the_answer(who_writes):
    """`Final Answer`: also written by the one who continues the text

    perhaps, of runtime: the runtime stops at this line, and does not write it
    """
    assert who_writes("Final Answer") == "model"


def test_an_unknown_label_is_refused():
    """a label that does not exist raises an error that names it"""
    with pytest.raises(ValueError, match="'Result' is not one of the labels Thought"):
        turns.who_writes("Result")
