"""The exit code: 0 it answered, 1 it failed, 2 it was asked wrongly, 3 it was stopped
(a limit was reached, or it repeated itself), 4 it waits for you, 130 you stopped it.
"""

import argparse
import json
import os
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NoReturn

from . import runs
from .agent import HOME, Agent
from .config import Config, UsageError
from .models import LOCAL
from .parts import PartError
from .runtime.journal import Divergence
from .runtime.machine import RunResult
from .runtime.model import Model
from .runtime.tools import ContractError
from .runtime.trace import TraceError
from .terminal import (
    Terminal,
    in_words,
    message_of,
    printable,
    say,
    spent_line,
    tool_table,
    typed,
)

COMMAND = "my-agent"
HELP = """\
/cost               what this conversation has cost
/mode plan|build    plan: nothing is written; build: you are asked before each write
/quit               end (so does Ctrl-D); Ctrl-C stops a run: say what to do instead"""
CODES = {"DONE": 0, "ERROR": 1, "EXHAUSTED": 3, "STUCK": 3, "SUSPENDED": 4}
CODES |= {"REFUSED": 3, "HANDED_OVER": 4, "CANCELLED": 130}
PROBLEMS = (UsageError, ContractError, PartError, TraceError, Divergence)


class Options(argparse.ArgumentParser):
    """Raises UsageError for what it does not know."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong."""
        raise UsageError(f"{message}; {COMMAND} --help names the options.")


def read_options(arguments: list[str]) -> argparse.Namespace:
    """Return what was asked for; UsageError: options that do not go together."""
    raw = argparse.RawDescriptionHelpFormatter
    options = Options(COMMAND, epilog=__doc__, formatter_class=raw, allow_abbrev=False)
    add = options.add_argument
    add("question", nargs="?", help="- reads it; without one you talk")
    add("--model", metavar="NAME", help="openai:NAME, NAME or local")
    add("--mode", default="", choices=["plan", "build"], help="plan: it writes nothing")
    add("--folder", type=Path, help="a project: it may read, test and change it")
    add("--trace", type=Path, metavar="FILE", help="keep the run there, a new file")
    which = options.add_mutually_exclusive_group().add_argument
    which("--continue", dest="goes_on", action="store_true", help="the last one")
    which(
        "--resume",
        metavar="NAME",
        nargs="?",
        const="",
        help="a run that waits or was stopped",
    )
    which("--replay", metavar="NAME", help="look at a run again; nothing is called")
    which("--list", action="store_true", help="name the runs")
    which("--settle", nargs="*", metavar="N", help="what is unknown: N done, N not")
    which("--tools", action="store_true", help="list the tools")
    add("--json", action="store_true", help="print one JSON object, for programs")
    given = options.parse_args(arguments)
    others = given.list or given.tools or given.settle is not None
    goes_on = given.resume is not None or given.replay
    if given.question and (others or goes_on):
        raise UsageError("A question goes with --continue, or alone.")
    if given.json and (others or not (given.question or goes_on)):
        raise UsageError("--json is for a question, --resume or --replay.")
    return given


def main(arguments: list[str] | None = None) -> int:
    """Run the command line, and return its exit code; only answers are on stdout."""
    words = sys.argv[1:] if arguments is None else arguments
    for number in range(3):  # what was closed is empty
        with suppress(OSError):
            os.fstat(number)
            continue
        os.open(os.devnull, os.O_RDWR)
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a tool prints
    sys.stdout = sys.stderr
    try:
        return Command(read_options(words), answers).run()
    except PROBLEMS as problem:
        why = str(problem)
        if isinstance(problem, Divergence):
            why = f"The agent is not as it was in that run: {problem}"
    except (OSError, ValueError, RuntimeError) as problem:
        why = f"{type(problem).__name__}: {problem}"
    except KeyboardInterrupt:
        say("stopped")
        return 130
    say(why)
    if "--json" in words:
        end = {"answer": None, "state": "USAGE", "message": why}
        print(json.dumps(end), file=answers, flush=True)
    return 2


