"""Our tools for other programs: a registry as an MCP server, on stdin and stdout.

Whoever calls is a stranger too: each call is bound, checked and run by the registry.
What that says, errors and hints included, is the answer.
"""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

import anyio
from anyio.to_thread import run_sync

from workbook.models.base import ToolRequest
from workbook.tools.calls import Effect, Observation, ToolError
from workbook.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server


def to_mcp(
    registry: ToolRegistry, name: str = "workbook", *, writes: bool = False
) -> Server[Any]:
    """Return a server of the registry's tools; `serve` runs it.

    A tool that changes something is there only with `writes`: no person is asked here.
    """
    from mcp import types
    from mcp.server.lowlevel import Server

    served = [tool for tool in registry if writes or tool.effect is Effect.READ]
    registry, server = registry.with_tools(served), Server(name)
    one = anyio.CapacityLimiter(1)  # tools share a state, and are no threads' business

    def answer(asked: str, arguments: dict[str, Any]) -> Observation:
        bound = registry.bind(ToolRequest(asked, arguments))
        if isinstance(bound, ToolError):
            return Observation.failed("", bound, asked)
        return registry.run(bound)

    async def list_tools() -> list[types.Tool]:
        return [
            types.Tool(
                name=tool.name,
                description=tool.description,
                inputSchema=dict(tool.parameters),
                annotations=types.ToolAnnotations(
                    readOnlyHint=tool.effect is Effect.READ
                ),
            )
            for tool in registry
        ]

    async def call_tool(asked: str, arguments: dict[str, Any]) -> types.CallToolResult:
        seen = await run_sync(
            answer, asked, arguments, abandon_on_cancel=True, limiter=one
        )
        text = types.TextContent(type="text", text=seen.text())
        return types.CallToolResult(
            content=[text], structuredContent=seen.result, isError=not seen.ok
        )

    server.list_tools()(list_tools)  # type: ignore[no-untyped-call]
    server.call_tool(validate_input=False)(call_tool)  # the registry does
    return server


def serve(server: Server[Any]) -> None:
    """Answer on stdin and stdout until the other side closes them."""
    from mcp.server.stdio import stdio_server

    # A copy, for the SDK closes what it writes to.
    own = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8", newline="\n")

    async def run() -> None:
        async with stdio_server(stdout=anyio.wrap_file(own)) as (requests, answers):
            with redirect_stdout(sys.stderr):  # a tool that prints says no message
                options = server.create_initialization_options()
                await server.run(requests, answers, options)

    anyio.run(run)
