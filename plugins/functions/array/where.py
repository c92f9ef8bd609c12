"""A choice for each element."""

from __future__ import annotations

from typing import Any

from core import Domain, Elementwise, Variable, anything, boolean, choice, real
from core.arrays.backend import BACKENDS, of
from core.arrays.spec import spec_of
from core.errors.scalars import is_number
from core.typing import Operand


class Where(Elementwise):
    """x where the condition holds, else y."""

    inline = True
    domain = Domain(condition=boolean(), x=anything(), y=anything())

    def compute(self, xp, condition, x, y):
        return xp.where(condition, x, y)

    def gradient_x(self, xp, g, condition):
        return xp.where(condition, g, xp.zeros_like(g))

    def gradient_y(self, xp, g, condition):
        return xp.where(condition, xp.zeros_like(g), g)


class WhereNumber(Elementwise):
    """x where the condition holds, else a number; with `otherwise` x where it does not.

    The number keeps the dtype of x, and no array is broadcast for it.
    """

    number: float
    otherwise: bool = False
    domain = Domain(
        condition=boolean(),
        x=real(-3, 3),
        settings={"number": choice(0.0, -1.5), "otherwise": choice(False, True)},
    )

    def compute(self, xp, condition, x):
        if self.otherwise:
            return xp.where(condition, self.number, x)
        return xp.where(condition, x, self.number)

    def gradient_x(self, xp, g, condition):
        return xp.where(condition, 0.0, g) if self.otherwise else xp.where(condition, g, 0.0)


def where(condition: Operand, x: Operand, y: Operand) -> Variable:
    """Choose elements of `x` where the condition holds, and of `y` otherwise.

    Args:
        condition: Truth values, an array or a single one.
        x: Of any dtype.
        y: Of the dtype of `x`. One of `x` and `y` may be a number.

    Returns:
        The common shape of the three, and the dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> x = np.array([-1, 2], "f")
    >>> F.where(x > 0, x, np.zeros(2, "f"))
    variable([0., 2.], dtype=float32)
    """
    if type(condition) not in BACKENDS and is_number(condition):  # as what `array.max() > 0` gives
        condition = of(*[a for a in (x, y) if not is_number(a)]).asarray(condition)
    if type(y) in _PLAIN and _is_real(x):
        return WhereNumber.call(condition, x, y)
    if type(x) in _PLAIN and _is_real(y):
        return WhereNumber.call(condition, y, x, True)
    return Where.call(condition, x, y)


_PLAIN = (float, int)


def _is_real(x: Any) -> bool:
    """Whether numbers beside an array or a Variable take its dtype in every library."""
    spec = x._spec if isinstance(x, Variable) else spec_of(x) if type(x) in BACKENDS else None
    return spec is not None and spec.kind == "f"
