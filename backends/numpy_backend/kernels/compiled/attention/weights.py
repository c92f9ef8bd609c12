"""The weights of attention, row by row in whole vectors: lanes beyond what a query sees are 0.

Row r of a block sees `own + r * more` keys, and not more than `m`.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

from backends.numpy_backend.kernels.emitter import Emitter, Number, emitted
from backends.numpy_backend.kernels.vectors import Vector, exp


class _Row:
    """What a query sees, as vectors."""

    def __init__(self, e: Emitter, count: Number) -> None:
        self.e = e
        self.count = count
        self.dtype = "float32" if e.bytes == 4 else "float64"
        self.zeros = e.broadcast(e.constant(0.0))

    def vectors(self) -> Iterator[tuple[Number, Any]]:
        """For each vector where it begins, and of the last one which of its lanes are too far."""
        whole = self.count & -self.e.lanes
        with self.e.loop(whole, self.e.lanes) as j:
            yield j, None
        with self.e.when(self.count.is_not(whole)):
            yield whole, self.e.lanes_from(self.count - whole)

    def seen(self, x: Any, behind: Any, otherwise: Any = None) -> Any:
        """The vector, with 0 or something else in the lanes that are too far."""
        if behind is None:
            return x
        return self.e.where(behind, self.zeros if otherwise is None else otherwise, x)

    def exponential(self, product: Any, scale: Any, shift: Any, behind: Any) -> Any:
        """e^(product scale - shift), and 0 where it is too far: nothing is looked at there."""
        # Scores are rounded, as those were of which the greatest one is `shift`: what rounding took
        # from a huge one has an infinite exponential.
        x = self.e.builder.fsub(self.e.builder.fmul(product, scale), shift)
        x = self.seen(x, behind)  # of what lies there the result may be a number that takes long
        return self.seen(exp(Vector(self.e, x, self.dtype)).value, behind)

    def clear(self, line: Any, lanes: Number) -> None:
        """Put 0 behind the last vector, up to `lanes`."""
        e = self.e
        with e.loop(lanes, e.lanes, self.count + (e.lanes - 1) & -e.lanes) as j:
            e.store(self.zeros, e.at(line, j))


@emitted
def weigh(
    e: Emitter, weights: Any, pitch: Any, rows: Any, own: Any, more: Any, m: Any, lanes: Any,
    scale: Any, log_total: Any, at: Any, total: Any,
) -> None:  # fmt: skip
    """Exponentials of scores less the greatest, which goes to `log_total`; the sum to `total`."""
    builder, scale = e.builder, e.broadcast(scale)
    with e.loop(rows) as r:
        row, line = _Row(e, (own + r * more).least(m)), e.at(weights, r * pitch)
        tops = e.variable(e.broadcast(e.constant(-inf)))
        for j, behind in row.vectors():
            most = tops.get()
            x = row.seen(builder.fmul(e.load(e.at(line, j)), scale), behind, most)
            tops.set(e.where(builder.fcmp_ordered(">", x, most), x, most))
        top = e.greatest(tops.get())
        sums, shift = e.variable(row.zeros), e.broadcast(top)
        for j, behind in row.vectors():
            place = e.at(line, j)
            share = row.exponential(e.load(place), scale, shift, behind)
            e.store(share, place)
            sums.set(builder.fadd(sums.get(), share))
        [whole] = e.sums([sums.get()])
        e.write(top, e.at(log_total, at + r))
        e.write(whole, e.at(total, r))
        row.clear(line, lanes)


@emitted
def weigh_back(
    e: Emitter, weights: Any, through: Any, pitch: Any, rows: Any, own: Any, more: Any, m: Any,
    lanes: Any, scale: Any, log_total: Any, at: Any,
) -> None:  # fmt: skip
    """Weights of scores, and gradients of scores in the place of those `through` the weights."""
    builder, scale = e.builder, e.broadcast(scale)
    with e.loop(rows) as r:
        row = _Row(e, (own + r * more).least(m))
        line, given = e.at(weights, r * pitch), e.at(through, r * pitch)
        sums = e.variable(row.zeros)
        shift = e.broadcast(e.read(e.at(log_total, at + r)))
        for j, behind in row.vectors():
            place = e.at(line, j)
            share = row.exponential(e.load(place), scale, shift, behind)
            passed = row.seen(e.load(e.at(given, j)), behind)
            e.store(share, place)
            sums.set(e.fused(share, passed, sums.get()))
        [whole] = e.sums([sums.get()])
        mean = e.broadcast(whole)
        for j, behind in row.vectors():
            share, place = e.load(e.at(line, j)), e.at(given, j)
            apart = builder.fmul(builder.fsub(e.load(place), mean), scale)
            e.store(row.seen(builder.fmul(share, apart), behind), place)
        row.clear(line, lanes)
        row.clear(given, lanes)


@emitted
def share_out(e: Emitter, results: Any, pitch: Any, rows: Any, total: Any) -> None:
    """Divide each row by its total."""
    with e.loop(rows) as r:
        share = e.broadcast(e.builder.fdiv(e.constant(1.0), e.read(e.at(total, r))))
        with e.loop(pitch, e.lanes) as j:
            place = e.at(results, r * pitch + j)
            e.store(e.builder.fmul(e.load(place), share), place)
