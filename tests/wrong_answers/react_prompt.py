"""Plausible wrong answers to `react_prompt`, each with the test that must catch it."""


def _prompt(question, exemplars, numbered, empty=False, on=False, gap="\n"):
    text, n = "", 0
    for exemplar in exemplars:
        text += f"Question: {exemplar.question}\n"
        for n, step in enumerate(exemplar.steps, start=n + 1 if on else 1):
            number = f" {n}" if numbered else ""
            text += f"Thought{number}: {step.thought}\nAction{number}: {step.action}\n"
            if step.observation or empty:
                text += f"Observation{number}: {step.observation}\n"
        text += gap
    return f"{text}Question: {question}\nThought{' 1' if numbered else ''}:"


def leaves_the_label_out(question, exemplars, *, numbered=True):
    return _prompt(question, exemplars, numbered).rpartition("Thought")[0]


def writes_empty_observations(question, exemplars, *, numbered=True):
    return _prompt(question, exemplars, numbered, empty=True)


def counts_on(question, exemplars, *, numbered=True):
    return _prompt(question, exemplars, numbered, on=True)


def always_numbers(question, exemplars, *, numbered=True):
    return _prompt(question, exemplars, True)


def forgets_the_blank_line(question, exemplars, *, numbered=True):
    return _prompt(question, exemplars, numbered, gap="")


def has_a_blank_line_after_the_last_alone(question, exemplars, *, numbered=True):
    text = _prompt(question, exemplars, numbered).replace("\n\n", "\n")
    return text.replace(f"Question: {question}", f"\nQuestion: {question}") if exemplars else text


WRONG = {
    leaves_the_label_out: "test_it_ends_with_the_question_and_an_open_thought",
    writes_empty_observations: "test_the_last_step_has_no_observation_line",
    counts_on: "test_numbers_start_again_with_each_exemplar",
    always_numbers: "test_without_numbers_the_labels_are_bare",
    has_a_blank_line_after_the_last_alone: "test_an_exemplar_shows_thoughts_actions_and_observations",
    forgets_the_blank_line: "test_an_exemplar_shows_thoughts_actions_and_observations",
}
