"""Plausible wrong answers to `split_prompt`, each with the test that must catch it."""

from workbook.langchain_trace.anatomy import MARKS, SECTIONS


def _cut(prompt, edges):
    return [
        (name, prompt[start:end])
        for name, start, end in zip(SECTIONS, edges, edges[1:])
    ]


def looks_for_the_last_question(prompt):
    if any(mark not in prompt for mark in MARKS):
        raise ValueError("a mark is missing")
    question = prompt.rfind("\nQuestion:") + 1
    return _cut(
        prompt,
        [
            0,
            prompt.find("\n\n") + 2,
            prompt.find("Use the following format:"),
            question,
            prompt.find("\nThought:", question) + 1,
            prompt.rfind("\nThought:") + 1,
            len(prompt),
        ],
    )


def never_refuses(prompt):
    form = prompt.find("Use the following format:")
    question = prompt.find("\nQuestion:", prompt.find("\nBegin!\n", form)) + 1
    thought = prompt.find("\nThought:", question) + 1
    last = prompt.rfind("\nThought:") + 1
    edges = [0, prompt.find("\n\n") + 2, form, question, thought, last, len(prompt)]
    return _cut(prompt, edges)


def leaves_the_scratchpad_in_the_question(prompt):
    start = 0
    for mark in MARKS:
        start = prompt.find(mark, start)
        if start < 0:
            raise ValueError(f"{mark!r} is missing")
    form = prompt.find("Use the following format:")
    question = prompt.find("\nQuestion:", prompt.find("\nBegin!\n", form)) + 1
    last = prompt.rfind("\nThought:") + 1
    edges = [0, prompt.find("\n\n") + 2, form, question, last, last, len(prompt)]
    return _cut(prompt, edges)


WRONG = {
    looks_for_the_last_question: "test_words_of_the_format_in_a_question_open_no_section",
    never_refuses: "test_another_prompt_is_refused",
    leaves_the_scratchpad_in_the_question: "test_what_has_happened_is_the_scratchpad",
}
