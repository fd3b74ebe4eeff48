"""Your agent: config.toml, a model, tools and your parts make a machine that answers.

python agent.py "question"              one answer, on the standard output
python agent.py                         a conversation; /help says what it knows
python agent.py --folder F "question"   the same with tools that work in a folder
python agent.py --resume FILE           go on with a run that waits or was killed
python agent.py --replay FILE           look at a run again; nothing is called

The exit code: 0 it answered, 1 it failed, 2 it was asked wrongly, 3 it was stopped: a
limit was reached, or it repeated itself, 4 it waits for you, 130 you stopped it.
"""

import argparse
import os
import re
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import terminal
from config import Config, UsageError, read_config
from model import LOCAL_CONTEXT, LOCAL_EXAMPLE, get_model, name_of, no_model
from parts import PartError, line_of, part, yours
from runs import as_budget, as_then, free, read_trace, with_history

from workbook.fsm.adapters import FunctionCalls, TextTurns
from workbook.fsm.machine import RunResult
from workbook.fsm.table import agent_table
from workbook.guardrails.ledger import Ledger
from workbook.guardrails.machine import GuardedMachine, guarded
from workbook.guardrails.own import with_guard
from workbook.guardrails.table import guarded_table
from workbook.models.base import Prefilled
from workbook.models.hosted import HostedModel
from workbook.tools.calls import ToolFailure
from workbook.tools.tool import ContractError, Tool
from workbook.traces.divergence import Divergence
from workbook.traces.events import TraceError
from workbook.traces.replay import replay
from workbook.traces.writer import TraceWriter

HOME = Path(__file__).resolve().parent
REFUSED = re.compile(r"answered (400|404|422|501): .*(tool|function)", re.IGNORECASE)
"""What an endpoint says that takes no function calls."""


def get_tools(config: Config, folder: Path | None, opened: ExitStack) -> list[Tool]:
    """Return the tools of tools.py, of the folder, and of the MCP servers."""
    try:
        import tools
    except PartError:
        raise
    except Exception as error:
        where = f"tools.py{line_of(error, HOME / 'tools.py')}"
        kind = "" if isinstance(error, ContractError) else f"{type(error).__name__}: "
        raise UsageError(f"{where}: {kind}{error}.") from None
    found = [each for each in vars(tools).values() if isinstance(each, Tool)]
    if my_tool := yours().get("my_tool"):
        found.append(my_tool())
    if folder is not None:
        from workspace import folder_tools

        found += folder_tools(folder, **config["folder"])
    if servers := config["mcp"]["servers"]:
        from servers import server_tools

        seen = HOME / config["files"]["state"] / "servers.json"
        names = {tool.name for tool in found}
        found += server_tools(servers, names, seen, opened)
    return found


