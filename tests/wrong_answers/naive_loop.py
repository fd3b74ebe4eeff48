"""Plausible wrong answers to `naive_loop`, each with the test that must catch it."""

import re


def _answer(reply):
    return reply.partition("Final Answer:")[2].strip()


def _observation(reply, tools):
    step = re.search(r"Action: (.*)\nAction Input: (.*)", reply)
    return f"\nObservation: {tools[step[1]](step[2])}\n"


def _loop(model, tools, question, instructions="", most=1000, answer=_answer, kept=str):
    history = f"{instructions}Question: {question}\n"
    for _ in range(most):
        reply = model.complete(history).text
        if "Final Answer:" in reply:
            return answer(reply)
        history += kept(reply) + _observation(reply, tools)
    return "I do not know."


def takes_the_last_answer(model, tools, question, *, instructions=""):
    def last(reply):
        return reply.split("Final Answer:")[-1].strip()

    return _loop(model, tools, question, instructions, answer=last)


def puts_a_line_after_the_instructions(model, tools, question, *, instructions=""):
    return _loop(model, tools, question, instructions and f"{instructions}\n")


def has_a_limit(model, tools, question, *, instructions=""):
    return _loop(model, tools, question, instructions, most=10)


def forgets_what_the_model_wrote(model, tools, question, *, instructions=""):
    return _loop(model, tools, question, instructions, kept=lambda reply: "")


def gives_the_tool_the_first_word(model, tools, question, *, instructions=""):
    def first_word(use):
        return lambda text: use(text.split()[0])

    short = {name: first_word(use) for name, use in tools.items()}
    return _loop(model, short, question, instructions)


def takes_every_result_for_text(model, tools, question, *, instructions=""):
    texts = {name: lambda text, use=use: "" + use(text) for name, use in tools.items()}
    return _loop(model, texts, question, instructions)


def strips_the_reply(model, tools, question, *, instructions=""):
    return _loop(model, tools, question, instructions, kept=str.strip)


def looks_for_the_words_without_the_colon(model, tools, question, *, instructions=""):
    history = f"{instructions}Question: {question}\n"
    while "Final Answer" not in (reply := model.complete(history).text):
        history += reply + _observation(reply, tools)
    return _answer(reply)


def runs_the_tool_before_it_looks(model, tools, question, *, instructions=""):
    def run_and_answer(reply):
        if "Action: " in reply:
            _observation(reply, tools)
        return _answer(reply)

    return _loop(model, tools, question, instructions, answer=run_and_answer)


def looks_for_the_answer_in_the_history(model, tools, question, *, instructions=""):
    history = f"{instructions}Question: {question}\n"
    while True:
        reply = model.complete(history).text
        history += reply
        if "Final Answer:" in history:
            return _answer(history)
        history += _observation(reply, tools)


def keeps_going_whatever_happens(model, tools, question, *, instructions=""):
    history = f"{instructions}Question: {question}\n"
    while True:
        try:
            reply = model.complete(history).text
            if "Final Answer:" in reply:
                return _answer(reply)
            history += reply + _observation(reply, tools)
        except Exception as error:
            history += f"\nObservation: {error}\n"


WRONG = {
    takes_the_last_answer: "test_it_answers_with_what_follows_final_answer",
    puts_a_line_after_the_instructions: "test_the_first_prompt_is_instructions_and_question",
    has_a_limit: "test_it_goes_on_as_long_as_the_model_does",
    gives_the_tool_the_first_word: "test_the_tool_gets_the_input",
    takes_every_result_for_text: "test_a_result_may_be_a_number",
    forgets_what_the_model_wrote: "test_the_next_prompt_holds_everything",
    strips_the_reply: "test_the_next_prompt_holds_everything",
    looks_for_the_words_without_the_colon: "test_the_two_words_end_it_wherever_they_stand",
    runs_the_tool_before_it_looks: "test_the_two_words_end_it_wherever_they_stand",
    looks_for_the_answer_in_the_history: "test_the_two_words_end_it_wherever_they_stand",
    keeps_going_whatever_happens: "test_nothing_is_caught",
}
