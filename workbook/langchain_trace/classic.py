"""The classic agent's texts: its scratchpad, its calculator's blocks, examples for it.

The prompt ends with "Thought:". Everything that has happened so far stands behind that
word, as one text, and all of it is sent again with every call. The calculator of old
tutorials has the model write an expression into a fenced block, and evaluates that.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Sequence
from typing import Any

_BLOCK = re.compile(r"\A```text(.*?)```", re.DOTALL)
_NAMES = {"pi": math.pi, "e": math.e}


def render_scratchpad(steps: Sequence[tuple[str, str]]) -> str:
    """Return the text that stands behind the prompt's "Thought:".

    Each step, (log, observation), adds what the model wrote to the letter, then the
    observation on a line of its own, then the word that lets the model go on.

    >>> print(render_scratchpad([(" Add.\\nAction: Sum\\nAction Input: 1+1", "2")]))
     Add.
    Action: Sum
    Action Input: 1+1
    Observation: 2
    Thought:
    """
    return "".join(
        f"{log}\nObservation: {observation}\nThought:" for log, observation in steps
    )


def evaluate_math_block(text: str) -> str:
    """Return what the calculator answers, given the model's reply.

    A reply that opens with a block of text is evaluated, where floats can do it too.
    Otherwise the words behind the last "Answer:" are taken as they are: the model has
    done the sum itself. Spaces around the reply do not matter.

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


def as_floats(expression: str) -> str:
    """Return an expression with its whole numbers as floats.

    numexpr works whole numbers out to the last digit, however long that takes. A float
    ends at 1.8e308: what goes beyond raises at once.

    Raises:
        SyntaxError: it is no expression.
        OverflowError: one of its numbers is too large for a float.

    >>> as_floats("9**9**9")
    '9.0 ** 9.0 ** 9.0'
    """
    tree = ast.parse(expression, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            node.value = float(node.value)
    return ast.unparse(tree)


def _evaluate(expression: str) -> str:
    import numexpr

    known: dict[str, Any] = {"global_dict": {}, "local_dict": _NAMES}
    try:
        numexpr.evaluate(as_floats(expression), **known)
        value = numexpr.evaluate(expression, **known)
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
    expression = prompt.rsplit("\nQuestion: ", 1)[-1].strip()
    return f'```text\n{expression}\n```\n...numexpr.evaluate("{expression}")...\n'


EXAMPLES = """

Question: What is 7 * 8?
Thought: I use the calculator.
Action: Calculator
Action Input: 7*8
Observation: Answer: 56
Thought: I now know the final answer.
Final Answer: 56

Question: What is 30 - 4?
Thought: I use the calculator.
Action: Calculator
Action Input: 30-4
Observation: Answer: 26
Thought: I now know the final answer.
Final Answer: 26"""


def few_shot() -> dict[str, Any]:
    """Return the option that puts the examples behind the format's description.

    For `run_classic(…, **few_shot())`. They stand before "Begin!", so `split_prompt`
    counts them to the format.
    """
    from langchain_classic.agents.mrkl.prompt import FORMAT_INSTRUCTIONS

    return {"agent_kwargs": {"format_instructions": FORMAT_INSTRUCTIONS + EXAMPLES}}
