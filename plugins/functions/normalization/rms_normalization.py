"""Normalization by the root of the mean square (Zhang and Sennrich 2019, arXiv:1910.07467)."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, number, real
from core.typing import AnyArray, NotNegative
from plugins.functions.derived import function_of


class RMSNormalization(FunctionNode):
    """Divide each example by the root of the mean square of its features, then scale.

    y = γ x / √(mean(x²) + ε), the mean over the last axis.

    Args:
        x: Floating, (..., k), k > 0.
        gamma: Scales, (k,), of the dtype of `x`.
        eps: Added to the mean square.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: Sizes or dtypes do not fit.

    Source: Zhang and Sennrich 2019 (arXiv:1910.07467), equation 4.

    >>> import core.functions as F, numpy as np
    >>> F.rms_normalization(np.array([[1, 7]], "f"), np.full(2, 5, "f"), eps=1e-8)
    variable([[1., 7.]], dtype=float32)
    """

    eps: NotNegative = 1e-5

    wide = True
    saved = ("scale",)
    domain = Domain(
        "(...x,k),(k)->(...x,k)",
        x=real(-3, 3),
        gamma=real(0.5, 2),
        settings={"eps": number(1e-2, 1e-1)},
        dims={"k": (1, 4)},
    )

    def recompute_scale(self, xp: Any, x: AnyArray) -> AnyArray:
        return 1.0 / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + self.eps)

    def compute(self, xp, x, gamma):
        self.scale = self.recompute_scale(xp, x)
        return x * self.scale * gamma

    def gradient_x(self, xp, g, x, gamma, scale):
        z, g = x * scale, g * gamma
        return scale * (g - z * xp.mean(g * z, axis=-1, keepdims=True))

    def gradient_gamma(self, xp, g, x, scale):
        return xp.sum(g * x * scale, axis=tuple(range(x.ndim - 1)))


rms_normalization = function_of(RMSNormalization, "rms_normalization")
