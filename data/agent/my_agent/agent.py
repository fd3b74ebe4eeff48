"""The agent, from top to bottom: its tools, its guards, its machine, a question.

It knows nothing of a terminal: `cli.py` and `terminal.py` do. A question is answered by
a machine of `runtime/`, which writes what happens into a trace; a conversation is the
list of parts that one run leaves to the next one.
"""

import asyncio
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import Any

from .config import CHOICES, Config, UsageError
from .models import LOCAL_CONTEXT, LOCAL_EXAMPLE, get_model
from .parts import added_tools, own_tools, yours
from .project import instructions, project_tools
from .runs import parts_of, read_trace, recorded_parts
from .runtime.guard import Guard
from .runtime.guards import all_guards, own_guard
from .runtime.journal import Journal
from .runtime.ledger import Ledger, Once
from .runtime.machine import Machine, RunResult
from .runtime.messages import CHAT_PREAMBLE, TEXT_PREAMBLE, Part
from .runtime.model import Prefilled
from .runtime.permission import Answer, Person, Request, yes
from .runtime.replay import replay, resume
from .runtime.tools import Tool, tool
from .runtime.trace import Event
from .runtime.waiting import LOOP
from .servers import server_tools

HOME = Path(__file__).resolve().parent
NO_FUNCTIONS = re.compile(r"answered (400|404|422|501): .*(tool|function)", re.I)
"""What an endpoint responds that takes no function calls."""


