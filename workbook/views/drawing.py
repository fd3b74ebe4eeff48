"""States and messages as SVG, in the colours of the page on which they are shown.

States are boxes in a row and their arrows are in lanes: what leads on runs above the
boxes, what leads back below them. No letter is smaller than 12 pixels, so a narrow page
scrolls a large machine and does not shrink it. Of Mermaid is read what the workbook
writes: states, arrows with labels, messages.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from workbook.pages import template
from workbook.runtime.calls import clip

CHAR = 6.4  # the width of a letter, in pixels
EDGE, NAME, WIDEST = 8, 110, 244  # a participant; at most from one to the next
LANE, BOX, GAP = 17, 36, 5  # heights of both, and what is between two boxes
PORT = 10  # between two arrows at one side of a box
NEAR = (3, -2)  # lanes for which there is room at the least, so that boxes stand still
ANY, MANY = "any live state", 3  # live states; then what each of them does is one arrow
# As one reads them; a state of yours comes after them.
ORDER = ["THINK", "VERIFY", "EXECUTE_TOOL", "PENDING_APPROVAL", "OBSERVE"]
_ARROW = re.compile(r"^[ \t]*(\S+) (?:-->|-\.->) (\S+?)(?: : (.*)|;)?$", re.MULTILINE)
_MESSAGE = re.compile(r"^ *(\w+?)(-?)->>(\w+): (.*)", re.MULTILINE)
_STATE = re.compile(r'^ *state "(.*)" as (.*)', re.MULTILINE)
_WHO = re.compile(r"^ *participant (\w+)(?: as (.*))?", re.MULTILINE)
_LIT = re.compile(r"^ *class (\S+) now", re.MULTILINE)
BEGIN = "[*]"  # where a state machine begins, and where it ends

Arrow = tuple[str, str, str]  # from one state to another, and why


def svg(source: str, title: str) -> str:
    """Return the picture of a diagram; empty where nothing in it could be read."""
    page = template("diagram.svg").module
    if messages := _MESSAGE.findall(source):
        told = {who: words(name or who) for who, name in _WHO.findall(source)}
        return str(page.framed(page.sequence(*_in_columns(told, messages), title)))
    called = {name: words(state) for state, name in _STATE.findall(source)}
    arrows = [
        (called.get(one, one), called.get(other, other), words(why))
        for one, other, why in _ARROW.findall(source)
    ]
    moves = [arrow for arrow in arrows if BEGIN not in arrow]
    if not moves:
        return ""
    ends = {one for one, other, _ in arrows if other == BEGIN}
    (start,) = [other for one, other, _ in arrows if one == BEGIN] or [moves[0][0]]
    lit = [called.get(name, name) for name in _LIT.findall(source)] or [None]
    return str(page.framed(states(merged(moves, ends), start, title, *lit)))


def states(
    arrows: tuple[Arrow, ...],
    start: str,
    title: str,
    lit: str | None = None,
    near: frozenset[Arrow] | None = None,
    last: Arrow | None = None,
) -> str:
    """Return the picture of a machine, in which a state is lit.

    Args:
        near: the arrows to draw, where it is not all of them; see `picture`.
        last: the arrow that was taken last.
    """
    page = template("diagram.svg").module
    return str(page.states(picture(arrows, start, near), title, lit, last))


def words(label: str) -> str:
    """Return a label as one reads it: entities decoded, breaks as spaces.

    >>> words("a#59; b<br/>c")
    'a; b c'
    """
    plain = re.sub(r"#(\d+);", r"&#\1;", label).replace("<br/>", " ")
    return html.unescape(plain)


def width_of(text: str) -> float:
    """Return about how many pixels wide a text is."""
    wide = sum(unicodedata.east_asian_width(letter) in "FW" for letter in text)
    return CHAR * (len(text) + wide + sum(map(str.isupper, text)) / 4)


def merged(arrows: Iterable[Arrow], ends: set[str]) -> tuple[Arrow, ...]:
    """Return the arrows, those from one state to one other as one.

    Where each live state goes to an end by the same event, as by `cancel`, this is one
    arrow, from `ANY`.
    """
    arrows = list(arrows)
    live = {source for source, *_ in arrows}
    sources = Counter(arrow[1:] for arrow in arrows)
    ways: dict[tuple[str, str], dict[str, None]] = {}
    for source, target, label in arrows:
        of_all = target in ends and sources[target, label] == len(live) >= MANY
        ways.setdefault((ANY if of_all else source, target), {})[label] = None
    in_turn = sorted(ways.items(), key=lambda way: way[0][0] == ANY)
    return tuple((*way, ", ".join(labels)) for way, labels in in_turn)


def _in_columns(told: dict[str, str], messages: list[Any]) -> tuple[list[Any], ...]:
    """Return who takes part (name, x), and messages (from x, to x, dashed, text, cut).

    A column is as wide as what is said across it, up to a limit; longer texts are cut.
    """
    ids = list(told)
    across: list[tuple[int, int, str]] = []
    for one, _, other, text in messages:
        left, right = sorted((ids.index(one), ids.index(other)))
        across.append((left, right, words(text)))
    xs = [NAME / 2 + EDGE]
    for column in range(len(ids) - 1):
        said = [text for *way, text in across if way == [column, column + 1]]
        widest = max((width_of(str(text)) for text in said), default=0) + 2 * EDGE
        xs.append(xs[-1] + min(max(widest, NAME + EDGE), WIDEST))
    rows = []
    for (one, dashed, other, _), (left, right, text) in zip(
        messages, across, strict=True
    ):
        room = (xs[right] - xs[left] - EDGE) / (width_of(text) or 1)
        shown = clip(text, max(int(len(text) * room), 8))
        rows.append((xs[ids.index(one)], xs[ids.index(other)], dashed, shown, text))
    return [(told[id_], x) for id_, x in zip(ids, xs, strict=True)], rows


class Picture(NamedTuple):
    """Where all is drawn.

    A box is its left edge, its width and the lines of its name; a way is where it
    leaves and arrives, and the height of its line. Heights count from the boxes' top.
    """

    boxes: dict[str, tuple[float, float, list[str]]]
    ways: dict[Arrow, tuple[float, float, int]]
    left: float
    top: int
    width: float
    height: int


@cache
def picture(
    arrows: tuple[Arrow, ...], start: str, near: frozenset[Arrow] | None = None
) -> Picture:
    """Lay out the arrows, each in the nearest lane where its label has room.

    Where only those `near` are drawn, the boxes stand as if all were.
    """
    names = in_order(arrows, start)
    place = {name: n for n, name in enumerate(names)}
    sides: dict[tuple[str, bool], list[tuple[int, Arrow, bool]]] = {}
    for arrow in arrows:
        source, target, _ = arrow
        on = place[target] > place[source]
        sides.setdefault((source, on), []).append((place[target], arrow, True))
        sides.setdefault((target, on), []).append((place[source], arrow, False))
    boxes: dict[str, tuple[float, float, list[str]]] = {}
    ports: dict[tuple[Arrow, bool], float] = {}
    x = 0.0
    for name in names:
        above, below = (sorted(sides.get((name, on), ())) for on in (True, False))
        most = max(len(above), len(below))
        lines = lines_of(name)
        width = max(max(map(width_of, lines)) + 10, PORT * (most + 1))
        for side in (above, below):
            for n, (_, arrow, out) in enumerate(side, start=1):
                ports[arrow, out] = x + width * n / (len(side) + 1)
        boxes[name] = (x, width, lines)
        x += width + GAP
    ways: dict[Arrow, tuple[float, float, int]] = {}
    taken: list[tuple[int, float, float]] = []
    drawn = [arrow for arrow in arrows if near is None or arrow in near]
    ends = [(ports[arrow, True], ports[arrow, False], arrow) for arrow in drawn]
    for leaves, comes, arrow in sorted(ends, key=lambda end: abs(end[0] - end[1])):
        middle, half = (leaves + comes) / 2, width_of(arrow[2]) / 2 + 4
        reach = (leaves, comes, middle - half, middle + half)
        lane = step = 1 if place[arrow[1]] > place[arrow[0]] else -1
        while any(lane == k and min(reach) < b and a < max(reach) for k, a, b in taken):
            lane += step
        taken.append((lane, min(reach), max(reach)))
        ways[arrow] = (leaves, comes, (LANE - 9 if lane > 0 else BOX) - LANE * lane)
    left = min([0.0, *(a for _, a, _ in taken)]) - 2
    right = max([x - GAP, *(b for *_, b in taken)]) + 2
    lanes = [0, *(lane for lane, *_ in taken), *(NEAR if near is not None else ())]
    top, bottom = -LANE * max(lanes) - 9, BOX - LANE * min(lanes) + 3
    return Picture(boxes, ways, left, top, right - left, bottom - top)


def lines_of(name: str) -> list[str]:
    """Return a name in two lines, where it is of several words.

    >>> lines_of("PENDING_APPROVAL")
    ['PENDING_', 'APPROVAL']
    """
    first, sign, rest = name.partition("_") if "_" in name else name.rpartition(" ")
    return [first + sign, rest] if first and rest else [name]


def in_order(arrows: tuple[Arrow, ...], start: str) -> list[str]:
    """Return the states as one reads them, and the ends after those that lead on."""
    live = dict.fromkeys([start, *(source for source, *_ in arrows)])
    known = {name: n for n, name in enumerate(ORDER)}
    ends = dict.fromkeys(target for _, target, _ in arrows if target not in live)
    return [*sorted(live, key=lambda name: known.get(name, len(known))), *ends]
