"""Tools of MCP servers, as config.toml names them.

A server is a stranger: it gets none of your keys, each of its tools is a write unless
config.toml says that it only reads, and one whose description has changed since you
first used it asks you before each call.
"""

import json
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from .config import UsageError
from .runtime.calls import Effect, ToolFailure
from .runtime.tools import Tool


def server_tools(
    servers: Mapping[str, Any], taken: set[str], seen: Path, opened: ExitStack
) -> list[Tool]:
    """Start the servers, which `opened` stops, and return their tools.

    `taken` are names of other tools, `seen` is the file of what each tool was at first.
    """
    if not servers:
        return []
    from .guards.strangers import McpServer, digest, from_mcp

    before = json.loads(seen.read_text()) if seen.exists() else {}
    found: list[Tool] = []
    for name, table in servers.items():
        options = {"env": table["env"], "timeout_s": table["seconds"]}
        server = McpServer(table["command"], name=name, **options)
        names = taken | {tool.name for tool in found}
        try:
            opened.enter_context(server)
            tools = from_mcp(server, reads=table["reads"], taken=names)
        except (ToolFailure, ValueError) as error:
            raise UsageError(f"config.toml, [mcp.servers.{name}]: {error}") from None
        for tool in tools:
            key, now = f"{name}.{tool.name}", digest(tool)
            if before.setdefault(key, now) != now:
                print(f"{key} has changed: you are asked each time.", file=sys.stderr)
                tool = replace(tool, effect=Effect.WRITE)
            found.append(tool)
        for each, why in server.left_out.items():
            print(f"{name}: {each} is left out: {why}", file=sys.stderr)
    seen.write_text(json.dumps(before, indent=1))
    return found