class Agent(AbstractContextManager["Agent"]):
    """A model and tools that answer questions, one conversation at a time.

    Args:
        model: its name, or an object with `respond`; None is the name in config.toml.
        tools: functions or Tools; None are those of tools.py.
        folder: of a project: the agent gets tools for it, and reads its AGENTS.md.
        config: the path of another config.toml, or its tables.
        approver: is asked before a WRITE, see `runtime/permission.py`; may be async;
            None: it waits.
        mode: "plan" or "build", in place of config.toml's.
        listener: gets each event of a trace as it happens.
        on_text: gets the pieces of a turn as the model writes them.

    UsageError, ContractError, PartError: what is wrong, and what to do.
    """

    def __init__(
        self,
        model: Any = None,
        tools: Iterable[Any] | None = None,
        *,
        folder: Path | str | None = None,
        config: Path | str | Mapping[str, Any] | None = None,
        approver: Person | None = None,
        mode: str = "",
        listener: Callable[[Event], object] | None = None,
        on_text: Callable[[str], object] | None = None,
    ) -> None:
        self.config = Config.read(HOME / "config.toml" if config is None else config)
        self.state = self.config.state
        self.folder = Path(folder).resolve() if folder else None
        self.approver, self.listener, self.on_text = approver, listener, on_text
        self.mode = mode or self.config["approval"]["mode"]
        if self.mode not in CHOICES["mode"]:
            raise UsageError(f"There is no mode {mode!r}: use build or plan.")
        self.model = get_model(model, self.config)
        self.is_local = isinstance(self.model, Prefilled)
        with ExitStack() as opened:
            self.tools = self._tools(own_tools() if tools is None else tools, opened)
            self.config.check_names(tool.name for tool in self.tools)
            self.opened = opened.pop_all()  # the MCP servers
        calls = self.config["model"]["calls"]
        self.chat = calls == "functions" or (calls == "auto" and not self.is_local)
        self.history: list[Part] = []  # what a run leaves to the next one
        self.always: set[str] = set()  # tools that are approved for this run
        self.is_resuming = False  # a person is there, whatever config.toml says
        self.machine: Machine | None = None  # of the run that goes on
        self.trace: Path | None = None  # of the last run
        self.free = threading.Lock()  # while no run goes on

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the MCP servers."""
        self.opened.close()

    # tools

    def _tools(self, given: Iterable[Any], opened: ExitStack) -> list[Tool]:
        """Return all tools: those given, yours, the folder's, and the servers'."""
        tools = [each if isinstance(each, Tool) else tool(each) for each in given]
        tools += added_tools()
        if self.folder:
            tools += project_tools(self.folder, **self.config["folder"])
        servers = self.config["mcp"]["servers"]
        taken, seen = {each.name for each in tools}, self.state / "servers.json"
        return tools + server_tools(servers, taken, seen, opened)

    def guards(self) -> list[Guard]:
        """Return the guards that config.toml asks for, and yours."""
        tokens = self.config["limits"]["context"]
        tokens = min(tokens, LOCAL_CONTEXT) if self.is_local else tokens
        about: Any = {"mode": self.mode, "rules": self.config.rules}
        about["context_tokens"] = tokens
        first, *rest = all_guards(self.config.budget, self._approver, **about)
        guards = [first, *self._more_guards(), *rest]
        guard = yours().get("my_guard")
        return [*guards, own_guard(guard)] if guard else guards

    def _more_guards(self) -> list[Guard]:
        """Return the guards that [guards] switches on, in their order."""
        more, audited = list[Guard](), self.config["guards"]["grounding"] == "on"
        if audited:
            from .guards.grounding import grounding

            more += grounding()
        if self.config["guards"]["untrusted"] == "on":
            from .guards.untrusted import taint

            then = "VERIFY" if audited else "DONE"
            more.append(taint(self._approver, screened=True, fence=True, then=then))
        return more

    def _approver(self, request: Request) -> Answer | None:
        """Approve what is allowed already; else ask whoever is there."""
        name, arguments = request.tool.name, request.call.arguments
        if name in self.always or self.config.allows(name, arguments):
            return yes(request)._replace(who="allowed before")
        if self.config["approval"]["writes"] == "later" and not self.is_resuming:
            return None
        return self.approver(request) if self.approver else None

    # the machine

    def _machine(self, chat: bool) -> Machine:
        """Return the machine of one run: your parts where you have any."""
        machine = Machine(
            self.model,
            self.tools,
            self.guards(),
            chat=chat,
            parts=yours(),
            make=Once(Ledger(self.state / "ledger.db", across_runs=False)),
            on_text=self.on_text,
            parallel="my_guard" not in yours(),  # it looks at what was observed before
        )
        usual = TEXT_PREAMBLE.format(tools=machine.tools.describe())
        preamble = CHAT_PREAMBLE if chat else LOCAL_EXAMPLE if self.is_local else usual
        if self.config["guards"]["grounding"] == "on":
            from .guards.grounding import citing_preamble

            preamble = citing_preamble(machine.tools, chat)
        words = self.config["model"]["instructions"].strip(), instructions(self.folder)
        machine.preamble = "\n\n".join([*filter(None, words), preamble])
        machine.about = {"model": self.model.name, "folder": str(self.folder or "")}
        machine.listener, self.machine = self.listener, machine
        return machine

    # a question

    def ask(self, question: str, path: Path | str | None = None) -> RunResult:
        """Answer a question in this conversation; `path` is that of the trace."""
        if not question.strip():
            raise UsageError("The question is empty.")
        name = f"{time.strftime('%Y%m%d-%H%M%S')}-{uuid.uuid4().hex[:4]}.jsonl"
        trace, history = Path(path or self.state / name), self.history
        may_change = self.chat and self.config["model"]["calls"] == "auto"

        def play(machine: Machine) -> RunResult:
            self.trace, self.is_resuming = trace, False
            self.always.clear()
            journal = Journal(trace, listener=self.listener)
            return machine.run(question, history=history, journal=journal)

        ended = self._play(self.chat, play)
        refused = ended.state == "ERROR" and NO_FUNCTIONS.search(ended.message)
        if refused and may_change:
            self.chat = False
            trace.unlink()  # it holds a refused request, and nothing else
            if self.listener:
                why = f"{self.model.name} takes no function calls"
                about = {"who": "agent", "what": "text turns from now on", "why": why}
                self.listener({"kind": "decision", **about})
            return self._play(False, play)
        return ended

    async def ask_async(self, question: str) -> RunResult:
        """Answer a question while the event loop goes on; async tools run in it."""
        loop = asyncio.get_running_loop()
        LOOP.set(loop)
        pool = ThreadPoolExecutor(1)  # so that no agent waits for another one's thread
        asking = loop.run_in_executor(pool, copy_context().run, self.ask, question)
        pool.shutdown(wait=False)
        try:
            return await asyncio.shield(asking)
        except asyncio.CancelledError:
            while not (asking.done() or (self.machine and self.machine.running)):
                await asyncio.sleep(0.01)
            self.cancel()
            await asyncio.wait([asking])
            raise

    def cancel(self) -> None:
        """Stop the run that goes on, from any thread."""
        if self.machine:
            self.machine.cancel()

    def resume(self, path: Path | str) -> RunResult:
        """Go on with a run that waits, died, failed, ran out or was cancelled."""
        self.trace, self.is_resuming = Path(path), True
        chat = read_trace(path).events[0]["chat"]
        return self._play(chat, partial(resume, path))

    def replay(self, path: Path | str) -> RunResult:
        """Run a trace again: no model, no tool and nobody is asked."""
        self.trace, trace = Path(path), read_trace(path)
        play = partial(yours().get("replay", replay), trace)
        return self._play(trace.events[0]["chat"], play)

    def _play(self, chat: bool, play: Callable[[Machine], RunResult]) -> RunResult:
        """Play one run, and no second one at the same time; keep what it leaves."""
        if not self.free.acquire(blocking=False):
            raise UsageError("This agent is asked already: make one for each question.")
        try:
            ended = play(self._machine(chat))
        finally:
            self.free.release()
        self.history = parts_of(ended)
        return ended

    def go_on(self, path: Path | str) -> None:
        """Let this conversation be the one that a trace ended with."""
        trace = read_trace(path)
        self.chat, self.history = trace.events[0]["chat"], recorded_parts(trace)
