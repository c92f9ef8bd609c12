"""Statistics over axes, with the standard's arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core import Variable, as_variable
from core.errors.kinds import checked
from core.typing import Array, Axes, DType
from plugins.functions.array.axis_order import known_axes
from plugins.functions.array.cast import cast, halves_widened
from plugins.functions.array.concat import Concat
from plugins.functions.axes import count_along
from plugins.functions.math.average import Mean
from plugins.functions.math.cumulative import Cumprod, Cumsum
from plugins.functions.math.extrema import Max, Min
from plugins.functions.math.lengths import EuclideanNorm
from plugins.functions.math.prod import Prod
from plugins.functions.math.sum import Sum
from plugins.functions.namespace.creation import full
from plugins.functions.namespace.operators import widened
from plugins.functions.namespace.plain import without_gradient
from plugins.functions.namespace.promotion import is_floating


def _reduction(op: Any, name: str) -> Callable[..., Variable]:
    def function(x: Any, axis: Axes = None, keepdims: bool = False) -> Variable:
        if is_floating(x):
            return op.call(x, axis, keepdims)
        return without_gradient(name, x, axis=axis, keepdims=keepdims)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The array standard's `{name}`, differentiable on floating arrays."
    return checked(function)


max = _reduction(Max, "max")
min = _reduction(Min, "min")
mean = _reduction(Mean, "mean")
_prod = _reduction(Prod, "prod")


@checked
def prod(x: Array, axis: Axes = None, dtype: DType = None, keepdims: bool = False) -> Variable:
    """The product over axes, in the dtype of x unless another is given.

    >>> import numpy as np
    >>> prod(np.array([2.0, 3.0]))
    variable(6.)
    """
    x = widened(x, dtype)
    y = _prod(x, axis, keepdims)
    return y if y.dtype == x.dtype else cast(y, x.dtype)  # libraries widen integers of their own


@checked
def var(x: Array, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Variable:
    """The mean squared distance from the mean; `correction` is taken off the count.

    It is NaN where nothing is left of the count.

    >>> import numpy as np
    >>> var(np.array([1.0, 3.0])), var(np.array([1.0, 3.0]), correction=1)
    (variable(1.), variable(2.))
    """
    x = as_variable(x)
    if wide := halves_widened(x):  # squares may be beyond 16 bits
        return cast(var(wide[0], axis, correction, keepdims), x.dtype)
    distance = x - Mean.call(x, axis, True)
    squares = distance * distance
    if correction == 0:
        return Mean.call(squares, axis, keepdims)
    return Sum.call(squares, axis, keepdims) * _inverse(count_along(x.shape, axis) - correction)


@checked
def std(x: Array, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Variable:
    """The square root of `var`; where nothing varies its gradient is taken as 0.

    >>> import numpy as np
    >>> std(np.array([1.0, 3.0]))
    variable(1.)
    """
    x = as_variable(x)
    if wide := halves_widened(x):
        return cast(std(wide[0], axis, correction, keepdims), x.dtype)
    distance = x - Mean.call(x, axis, True)
    count = count_along(x.shape, axis)
    return EuclideanNorm.call(distance, axis, keepdims) * _inverse(count - correction) ** 0.5


def _inverse(count: float) -> float:
    return 1 / count if count > 0 else float("nan")


@checked
def cumulative_sum(
    x: Array, axis: int | None = None, dtype: DType = None, include_initial: bool = False
) -> Variable:
    """The sums up to each element along an axis, which only a vector may leave out.

    With `include_initial` the line begins with the sum of nothing, 0. Integers are added in the
    default integer, at least.

    >>> import numpy as np
    >>> cumulative_sum(np.array([1.0, 2.0, 3.0]), include_initial=True)
    variable([0., 1., 3., 6.])
    """
    return _cumulative("cumulative_sum", Cumsum, x, axis, dtype, include_initial)


@checked
def cumulative_prod(
    x: Array, axis: int | None = None, dtype: DType = None, include_initial: bool = False
) -> Variable:
    """The products up to each element along an axis, which only a vector may leave out.

    With `include_initial` the line begins with the product of nothing, 1. Integers are multiplied
    in the default integer, at least.

    >>> import numpy as np
    >>> cumulative_prod(np.array([1.0, 2.0, 3.0]))
    variable([1., 2., 6.])
    """
    return _cumulative("cumulative_prod", Cumprod, x, axis, dtype, include_initial)


def _cumulative(name: str, op: Any, x: Any, axis: Any, dtype: DType, include_initial: bool) -> Any:
    x = widened(x, dtype)
    if axis is None and x.ndim != 1:
        raise ValueError(f"{name}: expected an axis, as x has {x.ndim} of them")
    (axis,) = known_axes(name, 0 if axis is None else axis, x.ndim)
    y = op.call(x, axis)
    if not include_initial:
        return y
    first = full((*x.shape[:axis], 1, *x.shape[axis + 1 :]), op is Cumprod, x.dtype, x.device)
    return Concat.call(first, y, axis=axis)
