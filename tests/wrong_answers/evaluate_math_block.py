"""Plausible wrong answers to `evaluate_math_block`, with the tests that catch them."""

import math
import re

import numexpr

from workbook.langchain_trace.classic import as_floats


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
    return _read(text[text.find("Answer:") :] if "Answer:" in text else text)


def takes_the_last_of_all_answers(text):
    return _read(f"So: {text}" if text.startswith("Answer:") else text)


def makes_every_number_a_float(text):
    return _read(text, lambda part: f"Answer: {float(_evaluate(part)[8:])}")


def lets_numexpr_raise(text):
    return _read(text, lambda part: f"Answer: {_value(as_floats(part)) and _value(part)}")


def works_out_every_digit(text):
    return _read(text, lambda part: _evaluate(part, first=str))


WRONG = {
    finds_a_block_anywhere: "test_anything_else_is_refused",
    looks_for_the_answer_first: "test_the_block_wins_over_an_answer",
    takes_the_last_of_all_answers: "test_a_ready_answer_is_passed_on",
    makes_every_number_a_float: "test_whole_numbers_stay_whole",
    lets_numexpr_raise: "test_what_numexpr_refuses_is_a_value_error",
    works_out_every_digit: "test_what_no_float_can_hold_is_refused",
}
