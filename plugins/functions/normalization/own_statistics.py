"""Normalization of each example by its own mean and variance."""

from __future__ import annotations

from typing import Any

from core import FunctionNode
from core.typing import AnyArray


class _OwnStatistics(FunctionNode):
    """y = gamma (x - mean) / sqrt(var + eps) + beta, with mean and variance of parts of x.

    A subclass has `eps` and says what the parts are: `parts(shape)` gives another shape of x and
    the axes of that; `spread(shape)` is the shape in which the parameters broadcast against x.
    """

    wide = True
    saved = ("mean", "scale")

    def recompute_mean(self: Any, xp: Any, x: AnyArray) -> AnyArray:
        shape, axes = self.parts(x.shape)
        return xp.mean(xp.reshape(x, shape), axis=axes, keepdims=True)

    def recompute_scale(self: Any, xp: Any, x: AnyArray) -> AnyArray:
        shape, axes = self.parts(x.shape)
        return self.scale_of(xp, xp.reshape(x, shape) - self.recompute_mean(xp, x), axes)

    def scale_of(self: Any, xp: Any, centred: AnyArray, axes: tuple[int, ...]) -> AnyArray:
        var = xp.mean(centred * centred, axis=axes, keepdims=True)
        return 1.0 / xp.sqrt(var + self.eps)

    def compute(self: Any, xp, x, gamma, beta):
        shape, axes = self.parts(x.shape)
        self.mean = self.recompute_mean(xp, x)
        y = xp.reshape(x, shape) - self.mean
        self.scale = self.scale_of(xp, y, axes)
        y *= self.scale
        y = xp.reshape(y, x.shape)
        y *= xp.reshape(gamma, self.spread(x.shape))
        y += xp.reshape(beta, self.spread(x.shape))
        return y

    def gradient(self: Any, xp, g, x, gamma, mean, scale, needs_grad):
        (shape, axes), spread = self.parts(x.shape), self.spread(x.shape)
        others = tuple([i for i, n in enumerate(spread) if n == 1])
        z = (xp.reshape(x, shape) - mean) * scale
        gx = ggamma = gbeta = None
        if needs_grad[1]:
            ggamma = xp.reshape(xp.sum(g * xp.reshape(z, x.shape), axis=others), gamma.shape)
        if needs_grad[2]:
            gbeta = xp.reshape(xp.sum(g, axis=others), gamma.shape)
        if needs_grad[0]:
            g = xp.reshape(g * xp.reshape(gamma, spread), shape)
            along = xp.mean(g * z, axis=axes, keepdims=True)
            gx = scale * (g - xp.mean(g, axis=axes, keepdims=True) - z * along)
            gx = xp.reshape(gx, x.shape)
        return gx, ggamma, gbeta
