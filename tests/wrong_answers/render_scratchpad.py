"""Plausible wrong answers to `render_scratchpad`, each with words of its failure."""


def forgets_the_open_thought(steps):
    return "".join(f"{log}\nObservation: {observed}\n" for log, observed in steps)


def strips_the_log(steps):
    return "".join(
        f" {log.strip()}\nObservation: {observed}\nThought:" for log, observed in steps
    )


def joins_the_steps_with_a_newline(steps):
    return "\n".join(
        f"{log}\nObservation: {observed}\nThought:" for log, observed in steps
    )


def opens_a_thought_even_without_steps(steps):
    text = "".join(f"Thought:{log}\nObservation: {observed}\n" for log, observed in steps)
    return (text + "Thought:").removeprefix("Thought:") if steps else "Thought:"


WRONG = {
    forgets_the_open_thought: '"Thought:" to go on',
    strips_the_log: "stay as they are",
    joins_the_steps_with_a_newline: "in the order in which they were made",
    opens_a_thought_even_without_steps: "without steps",
}
