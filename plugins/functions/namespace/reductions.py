"""Statistics over axes, with the standard's arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core import Variable, as_variable
from core.intrinsics import astype
from plugins.functions.axes import as_axes, count_along
from plugins.functions.math.average import Mean
from plugins.functions.math.extrema import Max, Min
from plugins.functions.math.prod import Prod
from plugins.functions.math.root import Sqrt
from plugins.functions.namespace.arithmetic import is_floating
from plugins.functions.namespace.plain import without_gradient


def _reduction(op: Any, name: str) -> Callable[..., Variable]:
    def function(x: Any, axis: Any = None, keepdims: bool = False) -> Variable:
        axis = as_axes(axis, name)
        if is_floating(x):
            return op.call(x, axis, keepdims)  # type: ignore[no-any-return]
        return without_gradient(  # type: ignore[no-any-return]
            name, x, axis=axis, keepdims=keepdims
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The array standard's `{name}`, differentiable on floating arrays."
    return function


max = _reduction(Max, "max")
min = _reduction(Min, "min")
mean = _reduction(Mean, "mean")
_prod = _reduction(Prod, "prod")


def prod(x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Variable:
    """The product over axes, in the dtype of x unless another is given.

    >>> import numpy as np
    >>> prod(np.array([2.0, 3.0]))
    variable(6.)
    """
    return _prod(x if dtype is None else astype(x, dtype), axis, keepdims)


def var(x: Any, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Variable:
    """The mean squared distance from the mean; `correction` is taken off the count.

    >>> import numpy as np
    >>> var(np.array([1.0, 3.0])), var(np.array([1.0, 3.0]), correction=1)
    (variable(1.), variable(2.))
    """
    x, axis = as_variable(x), as_axes(axis, "var")
    distance = x - Mean.call(x, axis, True)
    squares = Mean.call(distance * distance, axis, keepdims)
    count = count_along(x.shape, axis)
    return squares if correction == 0 else squares * (count / (count - correction))


def std(x: Any, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Variable:
    """The square root of `var`.

    >>> import numpy as np
    >>> std(np.array([1.0, 3.0]))
    variable(1.)
    """
    return Sqrt.call(var(x, axis, correction, keepdims))
