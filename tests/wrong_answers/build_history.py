"""Plausible wrong answers to `build_history`, each with the test that must catch it."""


def _prompt(question, steps, preamble, step="{}\nObservation: {}\n"):
    told = "".join(step.format(text, seen) for text, seen in steps)
    return f"{preamble}Question: {question}\n{told}"


def forgets_the_newline_before_observation(question, steps, *, preamble=""):
    return _prompt(question, steps, preamble, "{}Observation: {}\n")


def sends_only_the_last_step(question, steps, *, preamble=""):
    return _prompt(question, list(steps)[-1:], preamble)


def puts_a_line_after_the_preamble(question, steps, *, preamble=""):
    return _prompt(question, steps, preamble and f"{preamble}\n")


def strips_what_was_written(question, steps, *, preamble=""):
    return _prompt(question, [(text.strip(), seen.strip()) for text, seen in steps], preamble)


def uses_the_steps_up(question, steps, *, preamble=""):
    return _prompt(question, [steps.pop(0) for _ in range(len(steps))], preamble)


WRONG = {
    forgets_the_newline_before_observation: "test_a_step_adds_its_turn_and_its_observation",
    sends_only_the_last_step: "test_it_is_what_the_naive_loop_sends",
    puts_a_line_after_the_preamble: "test_a_preamble_stands_before_the_question",
    strips_what_was_written: "test_the_models_words_stay_as_they_are",
    uses_the_steps_up: "test_the_steps_are_not_changed",
}
