"""Two ways to change what a model is asked."""

from workbook.models import Script
from workbook.models.base import Prefilled, WithoutStop


def test_the_cue_is_sent_and_stands_in_front_of_the_answer():
    """the model goes on behind the cue, and the turn has the cue in it"""
    script = Script([" I add."])

    answer = Prefilled(script, "Thought:").complete("1+1?\n", stop=["\nObservation:"])

    assert answer.text == "Thought: I add."
    assert script.requests[0].prompt == "1+1?\nThought:"
    assert script.requests[0].stop == ("\nObservation:",)


def test_the_cue_is_counted_with_the_prompt():
    """a model that counts counts the cue too; one that cannot does not pretend to"""
    prompt, counting = "Question: 1+1?\n", Script([])

    assert Prefilled(counting, "Thought:").count(prompt) == counting.count(
        prompt + "Thought:"
    )
    assert not hasattr(Prefilled(WithoutStop(counting), "Thought:"), "count")


def test_stop_sequences_can_be_left_out():
    """without stop words the model writes its own Observation"""
    script = Script(["Action Input: 1\nObservation: 2"])

    answer = WithoutStop(script).complete("p", stop=["\nObservation:"])

    assert answer.text == "Action Input: 1\nObservation: 2"
