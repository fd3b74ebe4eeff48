"""Reading one turn: the rules that a learner's parse_turn is held to."""

import pytest

from workbook.loop.turns import Action, Final, Malformed, Unreadable

CALL = "Thought: I add.\nAction: Calculator\nAction Input: 1+1"
ADDS = Action("I add.", "Calculator", "1+1")


def test_reads_an_action_and_an_answer(parse_turn):
    """a thought, a tool and an input make an Action; a thought and an answer, a Final

    A tool may be called None; an answer may have several lines.
    """
    assert parse_turn(CALL) == ADDS
    assert parse_turn("Action: None\nAction Input: -") == Action("", "None", "-")
    text = "Thought: I know.\nFinal Answer: 88 dollars,\nafter both changes."
    expected = Final("I know.", "88 dollars,\nafter both changes.")
    assert parse_turn(text) == expected


@pytest.mark.parametrize(
    ("text", "thought"),
    [(f" I must.\n{CALL}", "I must.\nI add."), (f"Thought: 2\n{CALL}", "2\nI add.")],
    ids=["text before the first label", "two thoughts"],
)
def test_all_thoughts_are_kept(parse_turn, text, thought):
    """all thoughts before the step are kept, a line each; text before a label is one"""
    assert parse_turn(text) == Action(thought, "Calculator", "1+1")


@pytest.mark.parametrize(
    ("text", "step"),
    [
        (f"{CALL}\nObservation: 3\nFinal Answer: 3", ADDS),
        (f"{CALL}\nAction: Search\nAction Input: Tokyo", ADDS),
        (f"Final Answer: 88\n{CALL}", Final("", "88")),
        ("Final Answer: 4\nQuestion: 3+3?\nFinal Answer: 6", Final("", "4")),
    ],
    ids=["made-up observation", "two actions", "answer and action", "two answers"],
)
def test_the_first_step_wins(parse_turn, text, step):
    """the first action or answer counts; all after it is dropped, an Observation too"""
    assert parse_turn(text) == step


LOOK = Action("", "Search", "東京")


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("action: Search\nACTION INPUT: 東京", LOOK),
        ("Action：Search\nAction Input：東京", LOOK),
        ("**Action:** Search\n**Action Input:** 東京", LOOK),
        ("**Action**: Search\n**Action Input**: 東京", LOOK),
        ("Thought: I know.\nFinal: 88", Final("I know.", "88")),
        ("FINAL：88", Final("", "88")),
        ("**Final:** 88", Final("", "88")),
    ],
)
def test_labels_may_be_dressed_up(parse_turn, text, step):
    """labels come in any case, with : or ：, in bold; `Final:` is `Final Answer:`"""
    assert parse_turn(text) == step


@pytest.mark.parametrize("words", ["the Final Answer: needs a sum", "Finally: I add."])
def test_other_words_are_no_label(parse_turn, words):
    """a label in the middle of a line, or a longer word ("Finally:"), is only words"""
    text = f"{words}\nAction: Sum\nAction Input: 1+1"
    assert parse_turn(text) == Action(words, "Sum", "1+1")


PLAN = "Plan:\n- Action: call Ann\n- Action Input: her number\nAction: rest"
CODE = "@dataclass\nclass Step:\n    thought: str\n    action: str\n\naction: Step"
WORDS = {
    "Final Answer": [PLAN, CODE, "a\nAction: b", "a\nFinal Answer:"],
    "Action: Write\nAction Input": [CODE, "a\nAction Input: b"],
}
AFTER = ["", f"\nThought: more\n{CALL}"]
CASES = [(key, words, end) for key in WORDS for words in WORDS[key] for end in AFTER]
CASES += [
    (label, words, "") for label in WORDS for words in ("a\nThought: so", "a\nThought:")
]


def step_of(label, words):
    """Return the step that the label begins, with these words in it."""
    return Final("", words) if label == "Final Answer" else Action("", "Write", words)


@pytest.mark.parametrize(("label", "words", "after"), CASES)
def test_a_label_that_begins_nothing_is_words(parse_turn, label, words, after):
    """inside an input or an answer, a label that begins no complete step is text"""
    assert parse_turn(f"{label}: {words}{after}") == step_of(label, words)


@pytest.mark.parametrize(
    "after",
    [CALL, "Action: a\nAction Input:", "Final Answer: 3", "Final: 3", "Observation:",
     "Observation: 3", "Question: 3+3?", "Thought: so\nThought: well\nFinal Answer: 3",
     "Thought: so\nObservation: 3"],
)  # fmt: skip
@pytest.mark.parametrize("label", WORDS)
def test_what_comes_next_ends_an_input_or_an_answer(parse_turn, label, after):
    """an input or an answer ends at a complete step, an Observation or a Question"""
    assert parse_turn(f"{label}: a\nb\n{after}") == step_of(label, "a\nb")


@pytest.mark.parametrize(
    "words",
    ['SELECT n FROM t GROUP BY "n"', "```\nx = 1\n\nprint(x)\n```", ""],
    ids=["quotes", "lines and a fence", "empty"],
)
def test_an_input_is_kept_as_it_is(parse_turn, words):
    """an input keeps its quotes, its lines and a fence around them, and may be empty"""
    text = f"Action: Python\nAction Input: {words}\n"
    assert parse_turn(text) == Action("", "Python", words)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", Unreadable.EMPTY),
        (" \n\t ", Unreadable.EMPTY),
        ("It must be 88.", Unreadable.NO_STEP),
        ("Thought: hm\nObservation: 3", Unreadable.NO_STEP),
        ("Action: Calculator", Unreadable.MISSING_INPUT),
        ("Action: None\nFinal Answer: 88", Unreadable.MISSING_INPUT),
        ("Action:\nAction Input: 1+1", Unreadable.MISSING_TOOL),
        ("Action Input: 1+1", Unreadable.MISSING_TOOL),
        ("Final Answer:", Unreadable.MISSING_ANSWER),
    ],
)
def test_an_unreadable_turn_is_a_value(parse_turn, text, reason):
    """an unreadable turn gives Malformed with its reason; nothing is raised"""
    assert parse_turn(text) == Malformed(reason, text)
