"""Your agent, put together from your parts.

python agent.py                          the price question, on a script
python agent.py --model local            the same on the small model on this machine
python agent.py --model NAME "question"  your question to a hosted model
python agent.py --milestone --model local    five price questions: how many right?
"""

import argparse
import faulthandler
import sys
from functools import partial

from your_agent import PARTS

from workbook.exercises.your_agent import PartBroken
from workbook.fsm import Limits, Machine, State, TextTurns
from workbook.models import get_text_model
from workbook.models.base import Prefilled
from workbook.tools import ToolRegistry
from workbook.tools.calculator import calculator

QUESTION = (
    "A product costs $100. First 20% is taken off, then 10% is added."
    " What is the final price?"
)
SCRIPT = [
    "Thought: I take 20% off.\nAction: Percent\n"
    'Action Input: {"amount": 100, "percent": -20}',
    "Thought: I add 10%.\nAction: Calculator\nAction Input: 80 + 80*0.1",
    "Thought: That is the price.\nFinal Answer: 88",
]
EXAMPLE = """Answer the question step by step with a calculator.

Question: A book costs $40. 10% is taken off. What is the price?
Thought: I take 10% off 40.
Action: Calculator
Action Input: 40*0.9
Observation: 36
Thought: I now know the final answer.
Final Answer: 36

"""
MILESTONE = {
    "A product costs $100. 20% is taken off. What is the price?": "80",
    "A bag costs $50. 10% is taken off. What is the price?": "45",
    "A lamp costs $30. 50% is taken off. What is the price?": "15",
    "A coat costs $200. 25% is taken off. What is the price?": "150",
    "A pen costs $4. 10% is added. What is the price?": "4.4",
}


def build(model, preamble=None):
    """Return the machine: your table, your driver, your handler, your tools."""
    tools = ToolRegistry(
        [calculator(evaluate=PARTS["safe_eval"]), PARTS["percent_tool"]()],
        validate=PARTS["validate_arguments"],
        repair=PARTS["repair_arguments"],
    )
    table = PARTS["agent_table"]()
    return Machine(
        model,
        tools,
        table.using(advance=PARTS["advance"], audit=PARTS["audit"]),
        drive=PARTS["drive"],
        handlers={State.THINK: PARTS["think"]},
        adapter=partial(TextTurns, parse=PARTS["parse_turn"]),
        limits=Limits(steps=8),
        preamble=preamble,
    )


def choose(name):
    """Return the model of that name, and what stands before its questions."""
    if name == "scripted":
        return get_text_model("scripted", turns=SCRIPT), None
    model = get_text_model(name, max_tokens=60)
    return (Prefilled(model, "Thought:"), EXAMPLE) if name == "local" else (model, None)


def milestone(name):
    """Ask five price questions and say how many answers were right."""
    right = 0
    for question, wanted in MILESTONE.items():
        ended = build(*choose(name)).run(question)
        good = (ended.answer or "").strip().strip("$.") == wanted
        right += good
        outcome = "right" if good else f"wrong, {wanted} is right"
        print(f"{question} {ended.state}: {ended.answer or ended.message} ({outcome})")
    print(f"{right} of {len(MILESTONE)} right")


def main():
    """Answer one question, or five."""
    options = argparse.ArgumentParser(prog="agent.py", description="Your agent.")
    options.add_argument("question", nargs="?", default=QUESTION)
    options.add_argument(
        "--model", default="scripted", help="scripted, local, or a name"
    )
    options.add_argument("--milestone", action="store_true", help="five questions")
    given = options.parse_args()
    if given.model == "scripted":  # a run of milliseconds, unless a part never ends
        faulthandler.dump_traceback_later(10, exit=True)  # says which, and the line
    fixed = ": a script, it says the same to any question"
    asks = f"model: {given.model}{fixed if given.model == 'scripted' else ''}"
    print(asks, file=sys.stderr)
    try:
        if given.milestone:
            milestone(given.model)
            return 0
        print(f"question: {given.question}", file=sys.stderr)
        ended = build(*choose(given.model)).run(given.question)
    except PartBroken as broken:
        print(broken, file=sys.stderr)
        return 1
    except (LookupError, RuntimeError, ValueError) as problem:
        print(f"{type(problem).__name__}: {problem}", file=sys.stderr)
        return 1
    print(PARTS.line(), file=sys.stderr)
    print(
        ended.answer if ended.answer is not None else f"{ended.state}: {ended.message}"
    )
    return 0 if ended.answer is not None else 1


if __name__ == "__main__":
    sys.exit(main())
