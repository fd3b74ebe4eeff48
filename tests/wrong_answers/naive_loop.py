"""Plausible wrong answers to `naive_loop`, each with the test that must catch it."""

import re

STEP = r"Action: (.*)\nAction Input: (.*)"


def forgets_what_the_model_wrote(model, tools, question, *, preamble=""):
    history = f"{preamble}Question: {question}\n"
    while True:
        reply = model.complete(history).text
        if "Final Answer:" in reply:
            return reply.split("Final Answer:")[1].strip()
        tool, argument = re.search(STEP, reply).groups()
        history += f"\nObservation: {tools[tool](argument)}\n"


def runs_the_tool_before_it_looks(model, tools, question, *, preamble=""):
    history = f"{preamble}Question: {question}\n"
    while True:
        reply = model.complete(history).text
        history += reply
        if step := re.search(STEP, reply):
            history += f"\nObservation: {tools[step[1]](step[2])}\n"
        if "Final Answer:" in reply:
            return reply.split("Final Answer:")[1].strip()


def keeps_going_whatever_happens(model, tools, question, *, preamble=""):
    history = f"{preamble}Question: {question}\n"
    for _ in range(100):
        try:
            reply = model.complete(history).text
            history += reply
            if "Final Answer:" in reply:
                return reply.split("Final Answer:")[1].strip()
            tool, argument = re.search(STEP, reply).groups()
            history += f"\nObservation: {tools[tool](argument)}\n"
        except Exception as error:
            history += f"\nObservation: {error}\n"
    return ""


def has_a_limit(model, tools, question, *, preamble=""):
    history = f"{preamble}Question: {question}\n"
    for _ in range(10):
        reply = model.complete(history).text
        history += reply
        if "Final Answer:" in reply:
            return reply.split("Final Answer:")[1].strip()
        tool, argument = re.search(STEP, reply).groups()
        history += f"\nObservation: {tools[tool](argument)}\n"
    return "I do not know."


WRONG = {
    forgets_what_the_model_wrote: "test_the_next_prompt_holds_everything",
    runs_the_tool_before_it_looks: "test_the_two_words_end_it_wherever_they_stand",
    keeps_going_whatever_happens: "test_nothing_is_caught",
    has_a_limit: "test_it_goes_on_as_long_as_the_model_does",
}
