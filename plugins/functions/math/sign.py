"""Signs."""

from __future__ import annotations

from core import Domain, Elementwise, numeric
from plugins.functions.derived import function_of


class Sign(Elementwise):
    """Compute the sign of each element: -1, 0 or 1. The derivative is 0.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.sign(np.array([-2, 0, 3], "f"))
    variable([-1.,  0.,  1.], dtype=float32)
    """

    label = "sign"
    inline = True
    domain = Domain(
        x=numeric(-3, 3),
        kinks=(0,),
        leave_out={"gradient": "integer-valued"},
    )

    def compute(self, xp, x):
        return xp.sign(x)

    def gradient(self, xp, g):
        return g * 0.0


sign = function_of(Sign, "sign")
