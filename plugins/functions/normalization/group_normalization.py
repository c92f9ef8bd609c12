"""Group normalization (Wu and He 2018, arXiv:1803.08494)."""

from __future__ import annotations

from math import prod

from core import Domain, Variable, choice, number, real
from core.errors.kinds import checked
from core.typing import Array, NotNegative, Shape
from plugins.functions.normalization.own_statistics import _OwnStatistics


class GroupNormalization(_OwnStatistics):
    """Mean and variance over groups of channels of an example, a scale and shift for each channel.

    With one channel a group this is instance normalization.
    """

    groups: int
    eps: NotNegative = 1e-5

    domain = Domain(
        "(n,c,...s),(c),(c)->(n,c,...s)",
        x=real(-3, 3),
        gamma=real(0.5, 2),
        beta=real(-1, 1),
        settings={
            "groups": choice(lambda shapes: [g for g in (1, 2, 3, 4) if shapes["x"][1] % g == 0]),
            "eps": number(1e-2, 1e-1),
        },
        dims={"...s": (0, 2)},
        valid=("c % groups == 0", "prod(x.shape[1:]) > 0"),
    )

    def parts(self, shape: Shape) -> tuple[Shape, tuple[int, ...]]:
        return (shape[0], self.groups, prod(shape[1:]) // self.groups), (2,)

    def spread(self, shape: Shape) -> Shape:
        return (1, shape[1], *(1,) * (len(shape) - 2))


@checked
def group_normalization(
    x: Array, groups: int, gamma: Array, beta: Array, eps: float = 1e-5
) -> Variable:
    """Normalize each example by the mean and variance of groups of its channels.

    y = γ (x - μ) / √(σ² + ε) + β, with μ and σ² (divided by the count) over the channels of a group
    and all places.

    Args:
        x: Floating, (n, c, ...).
        groups: Into how many groups of neighbouring channels c is divided. 1 takes all channels
            together; c takes each alone, which is instance normalization.
        gamma: Scales, (c,), of the dtype of `x`.
        beta: Shifts, alike.
        eps: Added to the variance.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: Sizes or dtypes do not fit, or c is not a multiple of `groups`.
        ValueError: `groups` is less than 1.

    Source: Wu and He 2018 (arXiv:1803.08494), equations 1 to 6.

    >>> import core.functions as F, numpy as np
    >>> x = np.array([[1, 3, 10, 30]], "f")
    >>> F.group_normalization(x, 2, np.ones(4, "f"), np.zeros(4, "f"), eps=1e-8)
    variable([[-1.,  1., -1.,  1.]], dtype=float32)
    """
    if groups < 1:
        raise ValueError(f"group_normalization: expected at least 1 group, got {groups}")
    return GroupNormalization.call(x, gamma, beta, groups, eps)
