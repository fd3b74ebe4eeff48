"""Tools of MCP servers, as config.toml names them.

A server is a stranger: it gets none of your keys, each of its tools is a write unless
config.toml says that it only reads, and one whose description has changed since you
first used it asks you before each call.
"""

import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import terminal

from workbook.runtime.calls import Effect
from workbook.runtime.tools import Tool
from workbook.security.mcp import McpServer
from workbook.security.strangers import digest, from_mcp

KNOWN = {"command": list, "reads": list, "env": dict, "seconds": (int, float)}


def server_tools(
    servers: Mapping[str, Any], taken: set[str], seen: Path, opened: ExitStack
) -> list[Tool]:
    """Start the servers, and return their tools; ValueError for a wrong table.

    Args:
        servers: a table a server: command, and reads, env and seconds if needed.
        taken: the names of other tools.
        seen: the file of digests: what the tools said of themselves at first.
        opened: what stops the servers in the end.
    """
    before = json.loads(seen.read_text()) if seen.exists() else {}
    found: list[Tool] = []
    for name, table in servers.items():
        command, options = _checked(name, table)
        server = opened.enter_context(McpServer(command, name=name, **options))
        names = taken | {tool.name for tool in found}
        tools = from_mcp(server, reads=table.get("reads", ()), taken=names)
        for tool, why in server.left_out.items():
            terminal.say(f"{name}: {tool} is left out: {why}")
        found += [_as_agreed(name, tool, before) for tool in tools]
    seen.parent.mkdir(parents=True, exist_ok=True)
    seen.write_text(json.dumps(before, indent=1))
    return found


def _checked(name: str, table: Any) -> tuple[list[str], dict[str, Any]]:
    where = f"config.toml, [mcp.servers.{name}]"
    if not isinstance(table, dict) or not table.get("command"):
        raise ValueError(f"{where}: give its command, as a list of words.")
    for key, value in table.items():
        if key not in KNOWN or not isinstance(value, KNOWN[key]):
            raise ValueError(
                f"{where}: {key} = {value!r}; it knows {', '.join(KNOWN)}."
            )
    options = {"env": table.get("env", {}), "timeout_s": table.get("seconds", 10)}
    return table["command"], options


def _as_agreed(server: str, tool: Tool, before: dict[str, str]) -> Tool:
    """Return the tool; as a write where it is not as it was when it was first seen."""
    key, now = f"{server}.{tool.name}", digest(tool)
    if before.setdefault(key, now) == now:
        return tool
    terminal.say(f"{key} does not describe itself as before: you are asked each time.")
    return replace(tool, effect=Effect.WRITE)
