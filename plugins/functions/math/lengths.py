"""Lengths of vectors."""

from __future__ import annotations

from math import inf

from core import Domain, FunctionNode, axes, choice, real
from core.typing import Axis
from plugins.functions.axes import axes_of, kept_shape


class EuclideanNorm(FunctionNode):
    """The root of the sum of squares over axes; the gradient g x / y is taken as 0 where y is 0."""

    axis: Axis = None
    keepdims: bool = False
    wide = True
    domain = Domain(
        "(...)->(...b)",
        x=real(0.3, 3),
        settings={"axis": axes("x", many=True, none=True), "keepdims": choice(False, True)},
    )

    def compute(self, xp, x):
        return xp.sqrt(xp.sum(x * x, axis=self.axis, dtype=x.dtype, keepdims=self.keepdims))

    def gradient(self, xp, g, x, out):
        kept = kept_shape(x.shape, self.axis)
        ratio = g / xp.where(out == 0, 1.0, out)
        return x * xp.reshape(ratio, kept)


class PowerNorm(FunctionNode):
    """The root of order p of the sum of |x|^p over axes; the gradient is g sign(x) (|x| / y)^(p-1).

    It is taken as 0 where x or y is 0. Powers are taken of x over the greatest size, or the least
    for a negative order, so that neither these nor their sums leave the dtype.
    """

    ord: float
    axis: Axis = None
    keepdims: bool = False
    wide = True
    domain = Domain(
        "(...)->(...b)",
        x=real(0.3, 3),
        settings={
            "ord": choice(3.0, 1.5, 0.5, -2.0),
            "axis": axes("x", many=True, none=True),
            "keepdims": choice(False, True),
        },
    )

    def compute(self, xp, x):
        size = xp.abs(x)
        if 0 in x.shape:  # the root of nothing, which is infinite for a negative order
            nothing = xp.sum(size, axis=self.axis, keepdims=self.keepdims)
            return nothing if self.ord > 0 else nothing + inf
        one = (xp.max if self.ord > 0 else xp.min)(size, axis=self.axis, keepdims=True)
        one = xp.where((one > 0) & xp.isfinite(one), one, xp.ones_like(one))
        powers = xp.sum((size / one) ** self.ord, axis=self.axis, dtype=x.dtype, keepdims=True)
        y = powers ** (1 / self.ord) * one
        return y if self.keepdims else xp.squeeze(y, axis=axes_of(self.axis, x.ndim))

    def gradient(self, xp, g, x, out):
        kept = kept_shape(x.shape, self.axis)
        g, out = xp.reshape(g, kept), xp.reshape(out, kept)
        some = (x != 0) & (out != 0)
        size = xp.where(some, xp.abs(x) / xp.where(out == 0, 1.0, out), 1.0)
        return xp.where(some, g * xp.sign(x) * size ** (self.ord - 1), 0.0)
