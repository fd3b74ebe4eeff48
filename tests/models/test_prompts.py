"""What a model sees of a prompt."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from workbook.models.base import Usage
from workbook.models.prompts import estimate, render_messages, shared_items
from workbook.models.script import cut_at_stop, unsaid

SHORT = st.text(alphabet="ab\n", max_size=12)


@pytest.mark.parametrize(("text", "tokens"), [("日本語", 3), ("\ud800", 1)])
def test_an_estimate_is_three_bytes_a_token(text, tokens):
    """of a text in any script there is an estimate, rounded up"""
    assert estimate(text, text) == Usage(tokens, tokens)


@settings(deadline=None)
@given(SHORT, st.lists(st.text("ab\n", max_size=2), max_size=3))
@example("aabab", ["b", "ab", "aa"])
@example("1 Final", ["Final", " "])
@example("Oh. Oba", ["", "Ob"])
@example("x\nOba", "\nO")
def test_nothing_from_a_stop_sequence_on_is_kept(text, stop):
    """the text ends before the first place where any stop sequence begins"""
    cut = cut_at_stop(text, stop)
    stop = [stop] if isinstance(stop, str) else stop  # a text alone is one
    assert text.startswith(cut)
    assert not any(sequence in cut for sequence in stop if sequence)
    if cut != text:
        assert any(text.startswith(s, len(cut)) for s in stop if s)


@settings(deadline=None)
@given(st.lists(st.integers(0, 2)), st.lists(st.integers(0, 2)))
def test_shared_items_is_the_longest(before, after):
    """what two lists or texts share from the start is counted exactly"""
    size = shared_items(before, after)
    assert before[:size] == after[:size]
    assert before[: size + 1] != after[: size + 1] or before == after[:size] == after
    texts = ("".join(map(str, items)) for items in (before, after))
    assert shared_items(*texts) == size


@pytest.mark.parametrize(
    ("prompt", "turn"),
    [("Thought:", "I add."), ("1+1?\n", "Thought: I add."), ("a", "a turn")],
)
def test_what_is_no_cue_takes_nothing_away(prompt, turn):
    """a turn is cut only by the prefill that the prompt ends with"""
    assert unsaid(prompt, turn) == turn


def test_messages_are_read_as_paragraphs():
    """role, text and calls of each message are part of what the model reads"""
    call = {"function": {"name": "f", "arguments": "{}"}}
    asked = {"role": "assistant", "content": "", "tool_calls": [call]}
    text = render_messages([{"role": "user", "content": "価格は？"}, asked])
    assert text.startswith("user: 価格は？\nassistant: \n")
    assert '"name": "f"' in text
