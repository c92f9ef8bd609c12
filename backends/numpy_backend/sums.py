"""Sums, means and extremes of NumPy's; also of many rows, of which NumPy's own would be far off.

NumPy adds up pairwise along the axis that lies densest in memory alone. Along others it adds row to
row, so that the rounding of each addition counts: the mean of two million numbers near 100 was
1.3 % off in float32, and a sum of ones ends at 16,777,216. So rows are summed `ROWS` at a time, and
then these sums; up to so many have the bits of `numpy.sum`.

Along a last axis of a few elements, as of colours or coordinates, NumPy begins anew for each of
them. There whole slices are added, in NumPy's order: a fortieth to half of the time. Longer rows
are compiled loops, which add in NumPy's order as well; of extremes it does not matter, and of
products it costs accuracy.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from backends.numpy_backend import methods
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled.math import channels, of_columns, of_rows, pairwise
from backends.numpy_backend.kernels.compiled.math import running as running_loops
from backends.numpy_backend.kernels.compiler import FLOATS, ROWS, SMALL

SINGLE = np.dtype("float32")


def _native(dtype: Any) -> Any:
    """A dtype in the machine's order of bytes, the only one in which NumPy may be asked for it."""
    return None if dtype is None else np.dtype(dtype).newbyteorder("=")


def _reducing(ufunc: np.ufunc) -> Callable[..., Any]:
    """What NumPy calls for its function of the same name, which takes as long again to call it."""
    reduce = ufunc.reduce

    def reduced(a: Any, axis: Any = None, dtype: Any = None, **options: Any) -> Any:
        if dtype is not None and dtype not in FLOATS and not np.dtype(dtype).isnative:
            dtype = _native(dtype)
        return reduce(a, axis, dtype, **options)

    return reduced


def _accumulating(name: str) -> Callable[..., Any]:
    """NumPy's function of running sums or products; large floats in compiled loops.

    Of large float32 they are taken in float64 and rounded.
    """
    function, product = getattr(np, name), name.endswith("prod")
    accumulate = (np.multiply if product else np.add).accumulate

    def accumulated(a: Any, *others: Any, dtype: Any = None, **options: Any) -> Any:
        known = isinstance(a, np.ndarray) and not others and options.keys() == {"axis"}
        if known and (dtype is None or dtype == a.dtype):
            axis = options["axis"]
            found = running_loops.along(a, axis, product) if compiler.available() else None
            if found is not None:
                return found
            if a.dtype == SINGLE and a.size >= SMALL:
                return function(a, axis=axis, dtype=np.float64).astype(SINGLE)  # as the loops do
            if type(a) is np.ndarray and a.dtype in FLOATS and type(axis) is int and a.ndim:
                return accumulate(a, axis)  # of which NumPy's own function is made
        return function(a, *others, dtype=_native(dtype), **options)

    return accumulated


SHORT = 16  # elements at most: of more, to begin anew for each row costs NumPy little
LARGE = 2048  # elements, of fewer of which calls for slices take as long
PART = 1 << 17  # elements at a time, which stay in a cache from one slice to the next


def _own_floats(a: Any, dtype: Any) -> bool:
    """Whether an array is of floats, and so is what is asked for."""
    return a.dtype in compiler.FLOATS and (dtype is None or dtype == a.dtype)


def _by_slices(ufunc: np.ufunc, a: Any, axis: Any, options: Any) -> Any:
    """What the function makes of the short last axis of a large array; None for others."""
    if not 2 <= a.shape[-1] <= SHORT or not options.keys() <= {"keepdims"}:
        return None
    if type(axis) is tuple and len(axis) == 1:
        (axis,) = axis
    if type(axis) is not int or axis not in (-1, a.ndim - 1) or a.strides[-1] < 0:
        return None
    if a.dtype.kind not in "fiu" or a.dtype.itemsize < 4 or not a.dtype.isnative:
        return None  # NumPy adds these in another dtype, or piece by piece
    if not a.flags.c_contiguous:
        steps = [abs(step) for step, n in zip(a.strides, a.shape, strict=True) if n > 1]
        if any([0 < step < a.strides[-1] for step in steps]):
            return None  # NumPy goes along another axis, and adds whole rows
        a = np.ascontiguousarray(a)  # parts and repetitions of others, as gradients of sums are
    found, columns = np.empty(a.shape[:-1], a.dtype), a.reshape(-1, a.shape[-1]).T
    out, many = found.reshape(-1), PART // a.shape[-1]
    for start in range(0, out.size, many):
        _in_order(ufunc, columns[:, start : start + many], out[start : start + many])
    return found[..., None] if options.get("keepdims") else found


def _in_order(ufunc: np.ufunc, columns: Any, out: Any) -> None:
    """The columns taken together as NumPy does: of eight and more it makes eight sums at first."""
    taken = 2
    if ufunc is np.add and len(columns) >= 8:
        taken = len(columns) // 8 * 8
        a, b, c, d, e, f, g, h = columns[:8] if taken == 8 else columns[:8] + columns[8:16]
        np.add(a + b + (c + d), e + f + (g + h), out=out)
    else:
        ufunc(columns[0], columns[1], out=out)
    for column in columns[taken:]:
        ufunc(out, column, out=out)
    if ufunc is np.add and out.dtype.kind == "f":
        out += 0  # from which NumPy's sums begin: those of negative zeros are zeros


