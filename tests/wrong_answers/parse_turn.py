"""Plausible wrong answers to `parse_turn`, each with the test that must catch it."""

import re
from dataclasses import replace

from workbook.loop.turns import (
    Action,
    Final,
    Label,
    Malformed,
    Unreadable,
    parse_turn,
    split_fields,
)


def looks_for_the_end_first(text):
    if "Final Answer:" in text:
        thought, answer = text.split("Final Answer:", 1)
        return Final(thought.removeprefix("Thought:").strip(), answer.strip())
    return parse_turn(text)


def greedy_regular_expression(text):
    match = re.search(r"(.*)Action: (.*?)\nAction Input: (.*)", text, re.DOTALL)
    if match is None:
        return parse_turn(text)
    thought = match[1].removeprefix("Thought:").strip()
    return Action(thought, match[2].strip(), match[3].strip())


def strips_the_quotes(text):
    turn = parse_turn(text)
    if isinstance(turn, Action):
        return Action(turn.thought, turn.tool, turn.input.strip('"'))
    return turn


def needs_exact_labels(text):
    if not text.strip():
        return Malformed(Unreadable.EMPTY, text)
    for line in text.splitlines():
        if re.match(r"Action: |Final Answer: ", line):
            return parse_turn(text)
    return Malformed(Unreadable.NO_STEP, text)


def takes_any_input_label(text):
    fields = dict(reversed(split_fields(text)))
    if Label.ACTION in fields:
        thought = fields.get(Label.THOUGHT, "")
        return Action(thought, fields[Label.ACTION], fields.get(Label.ACTION_INPUT, ""))
    return parse_turn(text)


def cuts_at_every_label(text):
    turn = parse_turn(text)
    label = re.compile(r"\n\W*(?:thought|action|action input|final answer):", re.I)
    if isinstance(turn, Action):
        return Action(turn.thought, turn.tool, label.split(turn.input)[0])
    if isinstance(turn, Final):
        return Final(turn.thought, label.split(turn.answer)[0])
    return turn


def reads_an_answer_to_the_end_of_the_text(text):
    turn = parse_turn(text)
    if isinstance(turn, Final):
        return Final(turn.thought, text[text.index(turn.answer) :].strip())
    return turn


def knows_only_the_long_label(text):
    if re.search(r"^\W*final\W*[:：]", text, re.IGNORECASE | re.MULTILINE):
        return Malformed(Unreadable.NO_STEP, text)
    return parse_turn(text)


def keeps_the_last_thought(text):
    turn = parse_turn(text)
    if isinstance(turn, Malformed):
        return turn
    return replace(turn, thought=turn.thought.rpartition("\n")[2])


WRONG = {
    looks_for_the_end_first: "test_a_made_up_observation_is_not_taken_as_one",
    greedy_regular_expression: "test_a_made_up_observation_is_not_taken_as_one",
    strips_the_quotes: "test_a_closing_quote_is_kept",
    needs_exact_labels: "test_labels_may_be_dressed_up",
    takes_any_input_label: "test_an_unreadable_turn_is_a_value",
    cuts_at_every_label: "test_a_label_inside_an_answer_is_one_of_its_words",
    reads_an_answer_to_the_end_of_the_text: (
        "test_what_comes_next_ends_an_input_or_an_answer"
    ),
    knows_only_the_long_label: "test_final_alone_is_a_label_too",
    keeps_the_last_thought: "test_two_thoughts_are_kept",
}
