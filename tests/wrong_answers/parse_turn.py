"""Plausible wrong answers to `parse_turn`, each with the test that must catch it."""

import re
from dataclasses import replace

from workbook.runtime.turns import Action, Final, Malformed, Unreadable, parse_turn


def looks_for_the_end_first(text):
    if "Final Answer:" in text:
        thought, answer = text.split("Final Answer:", 1)
        return Final(thought.removeprefix("Thought:").strip(), answer.strip())
    return parse_turn(text)


def takes_the_last_answer(text):
    turn = parse_turn(text)
    if isinstance(turn, Final) and "Final Answer:" in text:
        return Final(turn.thought, text.split("Final Answer:")[-1].strip())
    return turn


def strips_the_quotes(text):
    turn = parse_turn(text)
    return replace(turn, input=turn.input.strip('"')) if hasattr(turn, "input") else turn


def needs_exact_labels(text):
    if re.search(r"^(Action|Final Answer): ", text, re.MULTILINE):
        return parse_turn(text)
    return Malformed(Unreadable.NO_STEP if text.strip() else Unreadable.EMPTY, text)


def takes_the_last_action(text):
    turn = parse_turn(text)
    if isinstance(turn, Action):
        return replace(parse_turn(text[text.rfind("\nAction:") + 1 :]), thought=turn.thought)
    return turn


def forgets_the_thought_of_an_answer(text):
    turn = parse_turn(text)
    return replace(turn, thought="") if isinstance(turn, Final) else turn


def has_one_reason_for_all(text):
    turn = parse_turn(text)
    return Malformed(Unreadable.NO_STEP, text) if isinstance(turn, Malformed) else turn


def cuts_at_every_label(text):
    turn = parse_turn(text)
    label = re.compile(r"\n\W*(?:thought|action|action input|final answer):", re.I)
    if isinstance(turn, Action):
        return replace(turn, input=label.split(turn.input)[0])
    return replace(turn, answer=label.split(turn.answer)[0]) if hasattr(turn, "answer") else turn


def reads_an_answer_to_the_end_of_the_text(text):
    turn = parse_turn(text)
    if isinstance(turn, Final):
        return replace(turn, answer=text[text.index(turn.answer) :].strip())
    return turn


def keeps_the_last_thought(text):
    turn = parse_turn(text)
    if isinstance(turn, Malformed):
        return turn
    return replace(turn, thought=turn.thought.rpartition("\n")[2])


WRONG = {
    looks_for_the_end_first: "test_the_first_step_wins",
    takes_the_last_answer: "test_the_first_step_wins",
    strips_the_quotes: "test_fields_are_taken_as_they_are",
    needs_exact_labels: "test_fields_are_taken_as_they_are",
    takes_the_last_action: "test_the_first_step_wins",
    forgets_the_thought_of_an_answer: "test_reads_an_action_and_an_answer",
    has_one_reason_for_all: "test_an_unreadable_turn_is_a_value",
    cuts_at_every_label: "test_fields_are_taken_as_they_are",
    reads_an_answer_to_the_end_of_the_text: "test_the_first_step_wins",
    keeps_the_last_thought: "test_all_thoughts_are_kept",
}
