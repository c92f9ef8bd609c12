"""A model of sums over ranks: messages take a latency alpha, and beta for each byte.

A ring (or direct exchange of parts) of N ranks sends 2 (N - 1) messages of n / N bytes one after
another, a tree 2 log2 N messages of n bytes (Hockney 1994; Thakur, Rabenseifner and Gropp 2005,
"Optimization of collective communication operations in MPICH"). Where more ranks than cores share a
machine, they take turns. In a step on a network the sum of each buffer begins when the backward
pass has filled it, and the one before has ended; what ends after the arithmetic is added to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, log2
from statistics import median

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
    """A network fitted to what was measured, and how far off it is."""

    error: float
    worst: float


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


def fit(points: Sequence[Point], shape: str, cores: int) -> Fit:
    """The alpha and beta with the least squares of relative errors."""
    rows = []
    for ranks, size, took in points:
        turns = max(1.0, ranks / cores)
        messages, sent = terms(ranks, size, shape)
        rows.append((messages * turns / took, sent * turns / took))
    aa, ab, bb = (sum(x * y for x, y in pairs) for pairs in (
        [(a, a) for a, _ in rows], rows, [(b, b) for _, b in rows]))  # fmt: skip
    a, b = sum(a for a, _ in rows), sum(b for _, b in rows)
    determinant = aa * bb - ab * ab
    alpha, beta = (a * bb - b * ab) / determinant, (b * aa - a * ab) / determinant
    errors = [abs(alpha * a + beta * b - 1) for a, b in rows]
    return Fit(alpha, beta, median(errors), max(errors))


SIMULATED = (8, "10 Gb/s")
"""Of which a step is measured whose sums end when a network's would."""


def gradient_bytes() -> int:
    """Bytes of the gradients of the measured network."""
    return sum(size for size, _ in buffers(1.0))


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
