"""Plausible wrong answers to `build_history`, each with the test that must catch it."""


def forgets_the_newline_before_observation(question, steps, *, preamble=""):
    history = f"{preamble}Question: {question}\n"
    for text, observation in steps:
        history += f"{text}Observation: {observation}\n"
    return history


def sends_only_the_last_step(question, steps, *, preamble=""):
    history = f"{preamble}Question: {question}\n"
    for text, observation in list(steps)[-1:]:
        history += f"{text}\nObservation: {observation}\n"
    return history


def puts_a_line_behind_the_preamble(question, steps, *, preamble=""):
    lines = [preamble] if preamble else []
    lines.append(f"Question: {question}")
    for text, observation in steps:
        lines += [text, f"Observation: {observation}"]
    return "\n".join(lines) + "\n"


def strips_what_was_written(question, steps, *, preamble=""):
    history = f"{preamble}Question: {question}\n"
    for text, observation in steps:
        history += f"{text.strip()}\nObservation: {observation.strip()}\n"
    return history


WRONG = {
    forgets_the_newline_before_observation: "test_a_step_adds_its_turn_and_its_observation",
    sends_only_the_last_step: "test_it_is_what_the_naive_loop_sends",
    puts_a_line_behind_the_preamble: "test_a_preamble_stands_before_the_question",
    strips_what_was_written: "test_the_models_words_stay_as_they_are",
}
