"""A server of the Model Context Protocol (MCP) in a process of its own, kept in bounds.

Requests go to its stdin, answers come from its stdout, a line each. The protocol itself
is the SDK's; here stands what a stranger may do to us: die, be silent, flood, and stay.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, Self, TypeVar

import anyio
from anyio.abc import Process, TaskStatus
from anyio.from_thread import start_blocking_portal
from anyio.streams.buffered import BufferedByteReceiveStream
from pydantic import ValidationError

from workbook.models.prompts import clip
from workbook.tools.calls import ErrorKind, ToolFailure

if TYPE_CHECKING:
    from mcp import ClientSession

T = TypeVar("T")
LONGEST_LINE = 10_000_000  # bytes
MOST_LINES = 10_000  # between two requests of ours
GRACE_S = 1.0  # for a process to end by itself


class ServerError(ToolFailure):
    """What a server did, in a sentence: in a call, it becomes the observation."""


class McpServer:
    """A server that runs from `with` to the end of the block, also in a notebook.

    It gets the environment variables that any program needs, so none of your keys, and
    `env`. What it writes to stderr is not shown. At the end it is killed with all that
    it started, if it does not go within a second.

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
        self.pid: int | None = None
        self.left_out: dict[str, str] = {}  # tools that are no contract, and why
        self._gone = "it was not started"  # why no request can be made; "" if it can
        self._lines, self._last_words = 0, b""

    def __enter__(self) -> Self:
        try:
            from mcp import ClientSession
        except ModuleNotFoundError:
            words = "the package mcp is not installed: pip install mcp"
            raise ServerError("not_installed", words) from None
        with ExitStack() as opening:
            # A loop in a thread of its own: in a notebook one is running in this.
            self._portal = opening.enter_context(start_blocking_portal())
            opening.callback(self._portal.call, self._portal.stop, True)
            try:
                _, self._session = self._portal.start_task(self._live)
            except OSError as error:
                words = f"{self.command[0]!r} cannot be started: {error.strerror}."
                raise ServerError("not_started", words) from None
            self.ask(ClientSession.initialize, self.start_s)
            self._opened = opening.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._gone = self._gone or "it was closed"
        self._opened.close()

    def ask(
        self,
        request: Callable[[ClientSession], Awaitable[T]],
        timeout_s: float | None = None,
    ) -> T:
        """Return the answer to a request; ServerError: what the server did instead."""
        from mcp import McpError

        if self._gone:
            raise self._lost()
        self._lines, limit = 0, timeout_s or self.timeout_s
        future = self._portal.start_task_soon(request, self._session)
        try:
            return future.result(limit)
        except TimeoutError:
            words = f"the server {self.name!r} did not answer within {limit:g} s."
            raise ServerError(ErrorKind.TIMEOUT, words) from None
        except ValidationError:
            words = f"the server {self.name!r} gave an answer that MCP does not have."
            raise ServerError(ErrorKind.BAD_OUTPUT, words) from None
        except McpError as error:
            refused = ServerError("tool_error", clip(error.error.message, 1_000))
            raise (self._lost() if self._gone else refused) from None
        except (CancelledError, anyio.ClosedResourceError, anyio.BrokenResourceError):
            raise self._lost() from None
        finally:
            future.cancel()

    def _lost(self) -> ServerError:
        why = self._gone or "it was closed"
        words = f"the server {self.name!r} is gone: {why}."
        hint = "Go on without it. What it had not answered may have had its effect."
        return ServerError("server_gone", words, hint=hint)

    async def _live(self, *, task_status: TaskStatus[ClientSession]) -> None:
        """Start the process, and carry messages until the portal is stopped."""
        from mcp import ClientSession
        from mcp.client.stdio import get_default_environment
        from mcp.shared.message import SessionMessage

        env = {**get_default_environment(), **self.env}
        process = await anyio.open_process(
            self.command, env=env, start_new_session=True
        )
        self.pid, self._gone = process.pid, ""
        to_us, heard = anyio.create_memory_object_stream[SessionMessage | Exception]()
        said, to_server = anyio.create_memory_object_stream[SessionMessage]()
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._read, process, to_us)
                tasks.start_soon(_write, process, to_server)
                tasks.start_soon(self._read_errors, process)
                async with ClientSession(heard, said) as session:
                    task_status.started(session)
                    await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await process.stdin.aclose()  # type: ignore[union-attr]
                with anyio.move_on_after(GRACE_S):
                    await process.wait()
                _kill(process)
                await process.aclose()

    async def _read(self, process: Process, to_us: Any) -> None:
        """Hand over what is meant for us, until there is too much or no more of it."""
        from mcp.shared.message import SessionMessage

        lines = BufferedByteReceiveStream(process.stdout)  # type: ignore[arg-type]
        async with to_us:
            while not self._gone:
                self._lines += 1
                try:
                    line = await lines.receive_until(b"\n", LONGEST_LINE)
                except anyio.DelimiterNotFound:
                    self._gone = f"a line of it had more than {LONGEST_LINE:,} bytes"
                except anyio.IncompleteRead:
                    self._gone = await self._end_of(process)
                else:
                    if message := _message(line):
                        await to_us.send(SessionMessage(message))
                if self._lines > MOST_LINES:
                    self._gone = f"it wrote {MOST_LINES:,} lines that nobody asked for"
            _kill(process)

    async def _read_errors(self, process: Process) -> None:
        async for piece in process.stderr:  # type: ignore[union-attr]
            self._last_words = (self._last_words + piece)[-500:]

    async def _end_of(self, process: Process) -> str:
        with anyio.move_on_after(GRACE_S):
            said = f"it ended with exit code {await process.wait()}"
            words = self._last_words.decode(errors="replace").strip().split("\n")[-1]
            return f"{said}; its last words: {words}" if words else said
        return "it closed its output"


async def _write(process: Process, to_server: Any) -> None:
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async for each in to_server:
            line = each.message.model_dump_json(by_alias=True, exclude_none=True)
            await process.stdin.send(f"{line}\n".encode())  # type: ignore[union-attr]


def _message(line: bytes) -> Any:
    """Return an answer, or a ping; None for what else a server may say.

    It has nothing to ask of us, and its log and what is no message are not for us.
    """
    from mcp import types

    try:
        message = types.JSONRPCMessage.model_validate_json(line)
    except ValidationError:
        return None
    match message.root:
        case types.JSONRPCResponse(id=int()) | types.JSONRPCError(id=int()):
            return message
        case types.JSONRPCRequest(method="ping"):
            return message
    return None


def _kill(process: Process) -> None:
    """End a process and, where the system has groups of them, what it has started."""
    with suppress(ProcessLookupError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
