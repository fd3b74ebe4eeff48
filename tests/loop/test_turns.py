"""Reading one turn: the rules that a learner's parse_turn is held to."""

import pytest

from workbook.loop.turns import Action, Final, Malformed, Unreadable

CALL = "Thought: I add.\nAction: Calculator\nAction Input: 1+1"


def test_reads_an_action(parse_turn):
    """a thought, a tool and an input make an Action"""
    assert parse_turn(CALL) == Action("I add.", "Calculator", "1+1")


def test_reads_an_answer(parse_turn):
    """the words behind Final Answer are the answer, all lines of them"""
    text = "Thought: I know.\nFinal Answer: 88 dollars,\nafter both changes."
    expected = Final("I know.", "88 dollars,\nafter both changes.")
    assert parse_turn(text) == expected


def test_text_before_the_first_label_is_thought(parse_turn):
    """text before the first label is a thought: the prompt may have ended in one"""
    text = " I add.\nAction: Calculator\nAction Input: 1+1"
    assert parse_turn(text) == Action("I add.", "Calculator", "1+1")


def test_a_made_up_observation_is_not_taken_as_one(parse_turn):
    """an Observation written by the model is never taken as one"""
    text = f"{CALL}\nObservation: 3\nFinal Answer: 3"
    assert parse_turn(text) == Action("I add.", "Calculator", "1+1")


def test_of_two_actions_the_first_counts(parse_turn):
    """the first step wins, and what follows it is dropped: of two actions the first"""
    text = f"{CALL}\nAction: Search\nAction Input: Tokyo"
    assert parse_turn(text) == Action("I add.", "Calculator", "1+1")


def test_an_answer_before_an_action_counts(parse_turn):
    """of an answer and an action, too, the first one wins"""
    assert parse_turn(f"Final Answer: 88\n{CALL}") == Final("", "88")


def test_an_answer_in_the_middle_of_a_line_is_none(parse_turn):
    """a label stands at the start of a line; inside a thought it is only words"""
    text = "Thought: the Final Answer: needs a sum\nAction: Sum\nAction Input: 1"
    assert parse_turn(text) == Action("the Final Answer: needs a sum", "Sum", "1")


@pytest.mark.parametrize(
    "label", ["Final:", "FINAL：", "**Final:**", "**Final**:", "Final Answer:"]
)
def test_final_alone_is_a_label_too(parse_turn, label):
    """`Final:` is read like `Final Answer:`, in every dress"""
    assert parse_turn(f"Thought: I know.\n{label} 88") == Final("I know.", "88")


def test_a_word_that_begins_like_a_label_is_none(parse_turn):
    """a longer word such as "Finally:" is no label"""
    text = "Finally: I add.\nAction: Sum\nAction Input: 1+1"
    assert parse_turn(text) == Action("Finally: I add.", "Sum", "1+1")


PLAN = "Plan:\n- Action: call Ann\n- Action Input: her number\nAction: rest"
CODE = "@dataclass\nclass Step:\n    thought: str\n    action: str\n\naction: Step"


@pytest.mark.parametrize(
    "text", [PLAN, CODE, "a\nAction: b", "a\nFinal Answer:", "a\nAction Input: b"]
)
@pytest.mark.parametrize("after", ["", f"\nThought: more\n{CALL}"])
def test_a_label_inside_an_answer_is_one_of_its_words(parse_turn, text, after):
    """inside an answer, a label that begins nothing complete is one of its words"""
    assert parse_turn(f"Final Answer: {text}{after}") == Final("", text)


@pytest.mark.parametrize(
    "text", [CODE, "a\nAction Input: b", "a\nAction: b\nAction: c"]
)
@pytest.mark.parametrize("after", ["", "\nObservation: 3", f"\nThought: more\n{CALL}"])
def test_a_label_inside_an_input_is_one_of_its_words(parse_turn, text, after):
    """inside an input, a label that begins nothing complete is one of its words"""
    turn = parse_turn(f"Action: Write\nAction Input: {text}{after}")
    assert turn == Action("", "Write", text)


@pytest.mark.parametrize("text", ["a\nThought: so", "Thought: a\n\nThought:"])
def test_a_last_thought_ends_nothing(parse_turn, text):
    """a Thought ends an input or an answer only when more than thoughts follows it"""
    assert parse_turn(f"Final Answer: {text}") == Final("", text)
    turn = parse_turn(f"Action: Write\nAction Input: {text}")
    assert turn == Action("", "Write", text)


@pytest.mark.parametrize(
    "after",
    [CALL, "Action: a\nAction Input:", "Final Answer: 3", "Final: 3", "Observation:",
     "Observation: 3", "Question: 3+3?", "Thought: so\nThought: well\nFinal Answer: 3",
     "Thought: so\nObservation: 3"],
)  # fmt: skip
@pytest.mark.parametrize("label", ["Action: Write\nAction Input", "Final Answer"])
def test_what_comes_next_ends_an_input_or_an_answer(parse_turn, label, after):
    """a complete step, an Observation or a Question ends an input or an answer"""
    turn = parse_turn(f"{label}: a\nb\n{after}")
    step = Final("", "a\nb") if label == "Final Answer" else Action("", "Write", "a\nb")
    assert turn == step


@pytest.mark.parametrize(
    "text",
    [
        "action: Search\nACTION INPUT: 東京",
        "Action：Search\nAction Input：東京",
        "**Action:** Search\n**Action Input:** 東京",
        "**Action**: Search\n**Action Input**: 東京",
    ],
    ids=["any case", "full-width colon", "bold", "bold, colon outside"],
)
def test_labels_may_be_dressed_up(parse_turn, text):
    """labels come in any case, with a full-width colon, in Markdown bold"""
    assert parse_turn(text) == Action("", "Search", "東京")


def test_a_closing_quote_is_kept(parse_turn):
    """quotes belong to the input and are kept"""
    text = 'Action: SQL\nAction Input: SELECT n FROM t GROUP BY "n"'
    assert parse_turn(text) == Action("", "SQL", 'SELECT n FROM t GROUP BY "n"')


def test_inner_newlines_are_kept(parse_turn):
    """an input may have many lines, with a fence around them, and keeps them"""
    text = "Action: Python\nAction Input: ```\nx = 1\n\nprint(x)\n```\n"
    assert parse_turn(text) == Action("", "Python", "```\nx = 1\n\nprint(x)\n```")


def test_an_empty_input_is_an_input(parse_turn):
    """an input may be empty when its label is there: some tools need none"""
    assert parse_turn("Action: Clock\nAction Input:") == Action("", "Clock", "")


def test_a_tool_called_none_is_a_tool(parse_turn):
    """a tool called None is read like any other; the registry will refuse it"""
    assert parse_turn("Action: None\nAction Input: -") == Action("", "None", "-")


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


def test_two_thoughts_are_kept(parse_turn):
    """all thoughts before the step are kept, each on a line of its own"""
    text = f"Thought: Two numbers.\n{CALL}"
    assert parse_turn(text) == Action("Two numbers.\nI add.", "Calculator", "1+1")
