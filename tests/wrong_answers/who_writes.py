"""Plausible wrong answers to `who_writes`, each with the test that must catch it."""


def the_model_writes_everything(label):
    return "model"


def the_runtime_writes_the_end(label):
    return "model" if label in ("Thought", "Action", "Action Input") else "runtime"


def the_runtime_writes_what_a_tool_gets(label):
    return "model" if label in ("Thought", "Final Answer") else "runtime"


WRONG = {
    the_model_writes_everything: "test_the_runtime_writes_the_observation",
    the_runtime_writes_the_end: "test_the_model_writes_the_answer",
    the_runtime_writes_what_a_tool_gets: "test_the_model_writes_what_it_thinks_and_asks_for",
}
