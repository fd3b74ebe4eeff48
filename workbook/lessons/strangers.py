"""Tools of strangers: what a server of the Model Context Protocol (MCP) offers.

The official SDK speaks the protocol, and refuses what a server asks of us. What is here
holds a server to its seconds, and makes contracts of what it lists.
"""

import hashlib
import json
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import ExitStack, suppress
from tempfile import TemporaryFile
from typing import Any, Self, TypeVar

import anyio
from anyio.from_thread import start_blocking_portal
from pydantic import TypeAdapter, ValidationError

from workbook.runtime.calls import Effect, ErrorKind, ToolFailure, clip, to_json
from workbook.runtime.tools import ContractError, Tool

T = TypeVar("T")
NOT_DESCRIBED = "Its server does not say what it does."
UNSURE = "Go on without it. What it had not answered may have had its effect."
MOST_TOOLS, MOST_CHARS, MOST_SCHEMA_CHARS = 100, 1_000, 10_000
ELSEWHERE = "$ref", "allOf", "anyOf", "oneOf"  # at the top: no model's API takes them
# What a server sends wrongly, the SDK logs, some of it as if it were ours.
logging.getLogger("mcp").addHandler(logging.NullHandler())
logging.getLogger("mcp").propagate = False
logging.getLogger().addFilter(lambda record: "/mcp/" not in record.pathname)
# asyncio waits twice for a process that ends, and warns where one of them was late.
logging.getLogger("asyncio").addFilter(lambda record: "child process" not in record.msg)


class ServerError(ToolFailure):
    """What a server did, in a sentence: in a call, it becomes the observation."""


class McpServer:
    """A server as a process, from `with` to the end of the block; it gets no keys."""

    def __init__(
        self,
        command: Iterable[str],
        *,
        name: str = "mcp",
        timeout_s: float = 10.0,  # for each request
        start_s: float = 30.0,  # to the end of the handshake
        env: Mapping[str, str] | None = None,  # such as a key of its own
    ) -> None:
        self.command, self.name, self.env = [*command], name, dict(env or {})
        self.timeout_s, self.start_s = timeout_s, start_s
        self.left_out: dict[str, str] = {}  # tools that are no contract, and why

    def __enter__(self) -> Self:
        try:
            from mcp import ClientSession, StdioServerParameters, stdio_client
        except ModuleNotFoundError:
            words = "the package mcp is not installed: pip install mcp"
            raise ServerError("not_installed", words) from None
        about: Any = {"command": self.command[0], "args": self.command[1:]}
        about |= {"env": self.env, "encoding_error_handler": "replace"}
        self._opened = ExitStack()
        opened = self._opened.enter_context
        try:
            self._errors = opened(TemporaryFile("w+", errors="replace"))
            # A loop in a thread of its own: in a notebook one is running in this.
            self._portal = opened(start_blocking_portal())
            # A request that Ctrl-C has left behind is cancelled, not waited for.
            self._opened.callback(self._portal.call, self._portal.stop, True)
            live = self._portal.wrap_async_context_manager
            process = stdio_client(StdioServerParameters(**about), self._errors)
            self._session = opened(live(ClientSession(*opened(live(process)))))
            self.ask(lambda session: session.initialize(), self.start_s)
        except BaseException as error:
            self.__exit__()
            if isinstance(error, OSError):
                words = f"{self.command[0]!r} cannot be started: {error.strerror}."
                raise ServerError("not_started", words) from None
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(Exception):  # it may have broken long before
            self._opened.close()

    def ask(
        self, request: Callable[[Any], Awaitable[T]], timeout_s: float | None = None
    ) -> T:
        """Return the response to a request of the SDK's session; else ServerError."""
        from mcp import McpError

        limit = timeout_s or self.timeout_s

        async def in_time() -> T:
            with anyio.fail_after(limit):
                return await request(self._session)

        try:
            return self._portal.call(in_time)
        except TimeoutError:
            kind, words = ErrorKind.TIMEOUT, f"did not answer within {limit:g} s"
        except ValidationError:
            kind, words = ErrorKind.BAD_OUTPUT, "gave an answer that MCP does not have"
        except (McpError, anyio.ClosedResourceError, RuntimeError) as error:
            kind, words = ErrorKind.TOOL_RAISED, f"refused: {clip(str(error), 1_000)}"
            if not isinstance(error, McpError) or str(error) == "Connection closed":
                words, last = "is gone", ""
                if not self._errors.closed:
                    self._errors.seek(0)
                    last = self._errors.read().strip().split("\n")[-1]
                words += f"; its last words: {clip(last, 500)}" if last else ""
        raise ServerError(kind, f"the server {self.name!r} {words}.", hint=UNSURE)


