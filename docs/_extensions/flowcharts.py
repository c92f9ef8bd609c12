"""Mermaid's flowcharts as pictures (SVG) in the page, in the colours of its theme: no script.

Only what the pages use is understood: `a --> b & c`, `a[words]`, `a["words"]`, `-. words .->`.
"""

from __future__ import annotations

import re
from html import escape
from itertools import product
from typing import Any, NamedTuple

from docutils import nodes
from grandalf.graphs import Edge, Graph, Vertex
from grandalf.layouts import SugiyamaLayout

NODE = re.compile(r'([\w.]+)(?:\["?(.*?)"?\])?')
ARROW = re.compile(r"\s*(-->|-\.(?:\s*(.*?)\s*\.)?->)\s*")
LETTER, LINE = 7.2, 34


class Arrow(NamedTuple):
    """From one node to another."""

    start: str
    end: str
    dashed: bool
    words: str


class Chart(NamedTuple):
    """What a text says."""

    direction: str
    labels: dict[str, str]
    arrows: list[Arrow]


def parse(text: str) -> Chart:
    """Read a flowchart."""
    head, *lines = text.strip().splitlines()
    labels: dict[str, str] = {}
    arrows = []

    def named(part: str) -> list[str]:
        found = []
        for one in re.split(r"\s&\s", part.strip()):
            match = NODE.fullmatch(one.strip())
            if match is None:
                raise ValueError(f"flowchart: {one!r} is not understood in {text!r}")
            name, label = match.groups()
            labels[name] = label or labels.get(name, name)
            found.append(name)
        return found

    for line in lines:
        parts = ARROW.split(line.strip())
        starts = named(parts[0])
        for sign, words, part in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
            ends = named(part)
            pairs = product(starts, ends)
            arrows += [Arrow(a, b, sign.startswith("-."), words or "") for a, b in pairs]
            starts = ends
    return Chart(head.split()[1], labels, arrows)


class _Box:
    """What the layout knows of a node: its place, and its size, turned where the chart lies."""

    def __init__(self, label: str, lying: bool) -> None:
        self.size = (len(label) * LETTER + 24, LINE)
        self.w, self.h = self.size[::-1] if lying else self.size
        self.xy = (0.0, 0.0)


def placed(chart: Chart) -> dict[str, tuple[float, float, float, float]]:
    """Centre and size of every node."""
    lying = chart.direction in ("LR", "RL")
    vertices = {name: Vertex(name) for name in chart.labels}
    for name, vertex in vertices.items():
        vertex.view = _Box(chart.labels[name], lying)
    edges = [Edge(vertices[a.start], vertices[a.end]) for a in chart.arrows if a.start != a.end]
    found, left = {}, 0.0
    for part in Graph(list(vertices.values()), edges).C:
        layout = SugiyamaLayout(part)
        layout.xspace, layout.yspace = (18, 60) if not lying else (24, 90)
        layout.init_all()
        layout.draw(8)
        boxes = {vertex.data: vertex.view for vertex in part.sV}
        lowest = min(box.xy[0] - box.w / 2 for box in boxes.values())
        for name, box in boxes.items():
            x, y = box.xy[0] - lowest + left, box.xy[1]
            x, y = (y, x) if lying else (x, y)
            found[name] = (-x if chart.direction == "RL" else x, y, *box.size)
        left += max(box.xy[0] + box.w / 2 for box in boxes.values()) - lowest + 30
    return found


def _edge(a: tuple[float, ...], b: tuple[float, ...], lying: bool) -> list[tuple[float, float]]:
    """From the side of one box to the side of the next, and what bends the line between."""
    if lying:
        way = 1 if b[0] > a[0] else -1
        start, end = (a[0] + way * a[2] / 2, a[1]), (b[0] - way * (b[2] / 2 + 6), b[1])
        middle = (start[0] + end[0]) / 2
        return [start, (middle, start[1]), (middle, end[1]), end]
    way = 1 if b[1] > a[1] else -1
    start, end = (a[0], a[1] + way * a[3] / 2), (b[0], b[1] - way * (b[3] / 2 + 6))
    middle = (start[1] + end[1]) / 2
    return [start, (start[0], middle), (end[0], middle), end]


def svg(text: str) -> str:
    """The picture."""
    chart = parse(text)
    boxes = placed(chart)
    lying = chart.direction in ("LR", "RL")
    drawn = []
    for arrow in chart.arrows:
        points = _edge(boxes[arrow.start], boxes[arrow.end], lying)
        (x, y), *bends = points
        curve = " ".join(f"{p:.1f},{q:.1f}" for p, q in bends)
        dashes = ' stroke-dasharray="4 4"' * arrow.dashed
        drawn.append(f'<path d="M{x:.1f},{y:.1f} C{curve}" marker-end="url(#tip)"{dashes}/>')
        if arrow.words:
            middle = [sum(axis) / 2 for axis in zip(points[1], points[2], strict=True)]
            drawn.append(f'<text class="words" x="{middle[0]:.1f}" y="{middle[1] - 5:.1f}">')
            drawn.append(f"{escape(arrow.words)}</text>")
    for name, (x, y, w, h) in boxes.items():
        drawn.append(f'<rect x="{x - w / 2:.1f}" y="{y - h / 2:.1f}" width="{w:.1f}"')
        drawn.append(f' height="{h}" rx="6"/><text x="{x:.1f}" y="{y + 4:.1f}">')
        drawn.append(f"{escape(chart.labels[name])}</text>")
    xs = [x + sign * w / 2 for x, _, w, _ in boxes.values() for sign in (-1, 1)]
    ys = [y + sign * h / 2 for _, y, _, h in boxes.values() for sign in (-1, 1)]
    left, top, width, height = min(xs) - 8, min(ys) - 8, max(xs) - min(xs), max(ys) - min(ys)
    said = "; ".join(f"{chart.labels[a.start]} to {chart.labels[a.end]}" for a in chart.arrows)
    return (
        f'<svg class="flowchart" role="img" aria-label="{escape(said)}" '
        f'viewBox="{left:.0f} {top:.0f} {width + 16:.0f} {height + 16:.0f}" '
        f'style="max-width: {width + 16:.0f}px"><defs><marker id="tip" viewBox="0 0 8 8" '
        'refX="4" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">'
        f'<path d="M0,0 L8,4 L0,8 z"/></marker></defs>{"".join(drawn)}</svg>'
    )


def draw(app: Any, doctree: nodes.document) -> None:
    """Put pictures in the place of the texts."""
    for block in list(doctree.findall(nodes.literal_block)):
        if block.get("language") == "mermaid":
            block.replace_self(nodes.raw("", svg(block.astext()), format="html"))


def setup(app: Any) -> dict[str, bool]:
    """Draw when a page has been read."""
    app.connect("doctree-read", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