class Command:
    """What was asked for, where answers go, and what a person sees."""

    def __init__(self, given: argparse.Namespace, answers: IO[str]) -> None:
        self.given, self.answers = given, answers
        self.screen = Terminal(quiet=given.json)

    def run(self) -> int:
        """Do what was asked for, and return the exit code."""
        given, state = self.given, Config.read(HOME / "config.toml").state
        for each in sorted(HOME.glob("*.new")):  # an update has left them
            say(f"{each.name} is there: take from it what you need, and delete it.")
        if given.list:
            self.show("\n".join(runs.listed(state)) or "There is no run.")
            return 0
        if given.settle is not None:
            self.show(_settled(state, given.settle))
            return 0
        path, began = None, dict[str, Any]()
        if given.resume is not None or given.replay or given.goes_on:
            path = runs.find(state, given.resume or given.replay or "")
            began = runs.read_trace(path).events[0]
            if given.folder and str(given.folder.resolve()) != began["folder"]:
                raise UsageError(f"{path.name}: its folder was {began['folder']!r}.")
        model = given.model or began.get("model")
        if given.tools or (given.replay and model != LOCAL):
            model = Model()  # nobody asks it
            model.streams = True
        with Agent(
            model,
            folder=given.folder or began.get("folder") or None,
            mode=given.mode,
            approver=self.screen.ask,
            listener=self.screen.event,
            on_text=None if given.json else self.screen.text,
        ) as agent:
            agent.always = self.screen.always
            if given.tools:
                self.show(tool_table(agent.tools))
            elif given.replay:
                say(f"Replayed, nothing is called: {began['question']!r}")
                return self.report(agent, agent.replay(path))
            elif given.resume is not None:
                say(f"Resumed: {path.stem}, {began['question']!r}")
                return self.report(agent, agent.resume(path))
            else:
                if given.goes_on:
                    agent.go_on(path)
                return self.ask(agent)
        return 0

    def ask(self, agent: Agent) -> int:
        """Answer one question, or hold a conversation."""
        given = self.given
        if given.trace and given.trace.exists():
            raise UsageError(f"{given.trace} is there already: name a new file.")
        question = sys.stdin.read() if given.question == "-" else given.question
        if question is None:
            return self.converse(agent)
        return self.report(agent, agent.ask(question, given.trace))

    def report(self, agent: Agent, ended: RunResult) -> int:
        """Print the answer, or why there is none; return the exit code."""
        prices, spent = agent.config.budget.prices, ended.spent
        if self.given.json:
            end = {"answer": ended.answer, "state": ended.state}
            end |= {"reason": ended.reason, "message": message_of(ended)}
            end |= {"steps": spent.steps, "tool_calls": spent.tool_calls}
            end |= {"seconds": round(spent.wall_s, 3), "trace": str(agent.trace)}
            end["tokens"] = spent.usage.to_dict()
            end["cost"] = prices.cost(spent.usage) if prices else None
            self.show(json.dumps(end))
            return CODES[ended.state]
        if ended.answer is None:
            self.screen.line(in_words(ended, agent.trace, self.resume(agent)))
        elif not (agent.on_text and self.answers.isatty()):  # or it was read as it came
            self.screen.line("")
            self.show(ended.answer)
        self.screen.line(f"  ({spent_line([ended], prices)})")
        return CODES[ended.state]

    def resume(self, agent: Agent) -> str:
        """Return the command that goes on with the last run."""
        path: Path = agent.trace or agent.state
        name = path.stem if path.parent == agent.state else str(path)
        return f"{COMMAND} --resume {shlex.quote(name)}"

    def show(self, text: str) -> None:
        """Print to stdout, without what could command a terminal."""
        print(printable(text), file=self.answers, flush=True)

    def converse(self, agent: Agent) -> int:
        """Answer what is typed until /quit or Ctrl-D."""
        say(f"{agent.model.name}, {len(agent.tools)} tools. /help says what it knows.")
        ends: list[RunResult] = []
        while True:
            try:
                line = typed()
            except EOFError:
                return 0
            except KeyboardInterrupt:
                say("\n/quit ends the conversation.")
                continue
            match line.split():
                case []:
                    pass
                case ["/quit"]:
                    return 0
                case ["/cost"]:
                    say(spent_line(ends, agent.config.budget.prices))
                case ["/mode", "plan" | "build" as mode]:
                    agent.mode = mode
                    say(f"mode: {mode}")
                case [word, *_] if word.startswith("/"):
                    say(HELP)
                case _:
                    ends.append(agent.ask(line))
                    self.report(agent, ends[-1])


def _settled(state: Path, words: list[str]) -> str:
    match words:
        case []:
            keys = enumerate(runs.unknown(state), 1)
            lines = [f"{number}  {runs.operation(key)}" for number, key in keys]
            how = f"Find out, then: {COMMAND} --settle N done, or N not"
            return "\n".join([*lines, how]) if lines else "Nothing is unknown."
        case [number, "done" | "not" as which]:
            key = runs.settle(state, number, which == "done")
            after = "it counts as done" if which == "done" else "it can be made again"
            return f"{runs.operation(key)}: {after}"
    raise UsageError("Write --settle, or --settle N done, or --settle N not.")
