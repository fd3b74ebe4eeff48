"""Plausible wrong answers to `evaluate_math_block`, each with words of its failure."""

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
    finds_a_block_anywhere: "neither a block at its start",
    looks_for_the_answer_first: "a block at the start is evaluated",
    makes_every_number_a_float: "the way numexpr writes it",
    works_out_every_digit: "too large on the way",
    lets_numexpr_raise: "cannot evaluate raises ValueError",
}
