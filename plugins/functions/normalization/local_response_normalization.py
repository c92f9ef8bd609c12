"""Division by the strength of neighbouring channels (Krizhevsky, Sutskever and Hinton 2012)."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, choice, number, real
from core.typing import AnyArray, Count
from plugins.functions.derived import function_of


class NeighbourSum(FunctionNode):
    """The sum of each channel and its neighbours, n // 2 on either side; its own adjoint."""

    n: Count = 5

    wide = True
    domain = Domain(
        "(b,c,...s)->(b,c,...s)",
        x=real(-3, 3),
        settings={"n": choice(1, 2, 3, 5)},
        dims={"...s": (0, 2)},
    )

    def compute(self, xp, x):
        y, put_sum = xp.asarray(x, copy=True), self.backend.put_sum
        for step in range(1, min(self.n // 2, x.shape[1] - 1) + 1):
            y = put_sum(y, (slice(None), slice(step, None), ...), x[:, :-step, ...])
            y = put_sum(y, (slice(None), slice(None, -step), ...), x[:, step:, ...])
        return y

    def gradient(self, xp, g):
        return NeighbourSum(self.n).evaluate(g)


class LocalResponseNormalization(FunctionNode):
    """Divide by the strength of neighbouring channels at the same place.

    y_i = x_i / (k + α Σ_j x_j²)^β, with j from i - n // 2 to i + n // 2 where there are channels.

    Args:
        x: Floating, (b, c, ...).
        n: How many channels are neighbours, the channel itself included.
        k: Added to the sum, above 0.
        alpha: Weight of the squares.
        beta: Exponent.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating, or has no channels.

    Source: Krizhevsky, Sutskever and Hinton 2012, "ImageNet classification with deep convolutional
    neural networks", section 3.3.

    >>> import core.functions as F, numpy as np
    >>> F.local_response_normalization(np.array([[3, 4]], "f"), k=0, alpha=1, beta=0.5)
    variable([[0.6, 0.8]], dtype=float32)
    """

    n: Count = 5
    k: float = 2
    alpha: float = 1e-4
    beta: float = 0.75

    wide = True
    saved = ("strength",)
    domain = Domain(
        "(b,c,...s)->(b,c,...s)",
        x=real(-3, 3),
        settings={
            "n": choice(1, 3, 5),
            "k": number(1.0, 2.0),
            "alpha": number(0.1, 0.5),
            "beta": choice(0.75, 0.5, 1.0),
        },
        dims={"...s": (0, 2)},
    )

    def recompute_strength(self, xp: Any, x: AnyArray) -> AnyArray:
        return NeighbourSum(self.n).evaluate(x * x) * self.alpha + self.k

    def compute(self, xp, x):
        self.strength = self.recompute_strength(xp, x)
        return x / self.strength**self.beta

    def gradient(self, xp, g, x, strength):
        scaled = g / strength**self.beta
        shared = NeighbourSum(self.n).evaluate(scaled * x / strength)
        return scaled - x * shared * (2.0 * self.alpha * self.beta)


local_response_normalization = function_of(
    LocalResponseNormalization, "local_response_normalization"
)
