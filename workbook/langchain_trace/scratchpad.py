"""What the classic agent adds to its prompt after each step.

The prompt ends with "Thought:". Everything that has happened so far stands behind that
word, as one text, and all of it is sent again with every call.
"""

from __future__ import annotations

from collections.abc import Sequence


def render_scratchpad(steps: Sequence[tuple[str, str]]) -> str:
    """Return the text that stands behind the prompt's "Thought:".

    Each step adds what the model wrote, then the observation on a line of its own, then
    the word that lets the model go on. Without steps nothing is added.

    Args:
        steps: (log, observation) in order; the log is the model's turn to the letter.

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
