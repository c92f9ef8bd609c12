"""Rectified linear units with a ceiling."""

from __future__ import annotations

from core import Domain, Elementwise, Variable, number, real
from core.typing import Array
from plugins.functions.derived import function_of


class ClippedReLU(Elementwise):
    """Clip each element to between 0 and `z`: min(max(x, 0), z).

    The derivative is 1 strictly between 0 and `z`, and 0 elsewhere; so it is at 0 and at `z`.

    Args:
        x: Floating, of any shape.
        z: The ceiling, greater than 0.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    Source: Hannun et al. 2014 (arXiv:1412.5567), section 2.

    >>> import core.functions as F, numpy as np
    >>> F.clipped_relu(np.array([-1, 2, 99], "f"))
    variable([ 0.,  2., 20.], dtype=float32)
    """

    z: float = 20.0
    domain = Domain(x=real(-3, 4), kinks=(0, "z"), settings={"z": number(1.0, 3.0)})

    @property
    def cap(self) -> float:
        """The ceiling, by the name that it had as an attribute."""
        return self.z

    def compute(self, xp, x):
        return xp.minimum(xp.maximum(x, 0.0), self.z)

    def gradient(self, xp, g, x):
        return xp.where(x > 0, xp.where(x < self.z, g, 0.0), 0.0)


clipped_relu = function_of(ClippedReLU, "clipped_relu")


def relu6(x: Array) -> Variable:
    """Apply the rectified linear unit with the ceiling 6: min(max(x, 0), 6).

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    Source: Krizhevsky 2010, "Convolutional deep belief networks on CIFAR-10".

    >>> import core.functions as F, numpy as np
    >>> F.relu6(np.array([-1, 2, 99], "f"))
    variable([0., 2., 6.], dtype=float32)
    """
    return ClippedReLU.call(x, 6.0)
