"""What a cell waits for: a line, updated in place and gone when the wait is over.

It appears after a second, in Jupyter below the cell and elsewhere on stderr.
"""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

AFTER_S, EVERY_S, PLAIN_EVERY_S = 1.0, 0.5, 10.0


class Waiting:
    """How far it is; call it once for each part that is done: `tick()`."""

    def __init__(self, what: str, total: int | None = None) -> None:
        self.what, self.total = what, total
        self.done, self.tokens, self.since = 0, 0, time.perf_counter()

    def __call__(self) -> None:
        self.done += 1

    def wrote(self, piece: str) -> bool:
        """Count one more token: a model's `on_text`, which never stops it."""
        self.tokens += 1
        return False

    def __str__(self) -> str:
        gone, text = time.perf_counter() - self.since, self.what
        if self.total:
            text += f": {self.done} of {self.total}"
        if self.total and self.done:
            left = gone / self.done * (self.total - self.done)
            text += f", about {left:.0f} s left"
        else:
            text += f", {gone:.0f} s so far"
        return text + (f", {self.tokens} tokens written" if self.tokens else "")


_open: list[Waiting] = []  # the outermost first: one line is for all


@contextmanager
def waiting(what: str, total: int | None = None) -> Iterator[Waiting]:
    """Show what is waited for, and how many of `total` are done, while a block runs."""
    here, over = Waiting(what, total), threading.Event()
    _open.append(here)
    line = threading.Thread(target=_show, args=(over,), daemon=True, name="waiting")
    if here is _open[0]:
        line.start()
    try:
        yield here
    finally:
        _open.remove(here)
        over.set()
        if line.ident:
            line.join()


def _show(over: threading.Event) -> None:
    if over.wait(AFTER_S):
        return
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    write: Any = None
    every_s, stop = PLAIN_EVERY_S, "Ctrl-C"
    if getattr(shell, "kernel", None):
        from IPython.display import DisplayHandle

        place = DisplayHandle()  # type: ignore[no-untyped-call]
        write, every_s, stop = place.display, EVERY_S, "■"
    is_over = False
    while not is_over:
        line = "; ".join(map(str, [*_open])) + f"  ({stop} stops it)"
        if write:
            write({"text/plain": line}, raw=True)
            write = place.update
        else:
            print(line, file=sys.stderr, flush=True)
        is_over = over.wait(every_s)
    if write:
        write({}, raw=True)  # without data nothing is shown, nor saved