@dataclass
class Agent:
    """What answers: a model and tools, and how the user wants them used."""

    config: Config
    model: Any
    tools: list[Tool]
    mode: str = ""  # "" is that of config.toml
    quiet: bool = False  # nothing is shown while it works
    calls: bool = True  # the model is asked for function calls, else for text turns
    about: dict[str, Any] = field(default_factory=dict)  # what a trace keeps of it
    history: list[tuple[str, str]] = field(default_factory=list)

    def machine(self, calls: bool, **options: Any) -> GuardedMachine:
        """Return the machine: your table, your driver, your guards, where you have."""
        table = part(agent_table)()
        context = self.config["limits"]["context"]
        local = isinstance(self.model, Prefilled)
        usual: dict[str, Any] = {
            "table": guarded_table(table),
            "budget": self.config.budget,
            "rules": self.config.rules,
            "mode": self.mode or self.config["approval"]["mode"],
            "ask": self.person,
            "ledger": Ledger(self.state / "ledger.db", across_runs=False),
            "context_tokens": min(context, LOCAL_CONTEXT) if local else context,
            "preamble": LOCAL_EXAMPLE if local else None,
            "parts": yours(),
            "parallel": True,
            "about": self.about,
            "adapter": FunctionCalls if calls else TextTurns,
        }
        machine = guarded(self.model, self.tools, **{**usual, **options})
        guard = yours().get("my_guard")
        return with_guard(machine, guard) if guard else machine

    @property
    def state(self) -> Path:
        """Where traces and the ledger are kept."""
        return HOME / self.config["files"]["state"]

    @property
    def listener(self) -> Any:
        """What shows each event as it happens."""
        return terminal.alarm if self.quiet else terminal.show

    def person(self, request: Any) -> Any:
        """Ask whoever sits at the terminal, if config.toml says so."""
        if self.config["approval"]["writes"] == "later":
            return None
        return terminal.ask(request)

    def ask(self, question: str, path: Path | None = None) -> tuple[RunResult, Path]:
        """Answer a question, and return how it ended and the file of its trace."""
        path = free(path or self.state / f"{time.strftime('%Y%m%d-%H%M%S')}.jsonl")
        asked = with_history(self.history, question)
        with TraceWriter(path, listener=self.listener) as hook:
            ended = self.machine(self.calls, hook=hook).run(asked)
        may_change = self.calls and self.config["model"]["calls"] == "auto"
        if may_change and ended.state == "ERROR" and REFUSED.search(ended.message):
            terminal.say(f"{self.model.name} takes no function calls: text turns now.")
            self.calls = False
            path.unlink()  # it holds a refused request, and nothing else
            return self.ask(question, path)
        if ended.answer is not None:
            self.history.append((question, ended.answer))
        return ended, path

    def resume(self, path: Path) -> RunResult:
        """Go on with a run that waits, or that was killed, in its own file."""
        calls = read_trace(path).events[0]["adapter"] == "FunctionCalls"
        hook = TraceWriter(listener=self.listener)
        return self.machine(calls, ask=terminal.ask, hook=hook).resume(path)

    def replay(self, path: Path) -> RunResult:
        """Play a run again from its trace: no model, no tool and nobody is asked."""
        trace = read_trace(path)
        began = trace.events[0]
        if not self.quiet:
            for event in trace:
                terminal.show(event)
        calls, budget = began["adapter"] == "FunctionCalls", as_budget(began["limits"])
        ended: RunResult = part(replay)(trace, self.machine(calls, budget=budget))
        return ended


def run(given: argparse.Namespace, opened: ExitStack) -> int:
    """Do what was asked for, and return the exit code."""
    config = read_config(HOME / "config.toml")
    path = given.replay or given.resume
    given.model = name_of(given.model)
    given.folder = given.folder and given.folder.resolve()
    if path:
        as_then(given, path)
    folder = Path(given.folder) if given.folder else None
    tools = get_tools(config, folder, opened)
    config.check_names(tool.name for tool in tools)
    if given.tools:
        print(terminal.tool_table(tools))
        return 0
    name = given.model or name_of(
        config["model"]["name"] or os.environ.get("WORKBOOK_MODEL", "")
    )
    model = no_model(name) if given.replay else get_model(name, config)
    calls = isinstance(model, HostedModel) and config["model"]["calls"] != "text"
    about = {"model": name, "folder": folder and str(folder)}
    agent = Agent(config, model, tools, given.mode, given.json, calls, about)
    finish = partial(terminal.report, prices=config.budget.prices, as_json=given.json)
    if path:
        what = "Replayed, nothing is called" if given.replay else "Resumed"
        terminal.say(f"{what}: {path}, {given.question!r}")
        ended = agent.replay(path) if given.replay else agent.resume(path)
        return finish(ended, path)
    if given.question is not None and not given.question.strip():
        raise UsageError("The question is empty.")
    if given.trace and given.trace.exists():
        raise UsageError(
            f"{given.trace} is there already: name a new file for the trace."
        )
    if given.question is None and given.json:
        raise UsageError("--json is for one question: a conversation prints no JSON.")
    if given.question is None:
        return terminal.converse(agent, given.trace)
    return finish(*agent.ask(given.question, given.trace))


def main() -> int:
    """Run the command line; a sentence and exit code 2 for what was asked wrongly."""
    given = terminal.read_options(__doc__ or "")
    try:
        with ExitStack() as opened:
            return run(given, opened)
    except Divergence as problem:
        terminal.say(f"The agent is not as it was in that run: {problem}")
    except (UsageError, ContractError, PartError, TraceError, ValueError) as problem:
        terminal.say(str(problem))
    except OSError as problem:
        terminal.say(f"{problem.filename or 'the output'}: {problem.strerror}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (RuntimeError, ToolFailure) as problem:
        terminal.say(f"{type(problem).__name__}: {problem}")
    except KeyboardInterrupt:
        terminal.say("stopped")
        return 130
    return 2


if __name__ == "__main__":
    sys.exit(main())
