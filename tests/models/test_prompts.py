"""What a model sees of a prompt."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from workbook.models.prompts import (
    count_tokens,
    cut_at_stop,
    render_messages,
    shared_items,
    stop_sequences,
    unsaid,
)


def longest(before, after):
    """The longest common start, found the slow way."""
    size = 0
    while before[: size + 1] == after[: size + 1] and size < min(
        len(before), len(after)
    ):
        size += 1
    return size


SHORT = st.text(alphabet="ab\n", max_size=12)


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2)]
)
def test_a_token_is_four_characters_or_what_is_left(text, tokens):
    """a token is four characters, and a rest counts as one"""
    assert count_tokens(text) == tokens


@settings(deadline=None)
@given(SHORT, st.lists(st.text("ab\n", max_size=2), max_size=3))
@example("aabab", ["b", "ab", "aa"])
@example("1 Final", ["Final", " "])
def test_nothing_from_a_stop_sequence_on_is_kept(text, stop):
    """the text ends before the first place where any stop sequence begins"""
    cut = cut_at_stop(text, stop)

    assert text.startswith(cut)
    assert not any(sequence in cut for sequence in stop if sequence)
    if cut != text:
        assert any(text.startswith(s, len(cut)) for s in stop if s)


@pytest.mark.parametrize(
    ("stop", "sequences", "left"),
    [
        ("\nO", ("\nO",), "x"),
        ("", (), "x\nOba"),
        ([], (), "x\nOba"),
        (["", "b"], ("b",), "x\nO"),
        (("a", "O"), ("a", "O"), "x\n"),
    ],
)
def test_a_text_alone_is_one_stop_sequence(stop, sequences, left):
    """a text is not taken letter by letter, and an empty sequence stops nothing"""
    assert stop_sequences(stop) == sequences
    assert cut_at_stop("x\nOba", stop) == left


@settings(deadline=None)
@given(SHORT, SHORT)
def test_a_shared_start_of_texts_is_the_longest(before, after):
    """what two texts share from the start is counted exactly"""
    assert shared_items(before, after) == longest(before, after)


@settings(deadline=None)
@given(st.lists(st.integers(0, 2)), st.lists(st.integers(0, 2)))
def test_shared_items_is_the_longest(before, after):
    """what two lists share from the start is counted exactly"""
    assert shared_items(before, after) == longest(before, after)


@pytest.mark.parametrize(
    ("prompt", "turn", "left"),
    [
        ("Question: 1+1?\nThought:", "Thought: I add.", " I add."),
        ("Question: 1+1?\nThought:", "I add.", "I add."),
        ("Question: 1+1?\n", "Thought: I add.", "Thought: I add."),
        ("a", "a turn", "a turn"),
    ],
)
def test_a_cue_is_not_said_twice(prompt, turn, left):
    """a turn goes on behind the cue that the prompt ends with"""
    assert unsaid(prompt, turn) == left


def test_messages_are_read_as_paragraphs():
    """role, text and calls of each message are part of what the model reads"""
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "f", "arguments": "{}"},
    }
    text = render_messages(
        [
            {"role": "user", "content": "価格は？"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
        ]
    )

    assert text.startswith("user: 価格は？\nassistant: \n")
    assert '"name": "f"' in text
