"""What a cell waits for: one line, updated in place and gone when the wait is over.

It appears after a second, so that a quick cell shows nothing. In Jupyter it is a line
below the cell, elsewhere a line of text on stderr.
"""

import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

AFTER_S, EVERY_S, PLAIN_EVERY_S = 1.0, 0.5, 10.0


class Waiting:
    """How far it is; call it once for each part that is done: `tick()`.

    Args:
        what: what is waited for, such as "asking the model".
        total: how many parts there are, where that is known.
        clock: returns seconds.
    """

    def __init__(
        self,
        what: str,
        total: int | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.what, self.total, self.clock = what, total, clock
        self.done, self.tokens, self.since = 0, 0, clock()

    def __call__(self, parts: int = 1) -> None:
        self.done += parts

    def wrote(self, piece: str) -> bool:
        """Count one more token: a model's `on_text`, which never stops it."""
        self.tokens += 1
        return False

    def __str__(self) -> str:
        """Return what is known: parts, seconds, tokens."""
        gone, said = self.clock() - self.since, self.what
        if self.total:
            said += f": {self.done} of {self.total}"
        if self.total and 0 < self.done <= self.total:
            said += f", about {gone / self.done * (self.total - self.done):.0f} s left"
        else:
            said += f", {gone:.0f} s so far"
        return said + (f", {self.tokens} tokens written" if self.tokens else "")


_open: list[Waiting] = []
"""What is waited for now, the outermost first: one line says it all."""


@contextmanager
def waiting(what: str, total: int | None = None) -> Iterator[Waiting]:
    """Show what is waited for while the block runs, and clear it.

    >>> with waiting("counting", total=2) as tick:
    ...     for _ in range(2):
    ...         tick()
    """
    here, over = Waiting(what, total), threading.Event()
    _open.append(here)
    shown = threading.Thread(target=_show, args=(over,), daemon=True, name="waiting")
    outermost = len(_open) == 1
    if outermost:
        shown.start()
    try:
        yield here
    finally:
        _open.remove(here)
        over.set()
        if outermost:
            shown.join()


def _show(over: threading.Event) -> None:
    """Write the line from the first second on, until it is over; then clear it."""
    if over.wait(AFTER_S):
        return
    write, every_s, how = _place()
    told = False
    while not told:
        write("; ".join(map(str, list(_open))) + f"  ({how} stops it)")
        told = over.wait(every_s)
    write("")


def _place() -> tuple[Callable[[str], object], float, str]:
    """Return what writes the line, how often it does, and how a person stops a cell."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if getattr(shell, "kernel", None):
        from IPython.display import publish_display_data

        mine, begun = {"display_id": uuid.uuid4().hex}, threading.Event()

        def in_place(text: str) -> None:  # without data nothing is shown, nor saved
            data, update = {"text/plain": text} if text else {}, begun.is_set()
            publish_display_data(data, transient=mine, update=update)  # type: ignore[no-untyped-call]
            begun.set()

        return in_place, EVERY_S, "■"

    def a_line(text: str) -> None:
        print(text, end="\n" if text else "", file=sys.stderr, flush=True)

    return a_line, PLAIN_EVERY_S, "Ctrl-C"
