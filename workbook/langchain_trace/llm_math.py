"""The calculator that asks the model: what llm-math does with the reply.

The model writes an expression into a fenced block; numexpr evaluates it. This is the
hidden second call: a tool that looks like arithmetic and is a prompt.
"""

from __future__ import annotations

import math
import re

_BLOCK = re.compile(r"\A```text(.*?)```", re.DOTALL)
_QUESTION = "\nQuestion: "


def evaluate_math_block(text: str) -> str:
    """Return what the calculator answers, given the model's reply.

    A reply that opens with a block of text is evaluated. Otherwise the words behind the
    last "Answer:" are taken as they are: the model has done the sum itself.

    Args:
        text: the reply, cut before its output block; spaces around it do not matter.

    Raises:
        ValueError: there is neither, or numexpr cannot evaluate the expression.

    >>> evaluate_math_block("```text\\n100*0.2\\n```\\n")
    'Answer: 20.0'
    """
    text = text.strip()
    if block := _BLOCK.match(text):
        return f"Answer: {_evaluate(block[1].strip())}"
    if text.startswith("Answer:"):
        return text
    if "Answer:" in text:
        return f"Answer: {text.rsplit('Answer:', 1)[1].strip()}"
    raise ValueError(
        f"neither a ```text block nor an answer in {text!r}: ask the model again"
    )


def _evaluate(expression: str) -> str:
    import numexpr

    names = {"pi": math.pi, "e": math.e}
    try:
        value = numexpr.evaluate(expression, global_dict={}, local_dict=names)
    except Exception as error:  # numexpr raises many kinds
        raise ValueError(
            f"numexpr cannot evaluate {expression!r} ({error}): "
            "write one line of numbers and operators"
        ) from error
    return re.sub(r"^\[|\]$", "", str(value))


def write_math_block(prompt: str) -> str:
    """Answer the calculator's prompt as a perfect model would: the question, fenced.

    >>> write_math_block("Translate.\\n\\nQuestion: 80+8\\n")
    '```text\\n80+8\\n```\\n...numexpr.evaluate("80+8")...\\n'
    """
    expression = prompt.rsplit(_QUESTION, 1)[-1].strip()
    return f'```text\n{expression}\n```\n...numexpr.evaluate("{expression}")...\n'
