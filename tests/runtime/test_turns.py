"""Reading one turn: the rules that a learner's parse_turn is held to."""

import pytest

from workbook.runtime.turns import Action, Final, Malformed, Unreadable

CALL = "Thought: I add.\nAction: Calculator\nAction Input: 1+1"
ADDS = Action("I add.", "Calculator", "1+1")


def test_reads_an_action_and_an_answer(parse_turn):
    """a tool and its input make an Action, an answer makes a Final"""
    assert parse_turn(CALL) == ADDS
    assert parse_turn("Action: None\nAction Input: -") == Action("", "None", "-")
    text = "Thought: I know.\nFinal Answer: 88 dollars,\nafter both changes."
    expected = Final("I know.", "88 dollars,\nafter both changes.")
    assert parse_turn(text) == expected


def test_the_first_step_wins(parse_turn):
    """the first step counts: later text is dropped, and so is an earlier Observation"""
    assert parse_turn(f"{CALL}\nObservation: 3\nFinal Answer: 3") == ADDS
    assert parse_turn(f"{CALL}\nAction: Search\nAction Input: Tokyo") == ADDS
    assert parse_turn(f"Final Answer: 88\n{CALL}") == Final("", "88")
    two_answers = "Final Answer: 4\nQuestion: 3+3?\nFinal Answer: 6"
    assert parse_turn(two_answers) == Final("", "4")
    assert parse_turn(f"Observation: 3\n{CALL}") == ADDS


def test_all_thoughts_are_kept(parse_turn):
    """all thoughts before the step are kept, joined by a line break"""
    for text, thought in (" I must.", "I must."), ("Thought: 2", "2"):
        right = Action(f"{thought}\nI add.", "Calculator", "1+1")
        assert parse_turn(f"{text}\n{CALL}") == right


PLAN = "Plan:\n- Action: call Ann\n- Action Input: her number\nAction: rest"
QUERY = 'SELECT n FROM t\nGROUP BY "n"'


def test_fields_are_taken_as_they_are(parse_turn):
    """labels and values stay as `split_fields` gives them; an input may be empty"""
    wide, bold = "action： Search", "**ACTION INPUT:** 東京"
    assert parse_turn(f"{wide}\n{bold}") == Action("", "Search", "東京")
    assert parse_turn("**Final:** 88") == Final("", "88")
    assert parse_turn(f"Action: SQL\nAction Input: {QUERY}") == Action("", "SQL", QUERY)
    assert parse_turn("Action: Stop\nAction Input:") == Action("", "Stop", "")
    assert parse_turn(f"Final Answer: {PLAN}\nObservation: 3") == Final("", PLAN)
    soon = "A Final Answer: soon"
    found = parse_turn(f"{soon}\nAction: Sum\nAction Input: 1+1")
    assert found == Action(soon, "Sum", "1+1")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", Unreadable.EMPTY),
        (" \n\t ", Unreadable.EMPTY),
        (" It must be 88.\n", Unreadable.NO_STEP),
        ("Thought: hm\nObservation: 3", Unreadable.NO_STEP),
        ("Action:\nAction Input: 1+1", Unreadable.MISSING_TOOL),
        ("Action Input: 1+1", Unreadable.MISSING_TOOL),
        ("Action: Calculator", Unreadable.MISSING_INPUT),
        ("Action: a\nThought: hm\nAction Input: b", Unreadable.MISSING_INPUT),
        ("Action: None\nFinal Answer: 88", Unreadable.MISSING_INPUT),
        ("Final Answer:", Unreadable.MISSING_ANSWER),
    ],
)
def test_an_unreadable_turn_is_a_value(parse_turn, text, reason):
    """an unreadable reply returns Malformed with the reason and the whole reply"""
    assert parse_turn(text) == Malformed(reason, text)
