"""Plausible wrong answers to `build_history`, each with the test that must catch it."""


def _prompt(question, steps, instructions, step="{}\nObservation: {}\n"):
    told = "".join(step.format(text, seen) for text, seen in steps)
    return f"{instructions}Question: {question}\n{told}"


def forgets_the_line_break_after_the_question(question, steps, *, instructions=""):
    prompt = _prompt(question, steps, instructions)
    return prompt.replace(f"{question}\n", question, 1)


def forgets_the_newline_before_observation(question, steps, *, instructions=""):
    return _prompt(question, steps, instructions, "{}Observation: {}\n")


def sends_only_the_last_step(question, steps, *, instructions=""):
    return _prompt(question, list(steps)[-1:], instructions)


def puts_a_line_after_the_instructions(question, steps, *, instructions=""):
    return _prompt(question, steps, instructions and f"{instructions}\n")


def strips_what_was_written(question, steps, *, instructions=""):
    return _prompt(question, [(text.strip(), seen.strip()) for text, seen in steps], instructions)


WRONG = {
    forgets_the_line_break_after_the_question: "test_the_first_prompt_is_the_question",
    forgets_the_newline_before_observation: "test_a_step_adds_its_turn_and_its_observation",
    sends_only_the_last_step: "test_the_steps_follow_each_other",
    puts_a_line_after_the_instructions: "test_the_instructions_come_first",
    strips_what_was_written: "test_the_models_words_stay_as_they_are",
}
