"""The classic agent's texts: its scratchpad, and its calculator's blocks.

The prompt ends with "Thought:" and all that has happened so far, sent again with every
call. The calculator of old tutorials evaluates what the model writes in a fenced block.
"""

import ast
import math
import re
from collections.abc import Sequence
from typing import Any

from workbook.runtime.trace import Kind, Trace


def render_scratchpad(steps: Sequence[tuple[str, str]]) -> str:
    """Return the text that follows the prompt's "Thought:".

    Each step, (log, observation), adds what the model wrote to the letter, then the
    observation on a line of its own, then "Thought:" again.

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
    Otherwise the words after the last "Answer:" are taken as they are. Spaces around
    the reply do not matter. Neither, or what numexpr cannot do, raises ValueError.

    >>> evaluate_math_block("```text\\n100*0.2\\n```\\n")
    'Answer: 20.0'
    """
    text = text.strip()
    if block := re.match(r"```text(.*?)```", text, re.DOTALL):
        return f"Answer: {_evaluate(block[1].strip())}"
    if text.startswith("Answer:"):
        return text
    if "Answer:" in text:
        return f"Answer: {text.rsplit('Answer:', 1)[1].strip()}"
    raise ValueError(f"no ```text block and no answer in {text!r}: ask again")


def as_floats(expression: str) -> str:
    """Return an expression with its whole numbers as floats.

    numexpr works whole numbers out to the last digit, however long that takes. A float
    ends at 1.8e308: beyond is an OverflowError at once. No expression: SyntaxError.

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

    names = {"pi": math.pi, "e": math.e}
    known: dict[str, Any] = {"global_dict": {}, "local_dict": names}
    try:
        numexpr.evaluate(as_floats(expression), **known)
        value = numexpr.evaluate(expression, **known)
    except Exception as error:  # numexpr raises many kinds
        problem = f"numexpr cannot evaluate {expression!r} ({error})"
        raise ValueError(f"{problem}: write one line of numbers") from error
    return re.sub(r"^\[|\]$", "", str(value))


def write_math_block(prompt: str) -> str:
    """Answer the calculator's prompt as a perfect model would: the question, fenced.

    >>> write_math_block("Translate.\\n\\nQuestion: 80+8\\n")
    '```text\\n80+8\\n```\\n...numexpr.evaluate("80+8")...\\n'
    """
    expression = prompt.rsplit("\nQuestion: ", 1)[-1].strip()
    return f'```text\n{expression}\n```\n...numexpr.evaluate("{expression}")...\n'


def agents_own(trace: Trace) -> Trace:
    """Return a trace without the events that happened inside a tool."""
    return Trace(tuple(event for event in trace if "parent" not in event))


def agent_prompts(trace: Trace) -> list[str]:
    """Return the prompts of text that the agent itself sent; messages are none."""
    requests = agents_own(trace).of(Kind.MODEL_REQUEST)
    sent = [trace.prompt(event["seq"]) for event in requests]
    return [prompt for prompt in sent if isinstance(prompt, str)]


def steps_of(trace: Trace) -> list[tuple[str, str]]:
    """Return the agent's steps: what the model wrote, and what it then observed."""
    own = agents_own(trace)
    logs = [event["text"] for event in own.of(Kind.MODEL_TURN)]
    seen = [event["text"] for event in own.of(Kind.OBSERVATION)]
    return list(zip(logs, seen, strict=False))
