"""Tools from strangers: what an MCP server offers, as contracts that hold it.

What a server says of its tools is a stranger's text, and its hints are claims. Whether
a tool only reads is for the user to say.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from workbook.runtime.calls import Effect, to_json
from workbook.runtime.tools import ContractError, Tool
from workbook.security.mcp import McpServer, ServerError

if TYPE_CHECKING:
    from mcp import ClientSession, types

MOST_TOOLS = 100  # of one server
MOST_CHARS = 1_000  # of a description
MOST_SCHEMA_CHARS = 10_000


def from_mcp(
    server: McpServer, *, reads: Iterable[str] = (), taken: Iterable[str] = ()
) -> list[Tool]:
    """Return the contracts of a server's tools, as it lists them now.

    Every tool is a WRITE but those of `reads`. What no contract can be made of is left
    out; `server.left_out` says why.

    Args:
        reads: the tools that only read, by the server's names.
        taken: names of other tools. One of the same name gets the server's name before
            its own.

    Raises:
        ServerError: the server does not list its tools.
        ValueError: `reads` names a tool that is not listed.
    """
    listed, reads = server.ask(_listed), set(reads)
    if unknown := reads - {each.name for each in listed}:
        there = ", ".join(each.name for each in listed) or "no tool at all"
        raise ValueError(f"{server.name} has no {sorted(unknown)}; it has {there}")
    tools, names = [], {name.casefold() for name in taken}
    server.left_out.clear()
    for each in listed:
        name = _plain(each.name)
        if name.casefold() in names:
            name = _plain(f"{server.name}_{name}")
        try:
            if name.casefold() in names:
                raise ContractError(f"there is already a tool named {name!r}")
            effect = Effect.READ if each.name in reads else Effect.WRITE
            tools.append(_contract(server, each, name, effect))
            names.add(name.casefold())
        except ContractError as error:
            server.left_out[each.name] = str(error)
    return tools


async def _listed(session: ClientSession) -> list[types.Tool]:
    from mcp import types

    page = await session.list_tools()
    found = page.tools
    while page.nextCursor and len(found) < MOST_TOOLS:
        there = types.PaginatedRequestParams(cursor=page.nextCursor)
        page = await session.list_tools(params=there)
        found += page.tools
    return found[:MOST_TOOLS]


def _plain(name: str) -> str:
    """Return a name as a contract may have it."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "tool"


def _contract(server: McpServer, listed: types.Tool, name: str, effect: Effect) -> Tool:
    from mcp import types

    def run(**arguments: Any) -> dict[str, Any]:
        called = types.CallToolRequestParams(name=listed.name, arguments=arguments)
        request = types.ClientRequest(types.CallToolRequest(params=called))
        # `session.call_tool` would hold the result against the server's patterns.
        answer = server.ask(lambda s: s.send_request(request, types.CallToolResult))
        text = "\n".join(map(_in_words, answer.content))
        if answer.isError:
            raise ServerError("tool_error", text or "it failed, and does not say why")
        return answer.structuredContent or {"result": text}

    said = (listed.description or "").strip() or "Its server does not say what it does."
    if len(said) > MOST_CHARS:
        said = f"{said[:MOST_CHARS]}… (cut: {len(said):,} characters)"
    schema = {**listed.inputSchema, "additionalProperties": False}
    tool = Tool(name, said, schema, run, effect, server.timeout_s, outside=True)
    if (size := len(to_json(tool.parameters))) > MOST_SCHEMA_CHARS:
        raise ContractError(f"{name}: its schema has {size:,} characters")
    return tool


def _in_words(part: types.ContentBlock) -> str:
    """Return a text as it is; of what a model cannot read here, what it is."""
    match part.model_dump():
        case {"type": "text", "text": str(text)} | {"resource": {"text": str(text)}}:
            return text
        case {"uri": uri}:
            return f"(a link: {uri})"
    return f"({part.type}, not shown)"


def digest(tool: Tool) -> str:
    """Return the SHA-256 of what the model reads of a tool: name, text, parameters."""
    read = [tool.name, tool.description, tool.parameters]
    canonical = json.dumps(read, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
