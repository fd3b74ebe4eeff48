"""Calls in both directions between two processes, over two file descriptors.

A frame is its length in eight bytes, then JSON. Whoever waits for an answer serves what
the other end asks on its way there, in the same thread; what a thread of its own asks
is served in a thread of its own.
"""

import itertools
import json
import os
import queue
import struct
import threading
import time
from contextlib import suppress
from typing import Any

from workbook.classroom.remote import perform
from workbook.classroom.wire import Wire, WireError

MOST_BYTES = 16_000_000  # of one frame
CLOSING_S = 5.0  # for the other end to be read
HEAD = struct.Struct(">Q")


class Gone(RuntimeError):  # noqa: N818 - what happened
    """The other process ended, or broke the line."""


class Channel:
    """One end; `trusted`: the learner's, which trusts the one that judges.

    What is asked of that end is done in the thread that calls `serve_forever`, if it is
    free; what is asked of the judge's on nobody's behalf has a thread of its own.
    """

    def __init__(self, read: int, write: int, *, trusted: bool) -> None:
        self.read, self.write = read, write
        self.wire = Wire(self.ask, trusted)
        self.numbers = itertools.count(1)
        self.sending, self.coding = threading.Lock(), threading.RLock()
        self.waiting: dict[int, queue.SimpleQueue[Any]] = {}
        self.asked: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.here = threading.local()
        self.roots: dict[int, Any] = {}  # what is asked for by a name, not a number
        self.idle = trusted  # whether the main thread waits, or will, to be asked
        self.over = ""  # why nothing comes any more
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()

    def ask(
        self,
        thing: int,
        what: str,
        /,
        *args: Any,
        wall_s: float | None = None,
        **kwargs: Any,
    ) -> Any:
        """Have the other end do something with a thing of its own; return the result.

        `Gone`: it ended, or gave no answer within `wall_s` seconds.
        """
        until = None if wall_s is None else time.monotonic() + wall_s
        number = next(self.numbers)
        mine = self.waiting[number] = queue.SimpleQueue()
        try:
            said = {"ask": number, "via": getattr(self.here, "serving", 0)}
            self._send(said, [thing, what, list(args), kwargs])
            while True:
                if self.over:
                    raise Gone(self.over)
                left = None if until is None else max(0.0, until - time.monotonic())
                try:
                    about, body = mine.get(timeout=left)
                except queue.Empty:
                    raise Gone(f"no answer within {wall_s:g} seconds") from None
                if about is None:
                    raise Gone(self.over)
                if "ask" in about:
                    begun = time.monotonic()
                    self._serve(about, body)
                    until = until and until + time.monotonic() - begun
                else:
                    return self._result(about, body)
        finally:
            del self.waiting[number]

    def _result(self, about: dict[str, Any], body: bytes) -> Any:
        with self.coding:
            value = self.wire.loads(body)
        if printed := str(about.get("printed", ""))[:2000]:
            print(printed, end="")
        if not about.get("raised"):
            return value
        if not isinstance(value, BaseException):
            raise WireError("what was raised is no exception")
        value.__dict__["_told"] = {
            name: str(about.get(name, ""))[:4000] for name in ("place", "traceback")
        }
        raise value

    def serve_forever(self) -> None:
        """Serve what is asked, in this thread, until the other end is gone."""
        while True:
            self.idle = True
            about, body = self.asked.get()
            self.idle = False
            if about is None:
                return
            self._serve(about, body)

    def _serve(self, about: dict[str, Any], body: bytes) -> None:
        before = getattr(self.here, "serving", 0)
        self.here.serving = about["ask"]
        said: dict[str, Any] = {"answer": about["ask"]}
        result: Any = None
        try:
            with self.coding:
                thing, what, args, kwargs = self.wire.loads(body)
            if thing in self.roots:
                result, more = self.roots[thing](what, *args, **kwargs)
                said |= more
            else:
                result = perform(self.wire.kept[thing], what, *args, **kwargs)
        except BaseException as error:
            said["raised"], result = True, error
            said |= getattr(error, "_told", {})
        finally:
            self.here.serving = before
        with suppress(Gone):  # then nobody waits for it any more
            try:
                self._send(said, result)
            except WireError as error:
                self._send(said | {"raised": True}, TypeError(str(error)))

    def _send(self, said: dict[str, Any], value: Any) -> None:
        with self.coding:
            body = self.wire.dumps(value)
        if len(body) > MOST_BYTES:
            raise WireError(f"the value is too large: {len(body):,} bytes")
        head = json.dumps(said).encode()
        data = HEAD.pack(len(head)) + head + HEAD.pack(len(body)) + body
        with self.sending:
            view = memoryview(data)
            try:
                while view:
                    view = view[os.write(self.write, view) :]
            except OSError:
                raise Gone(self.over or "the line is broken") from None

    def _listen(self) -> None:
        try:
            while True:
                about = json.loads(self._frame())
                body = self._frame()
                if about.get("via") in self.waiting and "ask" in about:
                    self.waiting[about["via"]].put((about, body))
                elif "ask" in about:
                    if self.idle:
                        self.asked.put((about, body))
                    else:
                        served = threading.Thread(
                            target=self._serve, args=(about, body), daemon=True
                        )
                        served.start()
                elif about["answer"] in self.waiting:
                    self.waiting[about["answer"]].put((about, body))
        except Exception as error:
            self.over = (
                "the process ended"
                if isinstance(error, EOFError)
                else f"what came back is no answer ({type(error).__name__})"
            )
        finally:  # by nobody else: a number that is free is given to the next file
            os.close(self.read)
        self.asked.put((None, b""))
        for waiting in list(self.waiting.values()):
            waiting.put((None, b""))

    def _frame(self) -> bytes:
        (size,) = HEAD.unpack(self._exactly(HEAD.size))
        if size > MOST_BYTES:
            raise ValueError("a frame that is too long")
        return self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        parts = []
        while size:
            part = os.read(self.read, min(size, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def close(self) -> None:
        """Close our end, by which the other one ends; wait for what it says last."""
        with self.sending, suppress(OSError):
            self.write, write = -1, self.write
            os.close(write)
        if threading.current_thread() is not self.listener:
            self.listener.join(CLOSING_S)
