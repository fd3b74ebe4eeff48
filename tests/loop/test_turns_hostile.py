"""What `split_fields` decides for parse_turn: odd labels, any string, linear time."""

import gc
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from workbook.loop.turns import (
    Action,
    Final,
    Label,
    Malformed,
    Unreadable,
    heard,
    parse_turn,
    split_fields,
    to_dict,
)

PIECES = [
    "Thought:", "Action:", "Action Input:", "Observation:", "Final Answer:",
    "Final:", "- ", "Question:", "**Action:**", "action 1 input 1：", "\n", "\r\n", " ",
    "x", "**",
    "`", "\u3000", "１", "\x00", "\u2028", "Search[", "88",
]  # fmt: skip
turns = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


PLAN = "Plan:\n- Action: call Ann\n- Action Input: her number\nAction: rest"
CODE = "@dataclass\nclass Step:\n    thought: str\n    action: str\n\naction: Step"
WORDS = {
    "Final Answer": [PLAN, CODE, "a\nAction: b", "a\nFinal Answer:"],
    "Action: Write\nAction Input": [CODE, "a\nAction Input: b"],
}
CALL = "Action: Calculator\nAction Input: 1+1"
AFTER = ["", f"\nThought: more\n{CALL}"]
CASES = [(key, words, end) for key in WORDS for words in WORDS[key] for end in AFTER]
CASES += [
    (label, words, "") for label in WORDS for words in ("a\nThought: so", "a\nThought:")
]


def step_of(label, words):
    """Return the step that the label begins, with these words in it."""
    return Final("", words) if label == "Final Answer" else Action("", "Write", words)


@pytest.mark.parametrize(("label", "words", "after"), CASES)
def test_a_label_that_begins_nothing_is_words(label, words, after):
    """Inside an input or an answer, a label that begins no complete step is text."""
    assert parse_turn(f"{label}: {words}{after}") == step_of(label, words)


@pytest.mark.parametrize(
    "after",
    [CALL, "Action: a\nAction Input:", "Final Answer: 3", "Final: 3", "Observation:",
     "Observation: 3", "Question: 3+3?", "Thought: so\nThought: well\nFinal Answer: 3",
     "Thought: so\nObservation: 3"],
)  # fmt: skip
@pytest.mark.parametrize("label", WORDS)
def test_what_comes_next_ends_an_input_or_an_answer(label, after):
    """An input or an answer ends at a complete step, an Observation or a Question."""
    assert parse_turn(f"{label}: a\nb\n{after}") == step_of(label, "a\nb")


@pytest.mark.parametrize(
    "text",
    [
        "Thought 1: t\nAction 1: Search\nAction Input 1: a",
        "Thought 1: t\nAction 1: Search\nAction 1 Input 1: a",
        "Thought １：t\nAction １：Search\nAction Input １：a",
        "\u3000Thought: t\n\u3000Action: Search\n\u3000Action Input: a",
        "* **Thought:** t\n* **Action:** Search\n* **Action Input:** a",
        "__Thought__: t\n__Action__: Search\n__Action Input__: a",
        "**Thought: t**\n**Action: Search**\n**Action Input: a**",
        "***Thought:*** t\n***Action:*** Search\n***Action Input***: a",
        "\ufeffThought: t\n\u200bAction: Search\n\u2060Action Input: a",
        "\xa0Thought\xa0: t\nAction\u202f: Search\nAction\xa0Input\xa0: a",
        "t\n\nAction:\nSearch\n\nAction Input:\na\n\nObservation: and then",
        "- * Thought: t\n### Action: Search\n> + Action Input: a\n- Observation: b",
    ],
)
def test_labels_in_many_dresses(text):
    """Numbers, bullets, headings, quotes and line ends of any kind change nothing."""
    assert parse_turn(text) == Action("t", "Search", "a")


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("Action Input:", "**kwargs"),
        ("Action Input:", "_x_"),
        ("Action Input:", "a\r\nb: c"),
        ("Action Input:", "```\nx = 1\n\nprint(x)\n```"),
        ("*Action Input:*", "ls *"),
        ("*Action Input*:", "ls *"),
    ],
)
def test_an_input_is_not_undressed(label, words):
    """Asterisks, underscores and colons inside an input stay where they are."""
    turn = parse_turn(f"Action: Shell\n{label} {words}")
    assert turn == Action("", "Shell", words)