def from_mcp(
    server: McpServer, *, reads: Iterable[str] = (), taken: Iterable[str] = ()
) -> list[Tool]:
    """Return contracts of a server's tools; `server.left_out` has the others, and why.

    Each is a WRITE but those of `reads`. Where a name is among `taken`, the server's
    stands before it. ValueError: `reads` names a tool that is not listed.
    """
    from mcp import types

    listed, tools, server.left_out = server.ask(_listed), dict[str, Tool](), {}
    names = [str(e.get("name") if isinstance(e, dict) else e) for e in listed]
    if unknown := {*reads} - {*names}:
        raise ValueError(f"{server.name} has no {sorted(unknown)}; it has {names}")
    others = {name.casefold() for name in taken}
    for name, each in zip(names, listed, strict=True):
        effect = Effect.READ if name in reads else Effect.WRITE
        try:
            tool = contract(server, types.Tool.model_validate(each), effect, others)
            if tool.name.casefold() in tools:
                raise ContractError(f"there is already a tool named {tool.name!r}")
            tools[tool.name.casefold()] = tool
        except ValueError as error:
            server.left_out[name] = clip(" ".join(str(error).split()), 200)
    return [*tools.values()]


async def _listed(session: Any) -> list[Any]:
    """Return what a server lists as it came, so that a bad tool costs no other."""
    from mcp import types

    found, cursor = list[Any](), None
    while len(found) < MOST_TOOLS:
        params = types.PaginatedRequestParams(cursor=cursor)
        request = types.ClientRequest(types.ListToolsRequest(params=params))
        page = (await session.send_request(request, types.Result)).model_extra
        found += TypeAdapter(list[Any]).validate_python(page.get("tools"))
        if not (cursor := page.get("nextCursor")):
            break
    return found[:MOST_TOOLS]


def contract(
    server: McpServer, listed: Any, effect: Effect, taken: Iterable[str] = ()
) -> Tool:
    """Return the contract of a tool as it was listed; ContractError: there is none."""
    from mcp import types

    def run(**arguments: Any) -> dict[str, Any]:
        params = types.CallToolRequestParams(name=listed.name, arguments=arguments)
        request = types.ClientRequest(types.CallToolRequest(params=params))
        # `session.call_tool` would hold the result against the server's patterns.
        result = server.ask(lambda s: s.send_request(request, types.CallToolResult))
        shown = [getattr(p, "text", f"({p.type}, not shown)") for p in result.content]
        text = "\n".join(shown)
        if result.isError:
            why = text or "it failed, and does not say why"
            raise ServerError(ErrorKind.TOOL_RAISED, why)
        return result.structuredContent or {"result": text}

    name = re.sub(r"[^A-Za-z0-9_-]", "_", listed.name) or "tool"
    name = f"{server.name}_{name}" if name.casefold() in taken else name
    about = (listed.description or "").strip() or NOT_DESCRIBED
    if len(about) > MOST_CHARS:
        about = f"{about[:MOST_CHARS]}… (cut: {len(about):,} characters)"
    schema = {**listed.inputSchema, "additionalProperties": False}
    problems = [f"its arguments are in {w!r}" for w in ELSEWHERE if w in schema]
    if (size := len(to_json(schema))) > MOST_SCHEMA_CHARS:
        problems = [f"its schema has {size:,} characters"]
    if problems:
        raise ContractError(f"{name}: {problems[0]}, which no contract can offer")
    return Tool(name[:64], about, schema, run, effect, server.timeout_s)


def digest(tool: Tool) -> str:
    """Return the SHA-256 of what the model reads of a tool: name, text, parameters."""
    read = [tool.name, tool.description, tool.parameters]
    canonical = json.dumps(read, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
