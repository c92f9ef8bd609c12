"""Values kept between two bounds."""

from __future__ import annotations

from core import Domain, Elementwise, Variable, choice, number, real
from core.errors.kinds import checked
from core.typing import Array


class Clip(Elementwise):
    """x within [x_min, x_max]; the derivative is 1 there, bounds included, else 0."""

    x_min: float | None
    x_max: float | None
    domain = Domain(
        x=real(-4, 4, kinks=("x_min", "x_max")),
        settings={"x_min": choice(None, -2.0, -0.5), "x_max": number(0.5, 2.0)},
    )

    def compute(self, xp, x):
        return xp.clip(x, self.x_min, self.x_max)

    def gradient(self, xp, g, x):
        if self.x_min is not None:
            g = xp.where(x >= self.x_min, g, 0.0)
        return g if self.x_max is None else xp.where(x <= self.x_max, g, 0.0)


@checked
def clip(x: Array, x_min: float | None, x_max: float | None) -> Variable:
    """Clip each element to between `x_min` and `x_max`.

    The derivative at the bounds is taken as 1.

    Args:
        x: Floating, of any shape.
        x_min: The least value, or None.
        x_max: The greatest value, or None; not below `x_min`. One of the two is not None.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.
        ValueError: `x_min` is greater than `x_max`, or there are no bounds.

    >>> import core.functions as F, numpy as np
    >>> F.clip(np.array([-9, 0, 9], "f"), -1, 2)
    variable([-1.,  0.,  2.], dtype=float32)
    """
    if x_min is None and x_max is None:
        raise ValueError("clip: expected a bound at least, got None for x_min and for x_max")
    if x_min is not None and x_max is not None and x_min > x_max:
        raise ValueError(f"clip: expected x_min <= x_max, got {x_min} > {x_max}")
    return Clip.call(x, x_min, x_max)
