"""Plausible wrong answers to `evaluate_math_block`, with the tests that catch them."""

import math
import re

import numexpr

from workbook.lessons.langchain_debug_trace import as_floats


def _value(expression):
    names = {"pi": math.pi, "e": math.e}
    return numexpr.evaluate(expression, global_dict={}, local_dict=names)


def _evaluate(expression, first=as_floats):
    try:
        _value(first(expression))
        return f"Answer: {_value(expression)}"
    except Exception as error:
        raise ValueError("not an expression") from error


def _read(text, evaluate=_evaluate, find=re.match):
    text = text.strip()
    if block := find(r"```text(.*?)```", text, re.DOTALL):
        return evaluate(block[1].strip())
    if text.startswith("Answer:"):
        return text
    if "Answer:" in text:
        return "Answer: " + text.rsplit("Answer:", 1)[1].strip()
    raise ValueError("neither a block nor an answer")


def finds_a_block_anywhere(text):
    return _read(text, find=re.search)


def looks_for_the_answer_first(text):
    if "Answer:" in text and not text.startswith("Answer:"):
        return "Answer: " + text.rsplit("Answer:", 1)[1].strip()
    return _read(text)


def wants_newlines_in_the_block(text):
    def find(pattern, text, flags):
        return re.match(r"```text\n(.*?)\n```", text, flags)

    return _read(text, find=find)


def takes_the_first_answer(text):
    before, found, after = text.partition("Answer:")
    return f"Answer: {after.strip()}" if found and "```" not in before else _read(text)


def reads_the_notebooks_names(text):
    def evaluate(expression):
        names = {"pi": math.pi, "e": math.e}
        try:
            numexpr.evaluate(as_floats(expression), local_dict=names)
            return f"Answer: {numexpr.evaluate(expression, local_dict=names)}"
        except Exception as error:
            raise ValueError("not an expression") from error

    return _read(text, evaluate)


def forgets_that_it_may_be_no_python(text):
    def evaluate(expression):
        as_floats(expression)
        return _evaluate(expression)

    return _read(text, evaluate)


def takes_the_last_of_all_answers(text):
    return _read(f"So: {text}" if text.startswith("Answer:") else text)


def makes_every_number_a_float(text):
    return _read(text, lambda part: f"Answer: {float(_evaluate(part)[8:])}")


def evaluates_with_python(text):
    def evaluate(expression):
        names = {"pi": math.pi, "e": math.e, "__builtins__": {}}
        try:
            eval(as_floats(expression), names)
            return f"Answer: {eval(expression, names)}"
        except Exception as error:
            raise ValueError("not an expression") from error

    return _read(text, evaluate)


def works_out_every_digit(text):
    return _read(text, lambda part: _evaluate(part, first=str))


WRONG = {
    finds_a_block_anywhere: "test_anything_else_is_refused",
    looks_for_the_answer_first: "test_the_block_wins_over_an_answer",
    takes_the_last_of_all_answers: "test_a_ready_answer_is_passed_on",
    makes_every_number_a_float: "test_the_block_is_evaluated",
    reads_the_notebooks_names: "test_pi_and_e_are_the_only_names",
    wants_newlines_in_the_block: "test_spaces_around_the_reply_do_not_matter",
    takes_the_first_answer: "test_the_last_answer_counts",
    forgets_that_it_may_be_no_python: "test_what_numexpr_refuses_is_a_value_error",
    evaluates_with_python: "test_what_numexpr_refuses_is_a_value_error",
    works_out_every_digit: "test_what_no_float_can_hold_is_refused",
}