def _extreme(ufunc: np.ufunc) -> Callable[..., Any]:
    """NumPy's function of the greatest or least elements."""
    reduce, sign = ufunc.reduce, 1 if ufunc is np.maximum else -1

    def extreme(a: Any, axis: Any = None, out: Any = None, **options: Any) -> Any:
        if out is None and isinstance(a, np.ndarray) and a.size >= LARGE:
            found = _by_slices(ufunc, a, axis, options)
            if found is None and compiler.available():
                found = of_rows.extremes(a, axis, options, sign)
            if found is not None:
                return found
        return reduce(a, axis, None, out, **options)

    return extreme


greatest, least = _extreme(np.maximum), _extreme(np.minimum)
added, _multiplied = _reducing(np.add), _reducing(np.multiply)
_NAMES = ("cumsum", "cumprod", "cumulative_sum", "cumulative_prod")  # the last two since NumPy 2.1
running = {name: _accumulating(name) for name in _NAMES if hasattr(np, name)}


def _sums(a: Any, axis: Any, dtype: Any, options: Any) -> Any:
    """Sums of large arrays that are taken otherwise than by one call of NumPy's; None of others."""
    if not isinstance(a, np.ndarray) or a.size < LARGE:
        return None
    if _own_floats(a, dtype):
        found = _by_slices(np.add, a, axis, options)
        rows = len(a) if axis in (0, (0,)) and a.ndim > 1 else 0
        many = a.size >= of_columns.LEAST or rows >= of_columns.MANY
        if found is None and many and compiler.available():
            for loops in _LOOPS:
                found = loops.total(a, axis, options)
                if found is not None:
                    break
        if found is not None:
            return found
    axes = _long(a, axis, dtype, options)
    return None if axes is None else _by_rows(a, axes, **options)


_LOOPS: Any = (channels, of_columns, pairwise)


def total(a: Any, axis: Any = None, dtype: Any = None, **options: Any) -> Any:
    """`numpy.sum`, of many rows in parts; of large arrays in loops and threads."""
    found = _sums(a, axis, dtype, options)
    return added(a, axis, dtype, **options) if found is None else found


def multiplied(a: Any, axis: Any = None, dtype: Any = None, **options: Any) -> Any:
    """`numpy.prod`."""
    if isinstance(a, np.ndarray) and a.size >= LARGE and _own_floats(a, dtype):
        found = _by_slices(np.multiply, a, axis, options)
        if found is None and compiler.available():
            found = of_rows.products(a, axis, options)
        if found is not None:
            return found
    return _multiplied(a, axis, dtype, **options)


def mean(a: Any, axis: Any = None, dtype: Any = None, **options: Any) -> Any:
    """`numpy.mean`, by the same sums."""
    found = _sums(a, axis, dtype, options)
    if found is None:
        return methods.mean(a, axis, dtype, **options)
    out = found if isinstance(found, np.ndarray) else None
    return np.divide(found, a.dtype.type(a.size // found.size), out=out)


def _long(a: Any, axis: Any, dtype: Any, options: Any) -> tuple[int, ...] | None:
    """The axes, if NumPy would add more than `ROWS` numbers one after the other along them."""
    one = type(axis) is int and -a.ndim <= axis < a.ndim
    if (a.shape[axis] if one else a.size) <= ROWS or (axis is None and a.flags.c_contiguous):
        return None
    if a.dtype not in compiler.FLOATS or (dtype is not None and dtype != a.dtype):
        return None  # not by `in`: to NumPy, None equals float64
    if not options.keys() <= {"keepdims"}:
        return None
    axes = range(a.ndim) if axis is None else normalize_axis_tuple(axis, a.ndim)
    steps = sorted([(abs(step), i) for i, step in enumerate(a.strides) if a.shape[i] > 1])
    rows = prod([a.shape[i] for i in axes])
    dense = steps[0][0]
    for step, i in steps:  # pairwise as far as these lie in one piece
        if i not in axes or step != dense or step == 0:
            break
        rows //= a.shape[i]
        dense *= a.shape[i]
    return tuple(axes) if rows > ROWS else None


def _by_rows(a: Any, axes: tuple[int, ...], keepdims: bool = False) -> Any:
    for axis in axes:
        a = _along(a, axis)
    return a if keepdims else a.squeeze(axes)[()]


def _along(a: Any, axis: int) -> Any:
    """The sum along an axis, which stays with a length of 1."""
    count = a.shape[axis] // ROWS
    if count == 0 or abs(a.strides[axis]) == a.itemsize:
        return np.add.reduce(a, axis, keepdims=True)
    before, after = a.shape[:axis], a.shape[axis + 1 :]
    whole, rest = np.split(a, [count * ROWS], axis)
    sums = total(whole.reshape(*before, count, ROWS, *after), axis + 1)
    if rest.size:
        sums = np.concatenate([sums, np.add.reduce(rest, axis, keepdims=True)], axis)
    return np.add.reduce(sums, axis, keepdims=True)
