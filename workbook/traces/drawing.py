"""A diagram as SVG, in the colours of the page on which it is shown.

It reads of Mermaid what the workbook writes: states, arrows with labels, messages. A
graph is laid out by grandalf, from the top down, and each label is a point of its
arrow's way: no label lies upon another one, nor on an arrow.
"""

from __future__ import annotations

import functools
import html
import itertools
import re
import unicodedata
from collections import Counter
from typing import Any

from workbook.models.prompts import clip
from workbook.pages import template

CHAR, LINE = 6.6, 16  # the width and the height of a letter, in pixels
GAP, EDGE = 16, 8  # between two rows of a graph, where the bends are; around it
NAME, WIDEST = 110, 244  # a participant; at most from one participant to the next
MANY = 3  # live states; then what each of them does is drawn once
_ARROW = re.compile(r"\s*(\S+) (-->|-\.->) (\S+?)(?: : (.*)|;)?")
_MESSAGE = re.compile(r"\s*(\w+?)(-?)->>(\w+): (.*)")
_NAMED = re.compile(
    r'\s*(?:state "(?P<state>.*)"|participant (?P<who>\w+))(?: as (.*))?'
)
_LIT = re.compile(r"\s*class (\S+) now")
BEGIN = "[*]"  # where a state machine begins, and where it ends

Point = tuple[float, float]
Way = tuple[str, str]


def svg(source: str, title: str) -> str:
    """Return the picture of a diagram; empty where nothing in it could be read."""
    lines = source.splitlines()
    names = [found for line in lines if (found := _NAMED.fullmatch(line))]
    page = template("diagram.svg").module
    if messages := [
        found.groups() for line in lines if (found := _MESSAGE.fullmatch(line))
    ]:
        told = {found["who"]: words(found[3] or found["who"]) for found in names}
        return str(page.sequence(*_in_columns(told, messages), title))
    arrows = [found.groups() for line in lines if (found := _ARROW.fullmatch(line))]
    if not arrows:
        return ""
    called = {found[3]: words(found["state"]) for found in names if found["state"]}
    lit = [found[1] for line in lines if (found := _LIT.fullmatch(line))]
    ends = frozenset(source for source, _, target, _ in arrows if target == BEGIN)
    begins = tuple(target for source, _, target, _ in arrows if source == BEGIN)
    ways, for_all = _merged(arrows, ends)
    named = tuple((id_, called.get(id_, id_)) for id_ in dict.fromkeys(sum(ways, ())))
    drawn = _laid_out(tuple(ways.items()), named, begins, ends)
    return str(page.graph(*drawn, for_all, begins, ends, lit, title))


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


