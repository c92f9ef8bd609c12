"""Layer normalization (Ba, Kiros and Hinton 2016, arXiv:1607.06450)."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from core import Domain, Variable, as_variable, choice, number, real
from core.errors import InvalidType
from core.errors.kinds import checked
from core.typing import Array, Axes, NotNegative, Shape
from plugins.functions.axes import axes_within
from plugins.functions.normalization.own_statistics import _OwnStatistics


def _fitting(shapes: dict[str, Any]) -> list[tuple[int, ...]]:
    """The axes along which x has the shape of its parameters and is not empty."""
    x, gamma = shapes["x"], shapes["gamma"]
    some = combinations(range(len(x)), len(gamma))
    return [a for a in some if tuple([x[i] for i in a]) == gamma and 0 not in gamma]


def _along_axes(f: Any, x: Any, gamma: Any, beta: Any) -> None:
    """The parameters have the shape of x along the axes."""
    for i, a in enumerate(f.axis):
        if gamma.shape[i] != x.shape[a]:
            place = f"gamma.shape[{i}] == x.shape[{a}]"
            raise InvalidType(place, f"{gamma.shape[i]} != {x.shape[a]}")


class LayerNormalization(_OwnStatistics):
    """Mean and variance over some axes of x, a scale and a shift for each place along them."""

    eps: NotNegative = 1e-5
    axis: tuple[int, ...] = (1,)

    domain = Domain(
        "(...x),(...p),(...p)->(...x)",
        x=real(-3, 3),
        gamma=real(0.5, 2),
        beta=real(-1, 1),
        settings={"eps": number(1e-2, 1e-1), "axis": choice(_fitting)},
        dims={"...x": (1, 3), "...p": (1, 2)},
        valid=(
            "gamma.ndim > 0",
            "gamma.ndim == len(axis)",
            "x.ndim > max(axis)",
            _along_axes,
            "gamma.size > 0",
        ),
    )

    def parts(self, shape: Shape) -> tuple[Shape, tuple[int, ...]]:
        return shape, self.axis

    def spread(self, shape: Shape) -> Shape:
        return tuple([n if i in self.axis else 1 for i, n in enumerate(shape)])


@checked
def layer_normalization(
    x: Array, gamma: Array, beta: Array, eps: float = 1e-5, *, axis: Axes = None
) -> Variable:
    """Normalize each example by the mean and variance of its own features.

    y = γ (x - μ) / √(σ² + ε) + β, with μ and σ² (divided by the count) over `axis`.

    Args:
        x: Floating, (n, k) or of any other shape that has the axes.
        gamma: Scales, of the shape of `x` along `axis`.
        beta: Shifts, alike.
        eps: Added to the variance.
        axis: An axis or several, in the order of `x`; None takes the last ones, as many as `gamma`
            has.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit, or there is nothing along an axis.

    Source: Ba, Kiros and Hinton 2016 (arXiv:1607.06450), equation 4.

    >>> import core.functions as F, numpy as np
    >>> x = np.array([[1, 3], [10, 30]], "f")
    >>> F.layer_normalization(x, np.ones(2, "f"), np.zeros(2, "f"), eps=1e-8)
    variable([[-1.,  1.],
              [-1.,  1.]], dtype=float32)
    """
    x, gamma = as_variable(x), as_variable(gamma)
    if axis is None:
        axes = tuple(range(max(x.ndim - gamma.ndim, 0), x.ndim))
    else:
        axes = axes_within("layer_normalization", axis, x.ndim)
    return LayerNormalization.call(x, gamma, beta, eps, axes)
