"""Functions without a gradient: the backend's own, on the arrays of Variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core import Variable, as_array
from core.arrays.backend import BACKENDS
from core.errors import InvalidType
from core.errors.kinds import checked
from core.graph.variable import wrap
from core.typing import Array, Axes
from plugins.functions.array.cast import arrays_in, refuse_complex
from plugins.functions.axes import axes_within, count_along
from plugins.functions.namespace.promotion import is_integral, with_number

_OF_REAL_NUMBERS = frozenset(
    ["argmax", "argmin", "argsort", "max", "maximum", "min", "minimum", "nextafter"]
    + ["remainder", "searchsorted", "signbit"]
)
"""The backend's functions that the standard has for real numbers alone."""

_OF_SOME = frozenset(["argmax", "argmin", "max", "min"])
"""Those that have no result of nothing."""


def without_gradient(name: str, *given: Any, **options: Any) -> Any:
    """The namespace's function `name` on Variables, arrays and numbers: Variables of the results.

    >>> import numpy as np
    >>> without_gradient("isnan", np.array([1, np.nan]))
    variable([False,  True])
    """
    lead = next(iter(arrays_in(given)), None)
    if lead is None:
        raise TypeError(f"{name}: expected a Variable or an array among the arguments, got none")
    backend = BACKENDS[type(lead)]
    if name in _OF_REAL_NUMBERS:
        refuse_complex(name, *given)
    if (axis := options.get("axis")) is not None:
        axes_within(name, axis, lead.ndim)
    if name in _OF_SOME and 0 in lead.shape and not count_along(lead.shape, axis):
        raise InvalidType("an element along each axis", f"{tuple(lead.shape)}", operation=name)
    result = getattr(backend.xp, name)(*map(as_array, given), **options)
    if isinstance(result, tuple):
        return tuple([wrap(backend.asarray(y)) for y in result])
    return wrap(backend.asarray(result))


def _unary(name: str) -> Callable[..., Variable]:
    def function(x: Any, /) -> Variable:
        return without_gradient(name, x)

    return _named(function, name)


def _binary(name: str) -> Callable[..., Variable]:
    def function(x1: Any, x2: Any, /) -> Variable:
        return without_gradient(name, *with_number(name, x1, x2))

    return _named(function, name)


def _reduction(name: str) -> Callable[..., Variable]:
    def function(x: Any, axis: Axes = None, keepdims: bool = False) -> Variable:
        return without_gradient(name, x, axis=axis, keepdims=keepdims)

    return checked(_named(function, name))


def _place(name: str) -> Callable[..., Variable]:
    def function(x: Any, axis: int | None = None, keepdims: bool = False) -> Variable:
        return without_gradient(name, x, axis=axis, keepdims=keepdims)

    return checked(_named(function, name))


def _named(function: Any, name: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The array standard's `{name}`; the result has no gradient."
    return function


all = _reduction("all")
any = _reduction("any")
argmax = _place("argmax")
argmin = _place("argmin")
bitwise_and = _binary("bitwise_and")
bitwise_invert = _unary("bitwise_invert")
bitwise_left_shift = _binary("bitwise_left_shift")
bitwise_or = _binary("bitwise_or")
bitwise_right_shift = _binary("bitwise_right_shift")
bitwise_xor = _binary("bitwise_xor")
count_nonzero = _reduction("count_nonzero")
isfinite = _unary("isfinite")
isinf = _unary("isinf")
isnan = _unary("isnan")
logical_and = _binary("logical_and")
logical_not = _unary("logical_not")
logical_or = _binary("logical_or")
logical_xor = _binary("logical_xor")
nextafter = _binary("nextafter")
nonzero = _unary("nonzero")
signbit = _unary("signbit")


@checked
def argsort(x: Array, axis: int = -1, descending: bool = False, stable: bool = True) -> Variable:
    """The indices that sort along an axis; without gradient.

    >>> import numpy as np
    >>> argsort(np.array([3.0, 1.0, 2.0]))
    variable([1, 2, 0])
    """
    if not descending:
        return without_gradient("argsort", x, axis=axis, stable=stable)
    # From the back, twice: equal elements keep their order.
    flipped = without_gradient("flip", x, axis=axis)
    order = without_gradient("argsort", flipped, axis=axis, stable=True)
    last = as_array(x).shape[axis] - 1
    return without_gradient("flip", wrap(last - order.array), axis=axis)


@checked
def round(x: Array, decimals: int = 0) -> Variable:
    """The elements rounded to that many decimals, halves to even digits; without gradient.

    Whole numbers are rounded to tens, hundreds, ... by -1, -2, ... decimals.

    >>> import numpy as np
    >>> round(np.array([15, 24, 25]), -1)
    variable([20, 20, 20])
    """
    array = as_array(x)
    whole = is_integral(array)
    if decimals == 0 or whole and decimals > 0:
        return without_gradient("round", array)
    if whole:
        return wrap(_rounded(array, 10**-decimals))
    scale = 10.0 ** abs(decimals)
    scaled = array * scale if decimals > 0 else array / scale
    y = without_gradient("round", BACKENDS[type(array)].asarray(scaled, array.dtype))
    return y / scale if decimals > 0 else y * scale


def _rounded(x: Any, scale: int) -> Any:
    """Whole numbers at the nearest multiple of `scale`, exactly, and within their dtype."""
    xp = BACKENDS[type(x)].xp
    if xp.isdtype(x.dtype, "bool") or scale > xp.iinfo(x.dtype).max:
        return xp.zeros_like(x)
    count = x // scale
    rest = x - count * scale
    half = rest == scale - rest
    return (count + xp.astype((rest > scale - rest) | half & (count % 2 == 1), x.dtype)) * scale


@checked
def searchsorted(x1: Any, x2: Any, side: str = "left", sorter: Any = None) -> Variable:
    """Where the elements of `x2` belong in the sorted `x1`; without gradient.

    >>> import numpy as np
    >>> searchsorted(np.array([1.0, 2.0]), np.array([1.5]))
    variable([1])
    """
    return without_gradient("searchsorted", x1, x2, side=side, sorter=as_array(sorter))
