"""A server of the Model Context Protocol (MCP) in a process of its own, kept in bounds.

The protocol and the process are the SDK's; here stands what a stranger may do to us: be
silent, flood, die, and stay. Each request has its seconds, and each failure its words.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, Self, TypeVar

import anyio
from anyio.abc import TaskStatus
from anyio.from_thread import start_blocking_portal
from pydantic import ValidationError

from workbook.runtime.calls import ErrorKind, ToolFailure, clip

if TYPE_CHECKING:
    from mcp import ClientSession

T = TypeVar("T")
UNSURE = "Go on without it. What it had not answered may have had its effect."
logging.getLogger("mcp").addHandler(logging.NullHandler())  # its noise is shown nowhere


class ServerError(ToolFailure):
    """What a server did, in a sentence: in a call, it becomes the observation."""


class McpServer:
    """A server that runs from `with` to the end of the block, also in a notebook.

    It gets the environment variables that any program needs, so none of your keys, and
    `env`. What it writes to stderr is not shown. If it does not go at the end, it is
    killed after a few seconds with all that it started.

    Args:
        command: the program and its arguments.
        name: what we call it.
        timeout_s: for each request.
        start_s: to the end of the handshake.
        env: environment variables for it, such as its own key.

    Raises:
        ServerError: on entering: mcp is not installed, the program cannot be started,
            or it does not speak MCP.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        name: str = "mcp",
        timeout_s: float = 10.0,
        start_s: float = 30.0,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.command, self.name, self.env = list(command), name, dict(env or {})
        self.timeout_s, self.start_s = timeout_s, start_s
        self.left_out: dict[str, str] = {}  # tools that are no contract, and why

    def __enter__(self) -> Self:
        try:
            from mcp import ClientSession
        except ModuleNotFoundError:
            words = "the package mcp is not installed: pip install mcp"
            raise ServerError("not_installed", words) from None
        with ExitStack() as opening:
            self._errors = opening.enter_context(TemporaryFile("w+", errors="replace"))
            # A loop in a thread of its own: in a notebook one is running in this.
            self._portal = opening.enter_context(start_blocking_portal())
            try:
                self._lives, self._session = self._portal.start_task(self._live)
            except OSError as error:
                words = f"{self.command[0]!r} cannot be started: {error.strerror}."
                raise ServerError("not_started", words) from None
            opening.callback(self._end)
            self.ask(ClientSession.initialize, self.start_s)
            self._opened = opening.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def ask(
        self,
        request: Callable[[ClientSession], Awaitable[T]],
        timeout_s: float | None = None,
    ) -> T:
        """Return the answer to a request; ServerError: what the server did instead."""
        from mcp import McpError
        from mcp.types import CONNECTION_CLOSED

        limit = timeout_s or self.timeout_s

        async def in_time() -> T:
            with anyio.fail_after(limit):
                return await request(self._session)

        try:
            return self._portal.call(in_time)
        except TimeoutError:
            words = f"the server {self.name!r} did not answer within {limit:g} s."
            raise ServerError(ErrorKind.TIMEOUT, words, hint=UNSURE) from None
        except ValidationError:
            words = f"the server {self.name!r} gave an answer that MCP does not have."
            raise ServerError(ErrorKind.BAD_OUTPUT, words) from None
        except McpError as error:
            said = error.error
            if said.code == CONNECTION_CLOSED and said.message == "Connection closed":
                raise self._gone() from None
            raise ServerError("tool_error", clip(said.message, 1_000)) from None
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, RuntimeError):
            raise self._gone() from None

    def _gone(self) -> ServerError:
        words = f"the server {self.name!r} is gone"
        if not self._errors.closed:
            self._errors.seek(0)
            if last := self._errors.read().strip().split("\n")[-1]:
                words += f"; its last words: {clip(last, 500)}"
        return ServerError("server_gone", f"{words}.", hint=UNSURE)

    async def _live(self, *, task_status: TaskStatus[ClientSession]) -> None:
        """Start the process, and carry messages until the block is left."""
        from mcp import ClientSession, StdioServerParameters, stdio_client

        self._is_over = anyio.Event()
        program, *args = self.command
        started = StdioServerParameters(
            command=program, args=args, env=self.env, encoding_error_handler="replace"
        )
        ours, heard = anyio.create_memory_object_stream[Any]()
        async with (
            stdio_client(started, self._errors) as (said, to_server),
            anyio.create_task_group() as tasks,
            ClientSession(heard, to_server) as session,
        ):
            tasks.start_soon(_hand_over, said, ours)
            task_status.started(session)
            await self._is_over.wait()
            tasks.cancel_scope.cancel()

    def _end(self) -> None:
        self._portal.call(self._is_over.set)
        self._lives.exception()  # it may have broken long before
        self._portal.call(self._portal.stop, True)  # a request that was interrupted


async def _hand_over(said: Any, ours: Any) -> None:
    """Hand over answers and pings: a server has nothing else to say to us."""
    from mcp import types

    async with ours:
        async for each in said:
            match getattr(each, "message", each):
                case types.JSONRPCMessage(
                    root=types.JSONRPCResponse()
                    | types.JSONRPCError()
                    | types.JSONRPCRequest(method="ping")
                ):
                    await ours.send(each)
