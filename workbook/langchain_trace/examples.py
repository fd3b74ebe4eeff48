"""Two worked examples for the classic prompt, for models that are too small without.

LangChain's zero-shot prompt describes the format and shows none of it. A small model
follows what it sees: with examples it keeps the format, to a fault.
"""

from __future__ import annotations

from typing import Any

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
