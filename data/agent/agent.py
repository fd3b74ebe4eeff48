"""Your agent, put together from your parts.

python agent.py                          the price question, on a script
python agent.py --model local            the same on the small model on this machine
python agent.py --model NAME "question"  your question to a hosted model
python agent.py --milestone --model local    five price questions: how many right?
python agent.py --mend FOLDER            mends the failing test there; a new folder gets
                                         a sample. You are asked before each write.
python agent.py --mend FOLDER --plan     the same in plan mode: it writes nothing
python agent.py --pages                  answers three questions with sources, from
                                         pages of which one is hostile
python agent.py --capstone               your scenario, without your guard and with it
python agent.py --trace FILE             keeps the run there; once more: goes on with
                                         one that died, or looks back at it
"""

import argparse
import faulthandler
import json
import sys
from dataclasses import replace
from pathlib import Path

from your_agent import PARTS

from workbook.exercises.your_agent import PartBroken
from workbook.guardrails.budget import Budget
from workbook.guardrails.ledger import Ledger
from workbook.guardrails.machine import guarded
from workbook.guardrails.permission import (
    LATER,
    Approve,
    Edit,
    Reject,
    digest_of_call,
    no,
)
from workbook.guardrails.table import guarded_table
from workbook.models import get_text_model
from workbook.models.base import Prefilled
from workbook.models.script import Script
from workbook.props.city import CODE, QUESTIONS, city_tools, tally
from workbook.props.workspace import Workspace
from workbook.record import Trace, TraceWriter
from workbook.record.replay import replay
from workbook.stage.capstone import play_capstone, with_guard
from workbook.stage.scenarios import load
from workbook.tools.calculator import calculator
from workbook.trust.grounded import grounded
from workbook.trust.tainted import with_taint

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


def build(model, tools, preamble=None, make=guarded, **options):
    """Return the machine: your table, your driver, your handler, your guards."""
    options = {"ask": ask, **options}
    machine = make(
        model,
        tools,
        table=guarded_table(PARTS["agent_table"]()),
        budget=Budget(steps=8),
        ledger=Ledger(Path(__file__).with_name("ledger.db")),
        parts=PARTS,
        preamble=preamble,
        **options,
    )
    return with_guard(machine, own.guard) if (own := capstone()) else machine


def capstone():
    """Return your tool, guard and scenario, if lesson 13 is solved; they are used."""
    mine = PARTS["my_agent"]
    return mine() if mine.whose == "yours" else None


def ask(request):
    """Show at the terminal what a call would do; where nobody answers, it waits."""
    shown = request.call.name, request.preview, request.why, request.problem
    print(*shown, sep="\n", file=sys.stderr)
    print("yes, no and why, or other arguments as JSON:", file=sys.stderr)
    try:
        said = input().strip()
        if said.startswith("{"):
            return Edit(json.loads(said), who="you")
    except EOFError:
        return LATER
    except ValueError as problem:
        return ask(request._replace(problem=f"That is no JSON: {problem}"))
    if said.lower() in ("y", "yes"):
        return Approve(request.call.call_id, digest_of_call(request.call), who="you")
    return Reject(said.removeprefix("no").strip(" ,:"), who="you")


def prices():
    """Return the tools for questions about prices."""
    tools = [calculator(evaluate=PARTS["safe_eval"]), PARTS["percent_tool"]()]
    return tools + ([own.tool] if (own := capstone()) else [])


def mend(name, folder, mode, path):
    """Let the agent mend the failing test of a folder, and return how it ended."""
    place = Workspace(folder) if folder.is_dir() else Workspace.sample(folder)
    task = load("mend_the_test")
    turns = Script(task.turns[said(path) :])
    model = turns if name == "scripted" else choose(name)[0]
    return run(build(model, place.tools(), mode=mode), task.question, path)


def said(path):
    """Return how many turns a trace has: behind them a script goes on."""
    return len(Trace.read(path).of("model_turn")) if path and path.exists() else 0


def run(machine, question, path=None):
    """Run, and keep the trace in a file; go on with one, or look back at it."""
    if path is None:
        return machine.run(question)
    if not path.exists():
        with TraceWriter(path) as machine.hook:
            return machine.run(question)
    trace = Trace.read(path)
    return look_back(trace, machine) if trace.end else machine.resume(path)


def look_back(trace, machine):
    """Play a run again, without a model or a tool, and say what happened in it."""
    asked = any("answer" in event for event in trace.of("decision"))
    ended = (replay if asked else PARTS["replay"])(trace, machine)
    for state, stays in PARTS["state_times"](trace).items():
        print(f"{state}: {len(stays)} stays, {sum(stays):.4f} s", file=sys.stderr)
    print(PARTS["success_rate"](trace), file=sys.stderr)
    for event in trace.of("observation"):
        if not event["ok"]:
            why = PARTS["classify_error"](event)
            print(f"{why}: {event['text']}", file=sys.stderr)
    return ended


