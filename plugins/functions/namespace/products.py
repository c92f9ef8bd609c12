"""Products of vectors and of arrays over several axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core import Variable, as_variable
from core.errors.kinds import checked
from plugins.functions.array.axis_order import known_axes, moveaxis
from plugins.functions.array.cast import cast, halves_widened, is_complex
from plugins.functions.math.sum import Sum
from plugins.functions.math.tensordot import axes_over, contracted
from plugins.functions.namespace.plain import without_gradient
from plugins.functions.namespace.promotion import is_integral, promoted


@checked
def vecdot(x1: Any, x2: Any, axis: int = -1) -> Variable:
    """The products along an axis, summed; of complex numbers those with the conjugates of x1.

    Complex products have no gradient.

    >>> import numpy as np
    >>> vecdot(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    variable(11.)
    """
    x1, x2 = map(as_variable, promoted(x1, x2))
    if is_complex(x1, x2):
        return without_gradient("vecdot", x1, x2, axis=axis)
    place, other = [known_axes("vecdot", axis, x.ndim)[0] - x.ndim for x in (x1, x2)]
    if place != other:  # counted from the front, of arrays with more axes and with fewer
        return vecdot(moveaxis(x1, place, -1), moveaxis(x2, other, -1))
    if x1.shape[place] != x2.shape[place]:
        raise ValueError(
            f"vecdot: expected as many elements along axis {axis} of both, got "
            f"{x1.shape[place]} and {x2.shape[place]}"
        )
    if (widened := halves_widened(x1, x2)) is not None:
        return cast(vecdot(widened[0], widened[1], place), x1.dtype)
    return Sum.call(x1 * x2, place)


@checked
def tensordot(x1: Any, x2: Any, axes: int | Sequence[int | Sequence[int]] = 2) -> Variable:
    """The products over axes of both arrays: the last of x1 with the first of x2, or those named.

    >>> import numpy as np
    >>> tensordot(np.ones((2, 3)), np.ones((3, 4)), axes=1).shape
    (2, 4)
    """
    if is_integral(x1, x2):
        return without_gradient("tensordot", x1, x2, axes=axes)
    x1, x2 = map(as_variable, promoted(x1, x2))
    return contracted(x1, x2, *axes_over(x1, x2, axes))
