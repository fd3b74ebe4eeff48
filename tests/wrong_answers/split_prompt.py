"""Plausible wrong answers to `split_prompt`, each with the test that must catch it."""

from workbook.langchain_trace.anatomy import MARKS, SECTIONS


def _refuse(prompt):
    if any(mark not in prompt for mark in MARKS):
        raise ValueError("a mark is missing")


def _cut(prompt, question=None, scratchpad=None):
    form = prompt.find("Use the following format:")
    if question is None:
        question = prompt.find("\nQuestion:", prompt.find("\nBegin!\n", form)) + 1
    if scratchpad is None:
        scratchpad = prompt.find("\nThought:", question) + 1
    thought = prompt.rfind("\nThought:") + 1
    edges = [0, prompt.find("\n\n") + 2, form, question, scratchpad, thought, len(prompt)]
    return [(name, prompt[a:b]) for name, a, b in zip(SECTIONS, edges, edges[1:])]


def looks_for_the_last_question(prompt):
    _refuse(prompt)
    return _cut(prompt, question=prompt.rfind("\nQuestion:") + 1)


def leaves_the_scratchpad_in_the_question(prompt):
    _refuse(prompt)
    return _cut(prompt, scratchpad=prompt.rfind("\nThought:") + 1)


def never_refuses(prompt):
    return _cut(prompt)


WRONG = {
    looks_for_the_last_question: "test_words_of_the_format_in_a_question_open_no_section",
    leaves_the_scratchpad_in_the_question: "test_what_has_happened_is_the_scratchpad",
    never_refuses: "test_another_prompt_is_refused",
}
