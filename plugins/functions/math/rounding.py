"""Rounding to whole numbers."""

from __future__ import annotations

from core import Domain, Elementwise, real
from plugins.functions.derived import function_of

WHOLE = {"gradient": "integer-valued"}


class Floor(Elementwise):
    """Round each element down. The derivative is 0.

    >>> import core.functions as F, numpy as np
    >>> F.floor(np.array([-1.5, 1.5], "f"))
    variable([-2.,  1.], dtype=float32)
    """

    label = "floor"
    domain = Domain(x=real(-1.9, 1.9), kinks=(-1, 0, 1), leave_out=WHOLE)

    def compute(self, xp, x):
        return xp.floor(x)

    def gradient(self, xp, g):
        return g * 0.0


class Ceil(Elementwise):
    """Round each element up. The derivative is 0.

    >>> import core.functions as F, numpy as np
    >>> F.ceil(np.array([-1.5, 1.5], "f"))
    variable([-1.,  2.], dtype=float32)
    """

    label = "ceil"
    domain = Domain(x=real(-1.9, 1.9), kinks=(-1, 0, 1), leave_out=WHOLE)

    def compute(self, xp, x):
        return xp.ceil(x)

    def gradient(self, xp, g):
        return g * 0.0


class Fix(Elementwise):
    """Round each element towards 0. The derivative is 0.

    >>> import core.functions as F, numpy as np
    >>> F.fix(np.array([-1.5, 1.5], "f"))
    variable([-1.,  1.], dtype=float32)
    """

    label = "fix"
    domain = Domain(x=real(-1.9, 1.9), kinks=(-1, 1), leave_out=WHOLE)

    def compute(self, xp, x):
        return xp.trunc(x)

    def gradient(self, xp, g):
        return g * 0.0


floor = function_of(Floor, "floor")
ceil = function_of(Ceil, "ceil")
fix = function_of(Fix, "fix")
