"""The rectified linear unit that leaks."""

from __future__ import annotations

from core import Domain, Elementwise, number, real
from plugins.functions.derived import function_of


class LeakyReLU(Elementwise):
    """Scale negative elements down: x for x >= 0, otherwise slope * x.

    The derivative at 0 is taken as `slope`.

    Args:
        x: Floating, of any shape.
        slope: The factor for negative elements.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    Source: Maas et al. 2013, "Rectifier nonlinearities improve neural network acoustic models".

    >>> import core.functions as F, numpy as np
    >>> F.leaky_relu(np.array([-2, 3], "f"), slope=0.5)
    variable([-1.,  3.], dtype=float32)
    """

    slope: float = 0.2
    domain = Domain(x=real(-3, 3), kinks=(0,), settings={"slope": number(0.0, 0.5)})

    def compute(self, xp, x):
        return xp.where(x >= 0, x, x * self.slope)

    def gradient(self, xp, g, x):
        return xp.where(x > 0, g, g * self.slope)


leaky_relu = function_of(LeakyReLU, "leaky_relu")
