"""Plausible wrong answers to `render_scratchpad`, with the tests that catch them."""


def _steps(steps):
    return [f"{log}\nObservation: {seen}\nThought:" for log, seen in steps]


def forgets_the_open_thought(steps):
    return "".join(step.removesuffix("Thought:") for step in _steps(steps))


def strips_the_log(steps):
    return "".join(_steps((f" {log.strip()}", seen) for log, seen in steps))


def joins_the_steps_with_a_newline(steps):
    return "\n".join(_steps(steps))


def opens_a_thought_even_without_steps(steps):
    return "".join(_steps(steps)) or "Thought:"


WRONG = {
    forgets_the_open_thought: "test_a_step_is_the_log_the_observation_and_an_open_thought",
    strips_the_log: "test_nothing_of_a_log_is_changed",
    joins_the_steps_with_a_newline: "test_the_steps_stand_in_order",
    opens_a_thought_even_without_steps: "test_nothing_is_added_before_the_first_step",
}
