"""Plausible wrong answers to `evaluate_math_block`, with the tests that catch them."""

import math
import re

import numexpr

NAMES = {"pi": math.pi, "e": math.e}


def finds_a_block_anywhere(text):
    block = re.search(r"```text(.*?)```", text, re.DOTALL)
    try:
        if block:
            value = numexpr.evaluate(block[1].strip(), global_dict={}, local_dict=NAMES)
            return f"Answer: {value}"
    except Exception as error:
        raise ValueError("not an expression") from error
    if text.strip().startswith("Answer:"):
        return text.strip()
    if "Answer:" in text:
        return "Answer: " + text.rsplit("Answer:", 1)[1].strip()
    raise ValueError("neither a block nor an answer")


def looks_for_the_answer_first(text):
    text = text.strip()
    if "Answer:" in text:
        return "Answer: " + text.rsplit("Answer:", 1)[1].strip()
    block = re.match(r"```text(.*?)```", text, re.DOTALL)
    if not block:
        raise ValueError("neither a block nor an answer")
    try:
        value = numexpr.evaluate(block[1].strip(), global_dict={}, local_dict=NAMES)
    except Exception as error:
        raise ValueError("not an expression") from error
    return f"Answer: {value}"


def makes_every_number_a_float(text):
    text = text.strip()
    block = re.match(r"```text(.*?)```", text, re.DOTALL)
    if block:
        try:
            value = numexpr.evaluate(block[1].strip(), global_dict={}, local_dict=NAMES)
        except Exception as error:
            raise ValueError("not an expression") from error
        return f"Answer: {float(value)}"
    if "Answer:" in text:
        return "Answer: " + text.rsplit("Answer:", 1)[1].strip()
    raise ValueError("neither a block nor an answer")


def lets_numexpr_raise(text):
    text = text.strip()
    block = re.match(r"```text(.*?)```", text, re.DOTALL)
    if block:
        value = numexpr.evaluate(block[1].strip(), global_dict={}, local_dict=NAMES)
        return f"Answer: {value}"
    if "Answer:" in text:
        return "Answer: " + text.rsplit("Answer:", 1)[1].strip()
    raise ValueError("neither a block nor an answer")


def works_out_every_digit(text):
    text = text.strip()
    block = re.match(r"```text(.*?)```", text, re.DOTALL)
    if block:
        try:
            value = numexpr.evaluate(block[1].strip(), global_dict={}, local_dict=NAMES)
        except Exception as error:
            raise ValueError("not an expression") from error
        return f"Answer: {value}"
    if "Answer:" in text:
        return "Answer: " + text.rsplit("Answer:", 1)[1].strip()
    raise ValueError("neither a block nor an answer")


WRONG = {
    finds_a_block_anywhere: "test_anything_else_is_refused",
    looks_for_the_answer_first: "test_the_block_wins_over_an_answer",
    makes_every_number_a_float: "test_whole_numbers_stay_whole",
    works_out_every_digit: "test_what_no_float_can_hold_is_refused",
    lets_numexpr_raise: "test_what_numexpr_refuses_is_a_value_error",
}
