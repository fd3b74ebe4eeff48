"""Plausible wrong answers to `react_prompt`, each with the test that must catch it."""


def _prompt(question, exemplars, numbered, *, cue, empty=False, on=False, gap="\n"):
    blocks, n = [], 0
    for exemplar in exemplars:
        lines = [f"Question: {exemplar.question}"]
        n = n if on else 0
        for step in exemplar.steps:
            n += 1
            number = f" {n}" if numbered else ""
            lines += [f"Thought{number}: {step.thought}"]
            lines += [f"Action{number}: {step.action}"]
            if step.observation or empty:
                lines += [f"Observation{number}: {step.observation}"]
        blocks.append("\n".join(lines) + "\n" + gap)
    return "".join(blocks) + f"Question: {question}\n{cue}"


def leaves_the_label_out(question, exemplars, *, numbered=True):
    return _prompt(question, exemplars, numbered, cue="")


def writes_empty_observations(question, exemplars, *, numbered=True):
    cue = "Thought 1:" if numbered else "Thought:"
    return _prompt(question, exemplars, numbered, cue=cue, empty=True)


def counts_on(question, exemplars, *, numbered=True):
    cue = "Thought 1:" if numbered else "Thought:"
    return _prompt(question, exemplars, numbered, cue=cue, on=True)


def always_numbers(question, exemplars, *, numbered=True):
    return _prompt(question, exemplars, True, cue="Thought 1:")


def forgets_the_blank_line(question, exemplars, *, numbered=True):
    cue = "Thought 1:" if numbered else "Thought:"
    return _prompt(question, exemplars, numbered, cue=cue, gap="")


WRONG = {
    leaves_the_label_out: "test_without_exemplars_only_the_question_is_left",
    writes_empty_observations: "test_an_exemplar_shows_thoughts_actions_and_observations",
    counts_on: "test_numbers_start_again_with_each_exemplar",
    always_numbers: "test_without_numbers_the_labels_are_bare",
    forgets_the_blank_line: "test_an_exemplar_shows_thoughts_actions_and_observations",
}
