"""A model whose answers begin with a prefill."""

from tests.models.listener import Listener
from workbook.models.base import Completion, Prefilled
from workbook.models.script import Script


class Plain:
    """A model as a learner may write one."""

    name = "plain"

    def complete(self, prompt, *, stop=()):
        return Completion("Final Answer: 6")


def test_the_cue_is_sent_and_stands_in_front_of_the_answer():
    """the model goes on behind the prefill, and the turn has the prefill in it"""
    script, told = Script([" I add. I add."]), Listener()
    model = Prefilled(script, "Thought:")
    answer = model.complete("1+1?\n", stop=["\nO"], max_tokens=2, on_text=told)
    assert answer.text == "".join(told.pieces) == "Thought: I add. "
    assert answer.finish_reason == "length"
    assert script.requests[0].prompt == "1+1?\nThought:"
    assert script.requests[0].stop == ("\nO",)


def test_a_wrapper_can_do_what_its_model_can():
    """the prefill is counted; a model without cap and stream is asked without them"""
    prompt, counting = "Question: 1+1?\n", Script([])
    counted = Prefilled(counting, "Thought:").count(prompt)
    assert counted == counting.count(f"{prompt}Thought:")
    assert not hasattr(Prefilled(Plain(), "Thought:"), "count")
    assert Prefilled(counting, "Thought:").streams
    assert not Prefilled(Plain(), "Thought:").streams
