"""Machines on scripts for the kernel's tests, and what holds for each of their runs."""

import json
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from workbook.runtime.machine import Machine
from workbook.runtime.model import Model, Response, ToolRequest
from workbook.runtime.replay import replay
from workbook.runtime.script import Script
from workbook.runtime.tools import Tool
from workbook.runtime.trace import Trace

TEXT = {"properties": {"input": {"type": "string"}}, "required": ["input"]}
FINAL = "Final Answer: ok"


def note(name="Note", run=lambda input: {"result": "noted"}, **about):
    """Return a tool with one text argument."""
    return Tool(name, f"{name} one thing.", TEXT, run, **{"timeout_s": None, **about})


def act(tool, given):
    """Return a turn in words that calls a tool."""
    return f"Thought: t\nAction: {tool}\nAction Input: {given}"


def call(tool, given, call_id=""):
    """Return a function call."""
    arguments = given if isinstance(given, dict) else {"input": str(given)}
    return ToolRequest(tool, arguments, call_id)


def noted(turns, tools=None, guards=None, **options):
    """Return a machine on a script, or on a model, whose tool takes notes."""
    model = turns if isinstance(turns, Model) else Script(turns)
    return Machine(model, tools or [note()], guards, **options)


class Asked(Model):
    """A model whose `respond` is a function of the request."""

    def __init__(self, respond, **about):
        self.respond = respond
        self.__dict__.update(about)


def stepping(chat):
    """Return a model that calls a tool in each step, with another argument."""

    def respond(request):
        calls = [call("Note", request.step)] if chat else []
        return Response("" if chat else act("Note", request.step), calls=calls)

    return Asked(respond, streams=True)


def never(*args):
    """Stand for a model or a tool that may not be called."""
    raise AssertionError("a model or a tool was called in a replay")


def silent(machine):
    """Return the machine without its outside: no model, no tool."""
    return machine.again(never, never, lambda kind, **fields: None)


def assert_replayed(end, machine, trace=None):
    """The run is honest, and its record gives the same again, with nobody asked."""
    assert_honest(end)
    again = replay(trace or end.trace, silent(machine))
    for name in ("state", "reason", "answer", "message", "spent"):
        assert getattr(again, name) == getattr(end, name)
    assert again.run.parts == end.run.parts


def assert_honest(end):
    """One end with a reason, rows of the table alone, an observation a call."""
    trace, table = end.trace, end.run.machine.table
    assert [event["seq"] for event in trace] == [*range(len(trace))]
    json.dumps(trace.events, ensure_ascii=False, allow_nan=False).encode()
    rows = trace.of("transition")
    for row in rows:
        assert table.rows[row["source"], row["event"]].target == row["target"]
    assert (rows[-1]["target"], rows[-1]["event"]) == (end.state, end.reason)
    assert end.state in table.ends
    assert (trace.end is None) is (end.state == "SUSPENDED")
    if trace.end:
        ended = {name: trace.end[name] for name in ("state", "reason", "answer")}
        assert ended == {name: getattr(end, name) for name in ended}
        assert trace.end["message"] == end.message != ""
    resumed = [event for event in trace if event.get("what") == "resumed"]
    assert len(trace.of("run_finished")) <= 1 + len(resumed)
    assert (end.answer is not None) is (end.state == "DONE")
    begun = [event["call_id"] for event in trace.of("tool_call")]
    seen = [e["call_id"] for e in trace.of("observation") if e["call_id"]]
    assert sorted(begun) == sorted(seen) == sorted({*begun})


def play(turns, tools=None, guards=None, path=None, journal=None, **options):
    """Run such a machine; its run is honest and can be replayed; return its end."""
    machine = noted(turns, tools, guards, **options)
    end = machine.run("?", path, journal=journal)
    assert_replayed(end, machine)
    return end


def texts(end, role="result"):
    """Return the texts of the conversation's parts with this role."""
    return [part["text"] for part in end.run.parts if part["role"] == role]


@contextmanager
def in_memory():
    """Yield a folder in memory, where there is one: a ledger waits for its disk."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        yield Path(name)


def cut(path, lines, more=b""):
    """Leave so many lines of a trace, and perhaps the beginning of another one."""
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(whole[:lines]) + more)
    return Trace.read(path)
