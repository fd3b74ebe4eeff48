"""Plausible wrong answers to `who_writes`, each with words that its failure must show."""


def the_model_writes_everything(label):
    return "model"


def the_runtime_writes_the_end(label):
    return "model" if label in ("Thought", "Action", "Action Input") else "runtime"


def the_runtime_writes_what_a_tool_gets(label):
    return "model" if label in ("Thought", "Final Answer") else "runtime"


WRONG = {
    the_model_writes_everything: "it alone writes the Observation",
    the_runtime_writes_the_end: "the model writes the Final Answer",
    the_runtime_writes_what_a_tool_gets: "who_writes('Action')",
}
