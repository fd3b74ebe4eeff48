"""A state diagram in the size in which it is read: boxes in a row, arrows in lanes.

What leads on runs above the boxes, what leads back below them. No letter is smaller
than 12 pixels, so a narrow page scrolls a large machine and does not shrink it.
"""

from functools import cache
from typing import NamedTuple

Arrow = tuple[str, str, str]  # from one state to another, and why
LANE, BOX, GAP = 17, 36, 5  # heights of both, and what is between two boxes
BOLD, PLAIN = 7.8, 6.4  # the width of a letter in a state's name, and in a label
PORT = 10  # between two arrows at one side of a box
NEAR = (3, -2)  # lanes for which there is room at the least, so that boxes stand still
# As one reads them; a state of yours comes after them.
ORDER = ["RECALL", "THINK", "ADDRESS", "VERIFY", "POLICY", "PENDING_APPROVAL"]
ORDER += ["EXECUTE_TOOL", "OBSERVE"]


class Picture(NamedTuple):
    """Where all is drawn.

    A box is its left edge and its width, a way where it leaves and arrives and its
    lane, counted from the boxes; a lane below them is negative.
    """

    boxes: dict[str, tuple[float, float]]
    ways: dict[Arrow, tuple[float, float, int]]
    left: float
    width: float
    above: int
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
    boxes: dict[str, tuple[float, float]] = {}
    ports: dict[tuple[Arrow, bool], float] = {}
    x = 0.0
    for name in names:
        above, below = (sorted(sides.get((name, on), ())) for on in (True, False))
        most = max(len(above), len(below))
        width = max(BOLD * max(map(len, lines_of(name))) + 12, PORT * (most + 1))
        for side in (above, below):
            for n, (_, arrow, out) in enumerate(side, start=1):
                ports[arrow, out] = x + width * n / (len(side) + 1)
        boxes[name] = (x, width)
        x += width + GAP
    ways: dict[Arrow, tuple[float, float, int]] = {}
    taken: list[tuple[int, float, float]] = []
    drawn = [arrow for arrow in arrows if near is None or arrow in near]
    ends = [(ports[arrow, True], ports[arrow, False], arrow) for arrow in drawn]
    for leaves, comes, arrow in sorted(ends, key=lambda end: abs(end[0] - end[1])):
        middle, half = (leaves + comes) / 2, PLAIN * len(arrow[2]) / 2 + 4
        reach = (leaves, comes, middle - half, middle + half)
        lane = step = 1 if place[arrow[1]] > place[arrow[0]] else -1
        while any(lane == k and min(reach) < b and a < max(reach) for k, a, b in taken):
            lane += step
        taken.append((lane, min(reach), max(reach)))
        ways[arrow] = (leaves, comes, lane)
    left = min([0.0, *(a for _, a, _ in taken)]) - 2
    right = max([x - GAP, *(b for *_, b in taken)]) + 2
    lanes = [0, *(lane for lane, *_ in taken), *(NEAR if near is not None else ())]
    top = LANE * max(lanes) + 9
    height = top + BOX - LANE * min(lanes) + 3
    return Picture(boxes, ways, left, right - left, top, height)


def line_of(drawn: Picture, lane: int) -> int:
    """Return the height of a lane's line; what its arrow is called stands on it."""
    if lane > 0:
        return drawn.above - 9 - LANE * (lane - 1)
    return drawn.above + BOX - LANE * lane


def lines_of(name: str) -> list[str]:
    """Return a name in two lines, where it is two words.

    >>> lines_of("PENDING_APPROVAL")
    ['PENDING_', 'APPROVAL']
    """
    first, sign, rest = name.partition("_")
    return [first + sign, rest] if rest else [name]


def in_order(arrows: tuple[Arrow, ...], start: str) -> list[str]:
    """Return the states as one reads them, and the ends behind those that lead on."""
    live = dict.fromkeys([start, *(source for source, *_ in arrows)])
    known = {name: n for n, name in enumerate(ORDER)}
    ends = dict.fromkeys(target for _, target, _ in arrows if target not in live)
    return [*sorted(live, key=lambda name: known.get(name, len(known))), *ends]
