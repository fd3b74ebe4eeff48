"""A diagram as SVG, for pages on which Mermaid does not run.

It reads of Mermaid what the workbook writes: states, arrows with labels, messages. A
graph is laid out by grandalf, with each label as a point of its arrow's way.
"""

from __future__ import annotations

import functools
import html
import itertools
import re
import unicodedata
from typing import Any

from workbook.paths import DATA

CHAR, LINE = 8.5, 18  # the width and the height of a letter, in pixels
_ARROW = re.compile(r"\s*(\S+) (-->|-\.->) (\S+?)(?: : (.*)|;)?")
_MESSAGE = re.compile(r"\s*(\w+?)(-?)->>(\w+): (.*)")
_NAMED = re.compile(
    r'\s*(?:state "(?P<state>.*)"|participant (?P<who>\w+))(?: as (.*))?'
)
BEGIN, END, LABEL = "*begin", "*end", "*label "  # no state is named so
_LIT = re.compile(r"\s*class (\S+) now")


def svg(source: str, title: str) -> str:
    """Return the picture of a diagram; empty where nothing in it could be read."""
    lines = source.splitlines()
    names = [found for line in lines if (found := _NAMED.fullmatch(line))]
    if messages := [
        found.groups() for line in lines if (found := _MESSAGE.fullmatch(line))
    ]:
        told = {found["who"]: words(found[3] or found["who"]) for found in names}
        spoken = [(a, b, dashed, words(text)) for a, dashed, b, text in messages]
        return str(_template().sequence(told, spoken, title))
    arrows = [found.groups() for line in lines if (found := _ARROW.fullmatch(line))]
    if not arrows:
        return ""
    called = {found[3]: words(found["state"]) for found in names if found["state"]}
    lit = [found[1] for line in lines if (found := _LIT.fullmatch(line))]
    boxes, ways = _laid_out(arrows, called)
    return str(_template().graph(boxes, ways, lit, title))


def words(label: str) -> str:
    """Return a label as one reads it: entities decoded, breaks as spaces.

    >>> words("a#59; b<br/>c")
    'a; b c'
    """
    plain = re.sub(r"#(\d+);", r"&#\1;", label).replace("<br/>", " ")
    return html.unescape(plain)


class _Box:
    """A state or a label; as grandalf lays out downwards, it lies on its side."""

    def __init__(self, text: str, margin: int) -> None:
        self.text, self.xy = text, (0.0, 0.0)
        self.w, self.h = LINE + margin, CHAR * sum(map(_width, text)) + margin

    @property
    def placed(self) -> tuple[float, ...]:
        """Its middle, its width and its height, as it is drawn: from left to right."""
        return self.xy[1], self.xy[0], self.h, self.w


def _width(letter: str) -> int:
    return 2 if unicodedata.east_asian_width(letter) in "FW" else 1


def _laid_out(arrows: list[Any], called: dict[str, str]) -> tuple[list[Any], list[Any]]:
    """Return boxes (id, words, place), and ways (points, where they lead)."""
    from grandalf.graphs import Edge, Graph, Vertex
    from grandalf.layouts import SugiyamaLayout
    from grandalf.routing import EdgeViewer, route_with_lines

    vertices: dict[str, Any] = {}
    edges = []

    def vertex(id_: str, text: str, margin: int) -> Any:
        if id_ not in vertices:
            vertices[id_] = Vertex(id_)
            vertices[id_].view = _Box(text, margin)
        return vertices[id_]

    for number, (source, _, target, label) in enumerate(arrows):
        ids = [source.replace("[*]", BEGIN), target.replace("[*]", END)]
        stops = [vertex(id_, called.get(id_, id_).strip("*"), 12) for id_ in ids]
        if label or source == target:
            stops.insert(1, vertex(f"{LABEL}{number}", words(label or ""), 2))
        for pair in itertools.pairwise(stops):
            edges.append(Edge(*pair))
            edges[-1].view = EdgeViewer()
    for part in Graph(list(vertices.values()), edges).C:
        layout = SugiyamaLayout(part)
        layout.xspace, layout.yspace = 8, 30
        layout.route_edge = route_with_lines
        layout.init_all(roots=[next(v for v in vertices.values() if v in part.sV)])
        layout.draw(6)
    boxes = [(id_, v.view.text, v.view.placed) for id_, v in vertices.items()]
    ways = [([(y, x) for x, y in e.view._pts], e.v[1].data) for e in edges]
    return boxes, ways


@functools.cache
def _template() -> Any:
    from jinja2 import Environment

    page = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return page.from_string(
        (DATA / "pages/diagram.svg").read_text(encoding="utf-8")
    ).module