@pytest.mark.parametrize(
    "label",
    ["***Observation:***", "_Observation:_", "\xa0Observation:", "> - Observation 2:"],
)
def test_a_dressed_up_observation_is_made_up_as_well(label):
    """However it is dressed, an Observation of the model ends the input before it."""
    turn = parse_turn(f"Action: Sum\nAction Input: 1+1\n{label} 3\nFinal Answer: 3")
    assert turn == Action("", "Sum", "1+1")


@pytest.mark.parametrize(
    "line", ["Actions: a", "Reaction: a", "Finally: a", "Final score: a", "1. Final: a"]
)
def test_words_that_only_look_like_a_label(line):
    """A longer word that holds a label's letters is no label."""
    assert split_fields(line) == [(Label.THOUGHT, line)]


@given(st.one_of(turns, st.text(max_size=200)))
@example("Thought:")
@settings(max_examples=300, deadline=None)
def test_any_string_gives_a_turn(text):
    """It names what stands there; what was kept reads as the same, no Observation."""
    turn = parse_turn(text)
    if isinstance(turn, Action):
        assert turn.tool
        assert turn.tool in text
        assert turn.input in text
    kept, dropped = heard(text, turn)
    assert isinstance(turn, Malformed) or parse_turn(kept) == turn
    assert Label.OBSERVATION not in dict(split_fields(kept))
    assert dropped or kept == text


def seconds(text):
    """Return what reading a turn costs this thread, whatever else the machine does.

    Without the garbage collector, which reads what other tests left in memory.
    """
    gc.disable()
    try:
        started = time.thread_time()
        heard(text, parse_turn(text))
        return time.thread_time() - started
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "piece",
    [
        " ", "\n", "*", "* ", "1", "\xa0", "```\n", "* * ", "**\n", "action 1 ",
        "Action: a\n", "**Final Answer: a\n", "Thought: a\n", "Action Input: a\n",
        "- ", "* * - ", "Final: a\n", "Final:\n", "- Final: a\n", "final ",
    ],
)  # fmt: skip
@pytest.mark.parametrize("start", ["**Action 1", "Final Answer: a\n"])
def test_ten_times_the_hostile_text_takes_ten_times_as_long(start, piece):
    """Reading time grows with the length of the text and with nothing else."""
    text = start + piece * (300_000 // len(piece))
    tenth = max(0.005, min(seconds(text[:30_000]) for _ in range(3)))
    assert seconds(text) < 30 * tenth  # with its square: a hundred times


STEP = "Thought: t\nAction: Search\nAction Input: a"


@pytest.mark.parametrize(
    ("text", "kept", "dropped"),
    [
        (STEP, STEP, ""),
        (f"{STEP}\nObservation 1: 3", STEP, "Observation 1: 3"),
        (f"Observation: 3\n{STEP}", STEP, "Observation: 3"),
        (f"{STEP}\n{STEP}", STEP, STEP),
        (f"Final: 3\n{STEP}", "Final: 3", STEP),
        ("Thought: a\nQuestion: b\n**Final:** 3\nObservation: c",
         "Thought: a\n**Final:** 3", "Question: b\nObservation: c"),
        ("Hm.\nAction: a\nOBSERVATION： b\nFinal Answer: c", "Hm.\nAction: a",
         "OBSERVATION： b\nFinal Answer: c"),
        ("I do not know.", "I do not know.", ""),
    ],
)  # fmt: skip
def test_a_turn_is_kept_as_it_was_read(text, kept, dropped):
    """What was read of a turn is kept to the letter; the rest is told apart."""
    assert heard(text, parse_turn(text)) == (kept, dropped)


def test_a_turn_as_data_has_its_kind_and_its_fields():
    """A trace shows the kind of a turn, then its fields in their order."""
    data = {"kind": "malformed", "reason": "no_step", "text": "hm"}
    assert to_dict(Malformed(Unreadable.NO_STEP, "hm")) == data
    data = {"kind": "action", "thought": "t", "tool": "Sum", "input": "1+1"}
    assert to_dict(Action("t", "Sum", "1+1")) == data
