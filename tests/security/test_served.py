"""Our tools for other programs, asked by our own client and by LangChain's."""

import asyncio
import json
import subprocess
import sys

import pytest

from workbook.__main__ import main
from workbook.environments.catalogue import builtin_tools
from workbook.models.base import ToolRequest
from workbook.paths import ROOT
from workbook.security.served import to_mcp
from workbook.security.mcp import McpServer
from workbook.security.strangers import from_mcp
from workbook.tools import Effect, ToolRegistry

NAMES = ["Calculator", "Percent", "Pay"]
ARGUMENTS = ["-m", "workbook", "serve", *NAMES, "--writes"]
ENV = {"PYTHONPATH": str(ROOT)}
CALLS = [
    ("Calculator", {"expression": "1/3"}),
    ("Calculator", {"expression": "2**0.5 + 1e-9"}),
    ("Calculator", {"expression": "1/0"}),
    ("Calculator", {"expression": 'print("é🎉")'}),
    ("Percent", {"amount": 80, "percent": 10}),
    ("Percent", {"amount": "80", "percent": "10"}),
]
WRONG = [
    ("Percent", {"amount": 80}),
    ("Percent", {"amount": None, "percent": 5, "more": 1}),
    ("Calculater", {"expression": "1"}),
]


def directly(name, arguments):
    """Return what the registry itself says to a call: its text, result and error."""
    registry = ToolRegistry(builtin_tools(NAMES))
    bound = registry.bind(ToolRequest(name, arguments))
    seen = registry.run(bound) if hasattr(bound, "arguments") else bound
    return seen.text(), getattr(seen, "result", None)


@pytest.fixture(scope="module")
def served():
    """Return our own server, running in a process of its own."""
    command = [sys.executable, *ARGUMENTS]
    with McpServer(command, name="ours", env=ENV) as server:
        yield server


@pytest.fixture(scope="module")
def by_langchain():
    """Return our tools as LangChain's client sees them, and what came of each call."""
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from langchain_mcp_adapters.tools import load_mcp_tools

    about = {
        "transport": "stdio",
        "command": sys.executable,
        "args": ARGUMENTS,
        "env": ENV,
    }

    async def ask():
        async with MultiServerMCPClient({"ours": about}).session("ours") as session:
            tools = {tool.name: tool for tool in await load_mcp_tools(session)}
            said = []
            for name, arguments in CALLS:
                call = {"name": name, "args": arguments, "id": "1", "type": "tool_call"}
                said.append(await tools[name].ainvoke(call))
            return tools, said

    return asyncio.run(ask())


def test_langchain_sees_our_tools(by_langchain):
    """LangChain's client lists our tools as they are: name, description, parameters"""
    seen = {
        tool.name: (tool.description, tool.args_schema)
        for tool in by_langchain[0].values()
    }
    assert seen == {
        tool.name: (tool.description, tool.parameters) for tool in builtin_tools(NAMES)
    }


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_langchain_calls_our_tools(by_langchain, number):
    """through LangChain's client a tool returns what the registry returns"""
    message = by_langchain[1][number]
    text, result = directly(*CALLS[number])
    assert message.text == text
    assert message.status == ("error" if result is None else "success")
    if result is not None:
        assert message.artifact["structured_content"] == result


@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_there_and_back(served, name, arguments):
    """a tool that was served and taken back in does what the registry's own does"""
    registry = ToolRegistry(from_mcp(served))
    seen = registry.run(registry.bind(ToolRequest(name, arguments)))
    text, result = directly(name, arguments)
    assert seen.result == result
    if result is None:
        assert text in seen.text()


@pytest.mark.parametrize(("name", "arguments"), CALLS + WRONG)
def test_our_contracts_hold(served, name, arguments):
    """whatever a client asks, our registry checks it, and its words are the answer"""
    said = served.ask(lambda session: session.call_tool(name, arguments))
    text, result = directly(name, arguments)
    assert [part.text for part in said.content] == [text]
    assert (said.structuredContent, said.isError) == (result, result is None)


def test_a_write_is_served_only_when_asked_for():
    """no person is asked there, so a tool that changes something stays away"""
    from mcp import types

    async def names(**options):
        server = to_mcp(ToolRegistry(builtin_tools(NAMES)), **options)
        request = types.ListToolsRequest(method="tools/list")
        listed = (await server.request_handlers[types.ListToolsRequest](request)).root
        return {tool.name: tool.annotations.readOnlyHint for tool in listed.tools}

    reads = {"Calculator": True, "Percent": True}
    assert asyncio.run(names()) == reads
    assert asyncio.run(names(writes=True)) == {**reads, "Pay": False}


def test_a_write_is_one_for_the_client(served):
    """what pays comes back as a WRITE, so that our policy asks a person"""
    effects = {tool.name: tool.effect for tool in from_mcp(served, reads=NAMES[:2])}
    assert effects["Pay"] is Effect.WRITE


def test_wrong_names(capsys):
    """a tool that is not there is a sentence, and exit code 2"""
    assert main(["serve", "Calculater"]) == 2
    captured = capsys.readouterr()
    assert "Calculater" in captured.err
    assert captured.out == ""


def test_the_end():
    """when the other side has gone, the command ends; it says what it did not serve"""
    command = [sys.executable, "-m", "workbook", "serve", *NAMES]
    run = subprocess.run(
        command, cwd=ROOT, input="", capture_output=True, text=True, timeout=30
    )
    assert (run.returncode, run.stdout) == (0, "")
    (line,) = run.stderr.splitlines()
    assert "Pay" in line


def test_a_tool_that_prints():
    """what a tool prints is no message: it goes to stderr, and the answer arrives"""
    served = (
        "from workbook.tools import Tool, ToolRegistry;"
        "from workbook.security.served import serve, to_mcp;"
        "talk = Tool('talk', 'Talks.', {}, lambda: print('hello') or {'result': 1});"
        "serve(to_mcp(ToolRegistry([talk])))"
    )
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    asked = [
        {"id": 0, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 1, "method": "tools/call", "params": {"name": "talk", "arguments": {}}},
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", served],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for each in asked:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **each}) + "\n")
    process.stdin.flush()
    answers = [json.loads(process.stdout.readline()) for _ in range(2)]
    _, errors = process.communicate(timeout=20)  # its input is closed: it ends
    assert answers[1]["result"]["structuredContent"] == {"result": 1}
    assert "hello" in errors
    assert process.returncode == 0
