"""Plausible wrong answers to `split_prompt`, each with the test that must catch it."""

from workbook.lessons.langchain_debug_trace import SECTIONS, split_prompt


def _cut(prompt, question=None, scratchpad=None):
    form = prompt.find("Use the following format:")
    if question is None:
        question = prompt.find("\nQuestion:", prompt.find("\nBegin!\n", form)) + 1
    if scratchpad is None:
        scratchpad = prompt.find("\nThought:", question) + 1
    thought = prompt.rfind("\nThought:") + 1
    edges = [0, prompt.find("\n\n") + 2, form, question, scratchpad, thought, len(prompt)]
    return [(name, prompt[a:b]) for name, a, b in zip(SECTIONS, edges, edges[1:])]


def leaves_out_an_empty_section(prompt):
    return [(name, text) for name, text in split_prompt(prompt) if text]


def leaves_the_scratchpad_in_the_question(prompt):
    split_prompt(prompt)  # it raises the ValueError
    return _cut(prompt, scratchpad=prompt.rfind("\nThought:") + 1)


def ends_the_question_at_any_thought(prompt):
    split_prompt(prompt)
    question = prompt.find("\nQuestion:", prompt.find("\nBegin!\n"))
    return _cut(prompt, scratchpad=prompt.find("Thought:", question))


def looks_for_the_last_question_before_a_thought(prompt):
    split_prompt(prompt)
    thought = prompt.find("\nThought:", prompt.find("\nBegin!\n"))
    return _cut(prompt, question=prompt.rfind("\nQuestion:", 0, thought) + 1)


def never_refuses(prompt):
    return _cut(prompt)


WRONG = {
    leaves_out_an_empty_section: "test_all_sections_are_named",
    leaves_the_scratchpad_in_the_question: "test_what_has_happened_is_the_scratchpad",
    ends_the_question_at_any_thought: "test_a_question_may_have_several_lines",
    looks_for_the_last_question_before_a_thought: "test_words_of_the_format_in_a_question_open_no_section",
    never_refuses: "test_another_prompt_is_refused",
}
