"""Running sums and products."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, axes, numeric, real
from plugins.functions.derived import function_of


def _running(xp: Any, standard: str, older: str) -> Any:
    """The function by its name in the standard of 2023 or 2024, or by the one it had before."""
    return getattr(xp, standard, None) or getattr(xp, older)


class Cumsum(FunctionNode):
    """Sum each element and those before it along an axis.

    The gradient is summed from the other end.

    Args:
        x: Of any shape, floating or of integers. Floats of 16 bits are summed in float32.
        axis: The axis; None sums along the flattened array.

    Returns:
        The dtype of `x`; its shape, or one axis without `axis`.

    Raises:
        InvalidType: `x` has no such axis, or is not of real numbers.
        TypeError: `axis` is neither None nor an int.

    >>> import core.functions as F, numpy as np
    >>> F.cumsum(np.array([[1, 2], [3, 4]], "f"), axis=0)
    variable([[1., 2.],
              [4., 6.]], dtype=float32)
    """

    axis: int | None = None
    wide = True
    domain = Domain("(...)->(...b)", x=numeric(-3, 3), settings={"axis": axes("x", none=True)})

    def compute(self, xp, x):
        x, axis = _along(xp, x, self.axis)
        return _running(xp, "cumulative_sum", "cumsum")(x, axis=axis, dtype=x.dtype)

    def gradient(self, xp, g):
        axis = 0 if self.axis is None else self.axis
        back = xp.flip(Cumsum(axis).evaluate(xp.flip(g, axis=axis)), axis=axis)
        return xp.reshape(back, self.input_shape(0))


class Cumprod(FunctionNode):
    """Multiply each element and those before it along an axis.

    An element's gradient is the product of those before it times r_i = g_i + x_(i+1) r_(i+1): no
    division, so it is right where there are zeros.

    Args:
        x: Of any shape, floating or of integers. Floats of 16 bits are multiplied in float32.
        axis: The axis; None multiplies along the flattened array.

    Returns:
        The dtype of `x`; its shape, or one axis without `axis`.

    Raises:
        InvalidType: `x` has no such axis, or is not of real numbers.
        TypeError: `axis` is neither None nor an int.

    >>> import core.functions as F, numpy as np
    >>> F.cumprod(np.array([[1, 2], [3, 4]], "f"))
    variable([ 1.,  2.,  6., 24.], dtype=float32)
    """

    axis: int | None = None
    wide = True
    domain = Domain("(...)->(...b)", x=numeric(-2, 2), settings={"axis": axes("x", none=True)})

    def compute(self, xp, x):
        x, axis = _along(xp, x, self.axis)
        return _running(xp, "cumulative_prod", "cumprod")(x, axis=axis, dtype=x.dtype)

    def gradient(self, xp, g, x, out):
        x, axis = _along(xp, x, self.axis)
        axis %= x.ndim
        if x.shape[axis] == 0:
            return xp.reshape(g, self.input_shape(0))
        after = _shifted(xp, x, axis, 1, xp.zeros_like)
        rest = _recurrence(xp, after, g, axis)
        before = _delayed(xp, out, axis)
        return xp.reshape(before * rest, self.input_shape(0))


class LogCumSumExp(FunctionNode):
    """Compute the logarithm of the running sum of exponentials along an axis, without overflow.

    With y the result, the gradient at i is the sum of g_j exp(x_i - y_j) over j from i on, of which
    no exponential is greater than 1.

    Args:
        x: Floating, of any shape.
        axis: The axis; None sums along the flattened array.

    Returns:
        The dtype of `x`; its shape, or one axis without `axis`. -inf as long as all elements are.

    Raises:
        InvalidType: `x` has no such axis.
        TypeError: `axis` is neither None nor an int.

    >>> import core.functions as F, numpy as np
    >>> F.logcumsumexp(np.array([[-1000, -1000], [1000, 0]], "f"), axis=1)
    variable([[-1000.    ,  -999.3069],
              [ 1000.    ,  1000.    ]], dtype=float32)
    """

    axis: int | None = None
    wide = True
    domain = Domain("(...)->(...b)", x=real(-6, 6), settings={"axis": axes("x", none=True)})

    def compute(self, xp, x):
        y, axis = _along(xp, x, self.axis)
        axis, reach = axis % y.ndim, 1
        while reach < y.shape[axis]:
            nothing = xp.full_like(_part(y, axis, 0, reach), -xp.inf)
            before = xp.concat([nothing, _part(y, axis, None, -reach)], axis=axis)
            y = xp.logaddexp(y, before)
            reach *= 2
        return y

    def gradient(self, xp, g, x, out):
        x, axis = _along(xp, x, self.axis)
        axis %= x.ndim
        if x.shape[axis] == 0:
            return xp.reshape(g, self.input_shape(0))
        # Where all are -inf, the result is -inf too, and no element has a share in it.
        safe = xp.where(out == float("-inf"), 0.0, out)
        reach = 1
        while reach < x.shape[axis]:
            # The share in what comes so much later; a product of shares would add up its rounding.
            share = xp.exp(_part(out, axis, None, -reach) - _part(safe, axis, reach, None))
            nothing = xp.zeros_like(_part(out, axis, 0, reach))
            share = xp.concat([share, nothing], axis=axis)
            g = g + share * _shifted(xp, g, axis, reach, xp.zeros_like)
            reach *= 2
        return xp.reshape(g * xp.exp(x - safe), self.input_shape(0))


def _along(xp: Any, x: Any, axis: int | None) -> tuple[Any, int]:
    return (xp.reshape(x, (-1,)), 0) if axis is None else (x, axis)


def _part(x: Any, axis: int, start: int | None, stop: int | None) -> Any:
    return x[(*(slice(None),) * axis, slice(start, stop), ...)]


def _shifted(xp: Any, x: Any, axis: int, steps: int, filler: Any) -> Any:
    """Each element replaced by the one `steps` later; what runs out is filled up."""
    last = filler(_part(x, axis, 0, steps))
    return xp.concat([_part(x, axis, steps, None), last], axis=axis)


def _delayed(xp: Any, x: Any, axis: int) -> Any:
    """Each element replaced by the one before, the first by 1."""
    first = xp.ones_like(_part(x, axis, 0, 1))
    return xp.concat([first, _part(x, axis, None, -1)], axis=axis)


def _recurrence(xp: Any, a: Any, g: Any, axis: int) -> Any:
    """R with r_i = g_i + a_i r_(i+1), in log n steps that double the reach of each element."""
    reach, n = 1, a.shape[axis]
    while reach < n:
        g = g + a * _shifted(xp, g, axis, reach, xp.zeros_like)
        a = a * _shifted(xp, a, axis, reach, xp.zeros_like)
        reach *= 2
    return g


cumsum = function_of(Cumsum, "cumsum")


cumprod = function_of(Cumprod, "cumprod")


logcumsumexp = function_of(LogCumSumExp, "logcumsumexp")
