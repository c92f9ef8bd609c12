"""A model of sums over ranks: messages take a latency alpha, and beta for each byte.

A ring (or direct exchange of parts) of N ranks sends 2 (N - 1) messages of n / N bytes one after
another, a tree 2 log2 N messages of n bytes (Hockney 1994; Thakur, Rabenseifner and Gropp 2005,
"Optimization of collective communication operations in MPICH"). Where more ranks than cores share a
machine, they take turns with the bytes, and a sum waits once until each has had its turn of the
scheduler's. In a step on a network the sum of each buffer begins when the backward
pass has filled it, and the one before has ended; what ends after the arithmetic is added to it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import ceil, log2

import numpy as np

Point = tuple[int, int, float]
"""Ranks, bytes, and measured seconds."""

RANKS = (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
LARGE = 1 << 20
"""Bytes from which on a gradient is summed by itself; the others of this network are together."""

LAYERS = (784, 1000, 1000, 10)
"""Widths of the network whose steps are measured."""


@dataclass(frozen=True)
class Network:
    """Seconds a message, and a byte."""

    alpha: float
    beta: float


NETWORKS = {  # latencies as usual for TCP, and for RDMA of two generations
    "10 Gb/s": Network(30e-6, 8 / 10e9),
    "100 Gb/s": Network(4e-6, 8 / 100e9),
    "400 Gb/s": Network(2e-6, 8 / 400e9),
}


@dataclass(frozen=True)
class Fit(Network):
    """A machine fitted to what was measured, and how far off it is, kind of point by kind."""

    wait: float
    """Seconds, once for a sum, until all ranks have had a core, where there are more than cores."""
    errors: Mapping[str, Sequence[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """What a step is predicted to take, and by which of the two shapes."""

    step: float
    exchange: float
    shape: str


def terms(ranks: int, size: int, shape: str) -> tuple[float, float]:
    """How many latencies and bytes follow one another in a sum."""
    if shape == "ring":
        return 2.0 * (ranks - 1), 2.0 * (ranks - 1) * size / ranks
    return 2.0 * ceil(log2(ranks)), 2.0 * ceil(log2(ranks)) * size


def seconds(ranks: int, size: int, shape: str, network: Network) -> float:
    """What a sum takes."""
    messages, sent = terms(ranks, size, shape)
    return messages * network.alpha + sent * network.beta


def parts(ranks: int, size: int, shape: str, cores: int) -> tuple[float, float, float]:
    """How many latencies, bytes and waits for a core follow one another in a sum here."""
    messages, sent = terms(ranks, size, shape)
    return messages, sent * max(1.0, ranks / cores), float(ranks > cores)


def here(ranks: int, size: int, shape: str, fitted: Fit, cores: int) -> float:
    """What a sum takes on the machine that was measured."""
    messages, sent, waits = parts(ranks, size, shape, cores)
    return messages * fitted.alpha + sent * fitted.beta + waits * fitted.wait


def fit(points: Sequence[Point], shape: str, cores: int) -> Fit:
    """The alpha, beta and wait with the least squares of relative errors."""

    def of(points: Sequence[Point]) -> Fit:
        rows = [[x / took for x in parts(n, size, shape, cores)] for n, size, took in points]
        found = np.linalg.lstsq(np.array(rows), np.ones(len(rows)))[0]
        return Fit(*map(float, found))

    def error(fitted: Fit, point: Point) -> float:
        ranks, size, took = point
        return abs(here(ranks, size, shape, fitted, cores) / took - 1)

    fitted = of(points)
    alone = [error(fitted, point) for point in points if point[0] <= cores]
    crowded = [error(fitted, point) for point in points if point[0] > cores]
    others = [[each for each in points if each is not point] for point in points]
    blind = [error(of(rest), point) for rest, point in zip(others, points, strict=True)]
    return replace(fitted, errors={
        "all": alone + crowded, "a core for each rank": alone, "crowded": crowded,
        "each point left out of the fit": blind,
    })  # fmt: skip


SIMULATED = (8, "10 Gb/s")
"""Of which a step is measured whose sums end when a network's would."""


def gradient_sizes() -> list[int]:
    """The elements of the gradients of the measured network, weights and biases."""
    return [size for a, b in pairwise(LAYERS) for size in (a * b, b)]


def buffers(compute: float) -> list[tuple[int, float]]:
    """The bytes of each buffer, and when it is full in a step of `compute` seconds.

    Time goes as the multiplications: of each layer one product forward, then, from the last one on,
    one for the weights and, but in the first layer, one for what came in, after both of which the
    gradients are handed on.
    """
    sizes = [a * b for a, b in pairwise(LAYERS)]
    whole = 3 * sum(sizes) - sizes[0]
    passed, small, found = sum(sizes), 0, []
    for i in reversed(range(len(sizes))):
        passed += sizes[i] * (2 if i else 1)
        if 4 * sizes[i] >= LARGE:
            found.append((4 * sizes[i], compute * passed / whole))
        else:
            small += 4 * sizes[i]
        small += 4 * LAYERS[i + 1]
    return [*found, (small, compute)]


def predicted(ranks: int, compute: float, network: Network) -> Step:
    """A step of `compute` seconds whose gradients are summed beside it, buffer by buffer."""
    times = {}
    for shape in ("ring", "tree"):
        end = alone = 0.0
        for size, full in buffers(compute):
            took = seconds(ranks, size, shape, network)
            end, alone = max(end, full) + took, alone + took
        times[shape] = (max(end, compute), alone)
    shape = min(times, key=times.__getitem__)
    return Step(*times[shape], shape)
