"""What of a text is shown large, in front of a class: as much as there is room for.

Letters never shrink. A text that is too long shows the end that matters, and says how
much is hidden; the lines are made here, so that a page has as many as it has room for.
"""

import re
from typing import NamedTuple

from workbook.playground.punchline import Pin, told
from workbook.traces import Kind, TraceEvent

BIG_COLUMNS, BIG_ROWS = 41, 5  # of an event that is short, half as large again
COLUMNS, ROWS = 62, 8  # of the current event; a Japanese letter takes two columns
PIN_COLUMNS, PIN_ROWS = 82, 4  # of all that stays in view together
NOTE_COLUMNS = 22  # of the words that say how much is hidden
WORDS = re.compile(r"[\u2e80-\U0003ffff]\s*|[^\s\u2e80-\U0003ffff]+\s*|\s+")
ENDS_MATTER = (Kind.MODEL_REQUEST, Kind.MODEL_TURN)  # what is new stands there


class Fitted(NamedTuple):
    """The lines that there is room for, and how many letters they leave out."""

    text: str
    hidden: int  # blanks are not counted
    before: bool  # it is the beginning that is hidden
    big: bool = False  # there is room for larger letters


def fitted(text: str, rows: int, columns: int, *, end: bool = False) -> Fitted:
    """Return the first lines of a text, or its last ones, broken at `columns`."""
    most = 2 * rows * columns  # more is never on view, and a page may be a megabyte
    part = text.strip()[-most:] if end else text.strip()[:most]
    lines = [made for line in part.splitlines() for made in _broken(line, columns)]
    shown = "\n".join(lines[-rows:] if end else lines[:rows])
    return Fitted(shown, _letters(text) - _letters(shown), end)


def large(event: TraceEvent) -> Fitted:
    """Return what is shown of the event at which a run stands."""
    text = told(event)
    short = fitted(text, BIG_ROWS, BIG_COLUMNS)
    if not short.hidden:
        return short._replace(big=True)
    return fitted(text, ROWS, COLUMNS, end=event["kind"] in ENDS_MATTER)


def pinned(pin: Pin, together: int) -> Fitted:
    """Return what is shown of one of the things that stay in view together."""
    rows, text = max(1, PIN_ROWS // together), f"{pin.label}: {pin.text}".strip(": ")
    whole = fitted(text, rows, PIN_COLUMNS)
    return fitted(text, rows, PIN_COLUMNS - NOTE_COLUMNS) if whole.hidden else whole


def _broken(line: str, columns: int) -> list[str]:
    """Return a line as several: broken between words, and where letters are words."""
    from rich.cells import cell_len, chop_cells

    made = [""]
    for word in WORDS.findall(line.expandtabs(4)):
        if made[-1] and cell_len(made[-1] + word.rstrip()) > columns:
            made.append("")
        *full, rest = chop_cells(made[-1] + word, columns)
        made[-1:] = [*full, rest] if rest.strip() or not full else full
    return [part.rstrip() for part in made]


def _letters(text: str) -> int:
    return sum(map(len, text.split()))