def _merged(
    arrows: list[Any], ends: frozenset[str]
) -> tuple[dict[Way, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Return the labels of each way, and of the ways to an end that all states have.

    Where each live state goes to an end by the same event, as by `cancel`, this is
    drawn once.
    """
    moves = [
        (source, target, words(label or ""))
        for source, _, target, label in arrows
        if BEGIN not in (source, target)
    ]
    live = {source for source, *_ in moves}
    sources = Counter((target, label) for _, target, label in moves)
    ways: dict[Way, tuple[str, ...]] = {}
    for_all: dict[str, tuple[str, ...]] = {}
    for source, target, label in moves:
        new = (label,) if label else ()
        if target in ends and sources[target, label] == len(live) >= MANY:
            told = for_all.get(target, ())
            for_all[target] = told if label in told else told + new
        else:
            ways[source, target] = ways.get((source, target), ()) + new
    return ways, for_all


class _Box:
    """A state, or the label of an arrow, whose lines are below each other."""

    def __init__(self, lines: tuple[str, ...], margin: int) -> None:
        self.lines, self.xy = lines, (0.0, 0.0)
        self.w = max(map(width_of, lines)) + 2.5 * margin
        self.h = LINE * len(lines) + margin


@functools.lru_cache(maxsize=64)  # the player draws one graph again and again
def _laid_out(
    ways: tuple[tuple[Way, tuple[str, ...]], ...],
    named: tuple[tuple[str, str], ...],
    begins: tuple[str, ...],
    ends: frozenset[str],
) -> tuple[list[Any], list[Any], Point]:
    """Return boxes (id, lines, place), arrows (path, head), and the picture's size."""
    from grandalf.graphs import Edge, Graph, Vertex
    from grandalf.layouts import SugiyamaLayout
    from grandalf.routing import EdgeViewer

    vertices: dict[Any, Any] = {}
    edges: list[Any] = []

    def add(id_: Any, lines: tuple[str, ...], margin: int) -> None:
        vertices[id_] = Vertex(id_)
        vertices[id_].view = _Box(lines, margin)

    for state, name in named:
        add(state, (name,), 12 if state in ends else 6)
    for way, labels in ways:
        stops = [vertices[state] for state in way]
        if labels or way[0] == way[1]:
            each = 1 + (len(labels) > 2)  # on a line
            lines = [labels[n : n + each] for n in range(0, len(labels), each)]
            add(way, tuple(map(", ".join, lines)) or ("",), 2)
            stops.insert(1, vertices[way])
        for pair in itertools.pairwise(stops):
            edges.append(Edge(*pair))
            edges[-1].view = EdgeViewer()
    roots = [*(vertices[id_] for id_ in begins if id_ in vertices), *vertices.values()]
    rows: dict[
        Point, tuple[float, float]
    ] = {}  # of each point the row's top and bottom
    top: float = EDGE
    for part in Graph(list(vertices.values()), edges).C:
        layout = SugiyamaLayout(part)
        layout.xspace, layout.dw, layout.dh = 10, EDGE, EDGE
        layout.init_all(roots=[next(v for v in roots if v in part.sV)])
        layout.draw(12)
        left = min(v.view.xy[0] - v.view.w / 2 for row in layout.layers for v in row)
        for row in layout.layers:
            bottom = top + max(v.view.h for v in row)
            for v in row:
                v.view.xy = v.view.xy[0] - left + EDGE, top + v.view.h / 2
                rows[v.view.xy] = top, bottom
            top = bottom + GAP
        layout.draw_edges()  # once more, as the rows have moved
    boxes = [
        (id_, v.view.lines, *v.view.xy, v.view.w, v.view.h)
        for id_, v in vertices.items()
    ]
    right = max(x + width / 2 for *_, x, _, width, _ in boxes)
    right = max([right, *(x for edge in edges for x, _ in edge.view._pts)])
    return boxes, _routed(edges, rows), (right + EDGE, top - GAP + EDGE)


def _routed(edges: list[Any], rows: dict[Point, tuple[float, float]]) -> list[Any]:
    """Return each arrow's path, and the corners of its head if it leads to a state.

    It goes straight through a row, bends between two, and has a place of its own at
    each box.
    """
    sides: dict[Any, list[Any]] = {}
    for edge in edges:
        for at, toward in ((0, 1), (-1, -2)):
            box, (x, y) = edge.v[at].view, edge.view._pts[toward]
            sides.setdefault((box, y > box.xy[1]), []).append((x, id(edge), at))
    places = {
        (edge, at): (
            box.xy[0] + ((place + 1) / (len(side) + 1) - 0.5) * box.w,
            box.xy[1] + (box.h if is_below else -box.h) / 2,
        )
        for (box, is_below), side in sides.items()
        for place, (_, edge, at) in enumerate(sorted(side))
    }
    routed = []
    for edge in edges:
        begin, end = places[id(edge), 0], places[id(edge), -1]
        down = end[1] > begin[1]
        first, *bends, last = edge.view._pts
        stops = [(begin[0], *rows[first]), *((x, *rows[x, y]) for x, y in bends)]
        stops.append((end[0], *rows[last]))
        way = [(x, y) for x, *row in stops for y in sorted(row, reverse=not down)]
        way = [begin, *way[1:-1], end]
        is_state = isinstance(edge.v[1].data, str)
        routed.append((_path(way), _head(end, down) if is_state else ""))
    return routed


def _path(points: list[Point]) -> str:
    """Return the way through points, which leaves and reaches each of them upright."""
    (x, y), *_ = points
    path = f"M{x:.1f} {y:.1f}"
    for (x, y), (x2, y2) in itertools.pairwise(points):
        middle = (y + y2) / 2
        path += f"C{x:.1f} {middle:.1f} {x2:.1f} {middle:.1f} {x2:.1f} {y2:.1f}"
    return path


def _head(tip: Point, down: bool) -> str:
    """Return the corners of an arrow's head."""
    x, y = tip
    back = y - 8 if down else y + 8
    return f"{x:.1f},{y:.1f} {x - 3.5:.1f},{back:.1f} {x + 3.5:.1f},{back:.1f}"
