"""A graph that `dump_graph` has written for Mermaid, placed layer by layer for drawing."""

from __future__ import annotations

import re
from collections.abc import Callable
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

from plugrad.runs.texts import shown

MOST_NODES = 1500
_NODE = re.compile(r'\s*(n\d+)[\[(]+"(.*)"[\])]+:::(\w+)')
_EDGE = re.compile(r"\s*(n\d+) -(?:->|--) (n\d+)")
_CODE = re.compile(r"#(\d{1,7});")
LETTER, HEIGHT, GAP, LAYER = 6.7, 26.0, 18.0, 46.0


class Graph(NamedTuple):
    """Node -> its label and role; and what joins them."""

    nodes: dict[str, tuple[str, str]]
    edges: list[tuple[str, str]]


def parse(text: str) -> Graph | None:
    r"""The graph, where the text is one of `dump_graph`.

    >>> parse('flowchart TB\n  n0["Sum"]:::function\n  n1(["x"]):::leaf\n  n1 --> n0\n')
    Graph(nodes={'n0': ('Sum', 'function'), 'n1': ('x', 'leaf')}, edges=[('n1', 'n0')])
    """
    nodes: dict[str, tuple[str, str]] = {}
    edges = []
    for line in text.splitlines():
        if match := _NODE.fullmatch(line):
            name, label, role = match.groups()
            nodes[name] = (shown(_CODE.sub(_decoded, label.replace("<br/>", " ")), 60), role)
        elif match := _EDGE.fullmatch(line):
            edges.append((match[1], match[2]))
    edges = [(a, b) for a, b in dict.fromkeys(edges) if a in nodes and b in nodes and a != b]
    return Graph(nodes, edges) if nodes and text.startswith("flowchart") else None


def _decoded(match: re.Match[str]) -> str:
    code = int(match[1])
    return chr(code) if code < 0x110000 else match[0]


def placed(graph: Graph) -> dict[str, Any]:
    """Boxes [x, y, width, label, role] by their centres, and lines as lists of points.

    Raises ValueError for a graph that is too large, or runs in a circle.
    """
    if len(graph.nodes) > MOST_NODES:
        raise ValueError(f"has {len(graph.nodes)} nodes, too many to draw")
    rank = _ranks(graph)
    chains = [_chain(edge, rank) for edge in graph.edges]
    layers: dict[int, list[str]] = {}
    for name in [*graph.nodes, *(n for chain in chains for n in chain[1:-1])]:
        layers.setdefault(rank[name], []).append(name)
    above: dict[str, list[str]] = {}
    below: dict[str, list[str]] = {}
    for chain in chains:
        for a, b in zip(chain, chain[1:], strict=False):
            below.setdefault(a, []).append(b)
            above.setdefault(b, []).append(a)
    width = {name: len(label) * LETTER + 22 for name, (label, _) in graph.nodes.items()}
    x = _across([layers[r] for r in sorted(layers)], above, below, width)
    left = min(x[n] - width[n] / 2 for n in graph.nodes)
    right = max(x[n] + width[n] / 2 for n in graph.nodes)

    number = {name: i for i, name in enumerate(graph.nodes)}

    def place(name: str) -> tuple[float, float]:
        return round(x[name] - left + 4, 1), round(rank[name] * LAYER + HEIGHT, 1)

    return {
        "size": [round(right - left + 8), round(max(rank.values()) * LAYER + 2 * HEIGHT)],
        "boxes": [
            [*place(name), round(width[name], 1), label, role]
            for name, (label, role) in graph.nodes.items()
        ],
        "lines": [[place(name) for name in chain] for chain in chains],
        "edges": [[number[a], number[b]] for a, b in graph.edges],
    }


def _ranks(graph: Graph) -> dict[str, int]:
    """The layer of each node: below all that lead to it; what nothing leads to, close by."""
    before: dict[str, list[str]] = {name: [] for name in graph.nodes}
    after: dict[str, list[str]] = {name: [] for name in graph.nodes}
    for a, b in graph.edges:
        before[b].append(a)
        after[a].append(b)
    rank: dict[str, int] = {}
    try:
        for name in TopologicalSorter(before).static_order():
            rank[name] = max((rank[a] + 1 for a in before[name]), default=0)
    except CycleError:
        raise ValueError("runs in a circle, as no computation does") from None
    for name in graph.nodes:
        if not before[name] and after[name]:
            rank[name] = min(rank[b] for b in after[name]) - 1
    return rank


def _chain(edge: tuple[str, str], rank: dict[str, int]) -> list[str]:
    """An edge by way of a point in each layer between, which gets a rank as a node has."""
    a, b = edge
    points = [f"{a} {b} {r}" for r in range(rank[a] + 1, rank[b])]
    rank.update({point: rank[a] + 1 + i for i, point in enumerate(points)})
    return [a, *points, b]


Neighbours = dict[str, list[str]]


def _across(
    layers: list[list[str]], above: Neighbours, below: Neighbours, width: dict[str, float]
) -> dict[str, float]:
    """Where each node is across: near what it is joined with, and apart from those beside it."""
    x = {name: float(i) for layer in layers for i, name in enumerate(layer)}

    def weight_of(name: str) -> float:
        """What nothing leads to, as parameters, hardly counts, and makes room for what it joins."""
        return 1.0 if name in above else 0.001

    def desired_place(near: Neighbours, name: str) -> float:
        """The mean of the neighbours' places."""
        pairs = [(x[other], weight_of(other)) for other in near.get(name, ())]
        whole = sum([weight for _, weight in pairs])
        return sum([at * weight for at, weight in pairs]) / whole if pairs else x[name]

    for sweep in range(8):  # first who stands beside whom, by the mean of the neighbours' places
        near, order = (above, layers) if sweep % 2 == 0 else (below, layers[::-1])
        for layer in order:
            layer.sort(key=lambda name: desired_place(near, name))
            x.update({name: float(i) for i, name in enumerate(layer)})
    for layer in layers:
        x.update(_apart(layer, dict.fromkeys(layer, 0.0), width, weight_of))
    for sweep in range(24):  # then how far apart
        near, order = (above, layers) if sweep % 2 == 0 else (below, layers[::-1])
        for layer in order:
            wanted = {name: desired_place(near, name) for name in layer}
            x.update(_apart(layer, wanted, width, weight_of))
    return x


def _apart(
    layer: list[str],
    wanted: dict[str, float],
    width: dict[str, float],
    weight_of: Callable[[str], float],
) -> dict[str, float]:
    """The places that leave the gaps and are nearest to what is wanted, by weighted squares.

    Without the least distances from the first, the places only have to be in order: those next to
    each other that are not are taken together, at their mean.
    """
    distance, blocks = 0.0, list[tuple[float, float, int]]()  # of a mean, a weight and a count
    distances = []
    for i, name in enumerate(layer):
        if i:
            distance += (width.get(layer[i - 1], 0.0) + width.get(name, 0.0)) / 2 + GAP
        distances.append(distance)
        mean, weight, count = wanted[name] - distance, weight_of(name), 1
        while blocks and blocks[-1][0] >= mean:
            others, more, number = blocks.pop()
            mean = (others * more + mean * weight) / (more + weight)
            weight, count = weight + more, count + number
        blocks.append((mean, weight, count))
    means = [mean for mean, _, count in blocks for _ in range(count)]
    return {name: at + d for name, at, d in zip(layer, means, distances, strict=True)}