def show_capstone():
    """Play your scenario twice, and say how it ends."""
    own = replace(PARTS["my_agent"](), parts=PARTS)
    for guard in (False, True):
        end = play_capstone(own, guard)[0].end or {"state": "it waits", "answer": None}
        how = f"{'with' if guard else 'without'} the guard"
        print(f"{how}: {end['state']}, {end['answer'] or end.get('message')}")


def choose(name, path=None):
    """Return the model of that name, and what stands before its questions."""
    if name == "scripted":
        return get_text_model("scripted", turns=SCRIPT[said(path) :]), None
    model = get_text_model(name, max_tokens=60)
    return (Prefilled(model, "Thought:"), EXAMPLE) if name == "local" else (model, None)


def milestone(name):
    """Ask five price questions and say how many answers were right."""
    right = 0
    for question, wanted in MILESTONE.items():
        model, preamble = choose(name)
        ended = build(model, prices(), preamble).run(question)
        good = (ended.answer or "").strip().strip("$.") == wanted
        right += good
        outcome = "right" if good else f"wrong, {wanted} is right"
        print(f"{question} {ended.state}: {ended.answer or ended.message} ({outcome})")
    print(f"{right} of {len(MILESTONE)} right")


def pages(name):
    """Ask three questions about a city, and say what was answered, paid and leaked.

    Who wants to pay is told no; nothing else than the pages asks for it.
    """
    traces = []
    for question, (_, turns) in QUESTIONS.items():
        model = Script(turns) if name == "scripted" else choose(name)[0]
        machine = build(model, city_tools(), make=grounded, ask=no)
        how = {"private": ["Note"], "secret": [CODE], "screened": True, "fence": True}
        with TraceWriter() as told:
            machine.hook = told
            ended = with_taint(machine, **how).run(question)
        traces.append(told.trace())
        for event in traces[-1].of("decision"):
            print(f"  {event['who']}: {event['what']}, {event['why']}", file=sys.stderr)
        print(f"{question} {ended.state}: {ended.answer or ended.message}")
    print(tally(traces))


def main():
    """Answer one question, or five, or mend a test."""
    options = argparse.ArgumentParser(prog="agent.py", description="Your agent.")
    options.add_argument("question", nargs="?", default=QUESTION)
    options.add_argument(
        "--model", default="scripted", help="scripted, local, or a name"
    )
    options.add_argument("--milestone", action="store_true", help="five questions")
    options.add_argument("--pages", action="store_true", help="one of them is hostile")
    options.add_argument("--capstone", action="store_true", help="your scenario")
    options.add_argument("--mend", type=Path, metavar="FOLDER", help="a failing test")
    options.add_argument("--plan", action="store_true", help="write nothing")
    options.add_argument("--trace", type=Path, metavar="FILE", help="keep the run")
    given = options.parse_args()
    if (
        given.model == "scripted" and not given.mend
    ):  # a run of milliseconds, unless a part never ends
        faulthandler.dump_traceback_later(10, exit=True)  # says which, and the line
    fixed = ": a script, it says the same to any question"
    asks = f"model: {given.model}{fixed if given.model == 'scripted' else ''}"
    print(asks, file=sys.stderr)
    try:
        if given.milestone:
            milestone(given.model)
            return 0
        if given.pages:
            pages(given.model)
            print(PARTS.line(), file=sys.stderr)
            return 0
        if given.capstone:
            show_capstone()
            print(PARTS.line(), file=sys.stderr)
            return 0
        if given.mend:
            mode = "plan" if given.plan else "build"
            ended = mend(given.model, given.mend, mode, given.trace)
        else:
            print(f"question: {given.question}", file=sys.stderr)
            model, preamble = choose(given.model, given.trace)
            machine = build(model, prices(), preamble)
            ended = run(machine, given.question, given.trace)
    except PartBroken as broken:
        print(broken, file=sys.stderr)
        return 1
    except (LookupError, OSError, RuntimeError, ValueError) as problem:
        print(f"{type(problem).__name__}: {problem}", file=sys.stderr)
        return 1
    print(PARTS.line(), file=sys.stderr)
    print(
        ended.answer if ended.answer is not None else f"{ended.state}: {ended.message}"
    )
    return 0 if ended.answer is not None else 1


if __name__ == "__main__":
    sys.exit(main())
