"""One element of each row."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, anything, integers
from plugins.functions.derived import function_of
from plugins.functions.labels import refuse_outside, widened


class SelectItem(FunctionNode):
    """Select one element of each row by its index: x[i, t[i]].

    The gradient goes to these places.

    Args:
        x: Of any dtype, (n, k).
        t: Integers, (n,), each in [0, k).

    Returns:
        (n,), and the dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        OutOfRange: An element of `t` is not in [0, k); where devices run ahead, under
            `core.config.debug`.

    >>> import core.functions as F, numpy as np
    >>> F.select_item(np.array([[1, 2], [3, 4]], "f"), np.array([1, 0]))
    variable([2., 3.], dtype=float32)
    """

    domain = Domain("(n,k),(n)->(n)", x=anything(), t=integers(0, "k"), dims={"k": (1, 4)})

    def compute(self, xp, x, t):
        self.check_values(xp, x, t)
        return xp.take_along_axis(x, t[:, None], axis=1)[:, 0]

    def check_values(self, xp: Any, x: Any, t: Any) -> None:
        """Refuse places that are not there."""
        refuse_outside(
            "SelectItem", self.backend, "t", t, x.shape[1], "It holds numbers of columns of x."
        )

    def gradient_x(self, xp, g, t):
        return PlaceItem(self.input_shape(0)[1]).evaluate(g, t)


class PlaceItem(FunctionNode):
    """A row of zeros for each element, with that element at place t[i]: SelectItem's adjoint."""

    length: int

    def compute(self, xp, x, t):
        t = widened(xp, t)
        places = xp.arange(self.length, dtype=t.dtype, device=t.device)
        return xp.where(places == t[:, None], x[:, None], 0)

    def gradient_x(self, xp, g, t):
        return SelectItem().evaluate(g, t)


select_item = function_of(SelectItem, "select_item")
