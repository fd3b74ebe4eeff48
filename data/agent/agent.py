"""Your agent: config.toml, a model, tools and your parts make a machine that answers.

python agent.py "question"              one answer, on the standard output
python agent.py                         a conversation; /help says what it knows
python agent.py --folder F "question"   the same with tools that work in a folder
python agent.py --resume FILE           go on with a run that waits or was stopped
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
from runs import as_then, free, guards_then, read_trace, with_history

from workbook.runtime.calls import ToolFailure
from workbook.runtime.guard import Guard
from workbook.runtime.guards import all_guards, own_guard
from workbook.runtime.hosted import HostedModel
from workbook.runtime.journal import Divergence, Journal
from workbook.runtime.ledger import Ledger, Once
from workbook.runtime.machine import Machine, RunResult
from workbook.runtime.model import Prefilled
from workbook.runtime.replay import replay, resume
from workbook.runtime.tools import ContractError, Tool
from workbook.runtime.trace import TraceError

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
    chat: bool = True  # the model is asked for function calls, else for text turns
    about: dict[str, Any] = field(default_factory=dict)  # what a trace keeps of it
    history: list[tuple[str, str]] = field(default_factory=list)

    def machine(self, chat: bool, guards: list[Guard]) -> Machine:
        """Return the machine: your parts where you have any, and your guard."""
        guard = yours().get("my_guard")
        machine = Machine(
            self.model,
            self.tools,
            [*guards, own_guard(guard)] if guard else guards,
            chat=chat,
            parts=yours(),
            preamble=LOCAL_EXAMPLE if isinstance(self.model, Prefilled) else None,
            make=Once(Ledger(self.state / "ledger.db", across_runs=False)),
            parallel=guard is None,  # it looks at what was observed before
        )
        machine.about = self.about
        return machine

    def guards(self, person: Any) -> list[Guard]:
        """Return the guards that config.toml asks for."""
        tokens = self.config["limits"]["context"]
        if isinstance(self.model, Prefilled):
            tokens = min(tokens, LOCAL_CONTEXT)
        return all_guards(
            self.config.budget,
            person,
            self.mode or self.config["approval"]["mode"],
            self.config.rules,
            context_tokens=tokens,
        )

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
        machine = self.machine(self.chat, self.guards(self.person))
        ended = machine.run(asked, journal=Journal(path, listener=self.listener))
        may_change = self.chat and self.config["model"]["calls"] == "auto"
        if may_change and ended.state == "ERROR" and REFUSED.search(ended.message):
            terminal.say(f"{self.model.name} takes no function calls: text turns now.")
            self.chat = False
            path.unlink()  # it holds a refused request, and nothing else
            return self.ask(question, path)
        if ended.answer is not None:
            self.history.append((question, ended.answer))
        return ended, path

    def resume(self, path: Path) -> RunResult:
        """Go on with a run that waits, or that was stopped, in its own file."""
        chat = read_trace(path).events[0]["chat"]
        machine = self.machine(chat, self.guards(terminal.ask))
        return resume(path, machine, listener=self.listener)

    def replay(self, path: Path) -> RunResult:
        """Play a run again from its trace: no model, no tool and nobody is asked."""
        trace = read_trace(path)
        if not self.quiet:
            for event in trace:
                terminal.show(event)
        began = trace.events[0]
        machine = self.machine(began["chat"], guards_then(began["settings"]))
        ended: RunResult = part(replay)(trace, machine)
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
    chat = isinstance(model, HostedModel) and config["model"]["calls"] != "text"
    about = {"model": name, "folder": folder and str(folder)}
    agent = Agent(config, model, tools, given.mode, given.json, chat, about)
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
