"""What the array API standard lacks, written in nothing but the standard: any backend's defaults.

Each function takes the namespace `xp` first. None needs strides, `out=`, item assignment by arrays
of integers, or NumPy; all run on array_api_strict. Item assignment by slices is all that is
assumed of arrays beyond the namespace.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from operator import index
from typing import Any

from core.typing import AnyArray, Sizes


def per_axis(value: Sizes, ndim: int, what: str) -> tuple[int, ...]:
    """One integer per spatial axis; a single one stands for all.

    >>> per_axis(2, 3, 'stride')
    (2, 2, 2)
    """
    try:
        given: Any = value
        if not isinstance(value, Iterable) or getattr(value, "shape", None) == ():
            given = (value,) * ndim
        sizes = tuple([index(size) for size in given])
    except TypeError:
        sizes = ()
    if len(sizes) != ndim:
        raise ValueError(
            f"{what}: expected {ndim} integers, one per spatial axis, or one for all; "
            f"got {value!r}."
        )
    return sizes


def window_count(
    size: int, k: int, stride: int, pad: int, cover_all: bool = False, dilate: int = 1
) -> int:
    """How many windows of `k` elements, `dilate` apart, fit along an axis at this stride.

    >>> window_count(10, 3, 2, 1), window_count(10, 3, 2, 1, cover_all=True)
    (5, 6)
    """
    if k < 1 or stride < 1 or dilate < 1:
        raise ValueError(
            "windows: expected a size, stride and dilate of at least 1, got "
            f"the size {k}, stride {stride} and dilate {dilate}"
        )
    rest = size + 2 * pad - (k - 1) * dilate - 1
    return (rest + stride - 1) // stride + 1 if cover_all else rest // stride + 1


# -- windows ------------------------------------------------------------------------------------


class Geometry:
    """The sizes that a set of windows over spatial axes is made of."""

    def __init__(
        self,
        size: Sequence[int],
        ksize: Sizes,
        stride: Sizes,
        pad: Sizes,
        dilate: Sizes,
        cover_all: bool = False,
    ) -> None:
        n = len(size)
        self.size = tuple(size)
        self.ksize = per_axis(ksize, n, "ksize")
        self.stride = per_axis(stride, n, "stride")
        self.pad = per_axis(pad, n, "pad")
        self.dilate = per_axis(dilate, n, "dilate")
        self.out = tuple(
            window_count(s, k, st, p, cover_all, d)
            for s, k, st, p, d in zip(
                self.size, self.ksize, self.stride, self.pad, self.dilate, strict=True
            )
        )

    def checked(self) -> Geometry:
        """Itself; ValueError where not one window fits along some axis."""
        if min(self.out, default=1) <= 0:
            raise ValueError(
                f"Windows of {self.ksize} (dilate {self.dilate}) do not fit into {self.size} "
                f"padded by {self.pad}. Use a smaller window or more padding."
            )
        return self

    def reach(self) -> tuple[int, ...]:
        """How many elements of each axis the windows span, padding included."""
        return tuple(
            (k - 1) * d + (o - 1) * s + 1
            for k, d, o, s in zip(self.ksize, self.dilate, self.out, self.stride, strict=True)
        )

    def widths(self) -> list[tuple[int, int]]:
        """Padding before and after each axis so that every window lies inside."""
        return [
            (p, max(p, r - s - p))
            for p, r, s in zip(self.pad, self.reach(), self.size, strict=True)
        ]

    def padded_size(self) -> tuple[int, ...]:
        """The spatial axes, padding included."""
        return tuple(b + s + a for s, (b, a) in zip(self.size, self.widths(), strict=True))

    def inside(self) -> tuple[slice, ...]:
        """The slices of the padded axes that leave the padding out."""
        return tuple(slice(b, b + s) for s, (b, _) in zip(self.size, self.widths(), strict=True))

    def strided(self, padded: AnyArray) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Shape and strides of the windows as a view of an array (n, c, *padded)."""
        steps = padded.strides[2:]
        inside = [step * d for step, d in zip(steps, self.dilate, strict=True)]
        along = [step * s for step, s in zip(steps, self.stride, strict=True)]
        shape = (*padded.shape[:2], *self.ksize, *self.out)
        return shape, (*padded.strides[:2], *inside, *along)

    def offsets(self) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
        """Each place inside the window, with the slices of the padded axes that it runs over."""
        for place in product(*map(range, self.ksize)):
            yield (
                place,
                tuple(
                    slice(i * d, i * d + (o - 1) * s + 1, s)
                    for i, d, o, s in zip(place, self.dilate, self.out, self.stride, strict=True)
                ),
            )


def windows(
    xp: Any,
    x: AnyArray,
    ksize: Sizes,
    stride: Sizes,
    pad_width: Sizes,
    dilate: Sizes,
    cover_all: bool,
    pad_value: float,
) -> AnyArray:
    """All windows of `x` (n, c, *spatial) as an array (n, c, *ksize, *out)."""
    g = Geometry(x.shape[2:], ksize, stride, pad_width, dilate, cover_all).checked()
    padded = pad(xp, x, [(0, 0), (0, 0), *g.widths()], pad_value)
    parts = [padded[(slice(None), slice(None), *where)] for _, where in g.offsets()]
    return xp.reshape(xp.stack(parts, axis=2), (*x.shape[:2], *g.ksize, *g.out))


def fold(
    xp: Any, cols: AnyArray, size: Sequence[int], stride: Sizes, pad_width: Sizes, dilate: Sizes
) -> AnyArray:
    """Sum windows (n, c, *ksize, *out) back into (n, c, *size): the adjoint of `windows`."""
    g = unfolded(cols.shape, size, stride, pad_width, dilate)
    image = xp.zeros((*cols.shape[:2], *g.padded_size()), dtype=cols.dtype, device=cols.device)
    for place, where in g.offsets():
        part = cols[(slice(None), slice(None), *place, Ellipsis)]
        image[(slice(None), slice(None), *where)] += part
    return image[(slice(None), slice(None), *g.inside())]


def unfolded(
    shape: tuple[int, ...], size: Sequence[int], stride: Sizes, pad_width: Sizes, dilate: Sizes
) -> Geometry:
    """The geometry that gives windows of this `shape`, `cover_all` or not."""
    n = len(size)
    if len(shape) == 2 + 2 * n:
        for cover_all in (False, True):
            g = Geometry(size, shape[2 : 2 + n], stride, pad_width, dilate, cover_all)
            if g.out == shape[2 + n :]:
                return g
    raise ValueError(
        f"fold: windows of shape {shape} do not come from an image of {tuple(size)} with stride "
        f"{stride}, pad {pad_width}, dilate {dilate}; expected (n, c, *ksize, *out)."
    )


def pad(xp: Any, x: AnyArray, widths: Sequence[tuple[int, int]], value: float) -> AnyArray:
    """`x` with `widths[i] = (before, after)` elements of `value` around axis i."""
    if len(widths) != x.ndim or any(min(pair) < 0 for pair in widths):
        raise ValueError(
            f"pad: expected {x.ndim} pairs (before, after), none negative; got {list(widths)}."
        )
    if not any(map(any, widths)):
        return x
    shape = tuple(b + s + a for s, (b, a) in zip(x.shape, widths, strict=True))
    around = {"dtype": x.dtype, "device": x.device}
    padded = xp.full(shape, value, **around) if value else xp.zeros(shape, **around)
    padded[tuple(slice(b, b + s) for s, (b, _) in zip(x.shape, widths, strict=True))] = x
    return padded


# -- sums into places ---------------------------------------------------------------------------


def scatter_add(xp: Any, a: AnyArray, index: Any, values: Any) -> None:
    """`a[index] += values` in place, with repeated places added to as often as they are named.

    Where `index` holds arrays, the additions to one place happen in the order of `values`.
    """
    if is_basic(index):
        index = _for_every_axis(index, a.ndim)
        bare = tuple(part for part in index if part is not None)
        a[bare] = xp.reshape(a[index] + values, a[bare].shape)
        return
    places = _places(xp, a, index if isinstance(index, tuple) else (index,))
    if not isinstance(values, (int, float, complex)):
        values = xp.reshape(xp.broadcast_to(values, places.shape), (-1,))
    flat = xp.reshape(a, (-1,))
    a[...] = xp.reshape(_add_at(xp, flat, xp.reshape(places, (-1,)), values), a.shape)


def _for_every_axis(index: Any, ndim: int) -> tuple[Any, ...]:
    """A basic index with a slice for each axis it leaves out, as the standard wants it."""
    parts = index if isinstance(index, tuple) else (index,)
    if any(part is Ellipsis for part in parts):
        return parts
    return (*parts, *[slice(None)] * (ndim - sum(part is not None for part in parts)))


def _places(xp: Any, a: AnyArray, parts: tuple[Any, ...]) -> AnyArray:
    """For each element that the index names, its position in the flattened array."""
    if not all(_is_integer_array(xp, part) for part in parts):
        return xp.reshape(xp.arange(math.prod(a.shape), device=a.device), a.shape)[parts]
    row: AnyArray = 0
    for part, n in zip(parts, a.shape, strict=False):
        row = row * n + xp.where(part < 0, part + n, part)
    rest = a.shape[len(parts) :]
    inside = xp.reshape(xp.arange(math.prod(rest), dtype=row.dtype, device=a.device), rest)
    return xp.reshape(row, (*row.shape, *(1,) * len(rest))) * math.prod(rest) + inside


def _is_integer_array(xp: Any, part: Any) -> bool:
    return hasattr(part, "dtype") and xp.isdtype(part.dtype, "integral")


def is_basic(index: Any) -> bool:
    """Whether an index is made of integers, slices, None and the ellipsis: no place comes twice."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(
        part is None or part is Ellipsis or isinstance(part, slice) or _is_integer(part)
        for part in parts
    )


def _is_integer(part: Any) -> bool:
    return not isinstance(part, bool) and hasattr(part, "__index__") and not hasattr(part, "shape")


def _add_at(xp: Any, flat: AnyArray, places: AnyArray, values: Any) -> AnyArray:
    """Add round by round: the first value of each place, then the second, ..."""
    if places.shape[0] == 0 or flat.shape[0] == 0:
        return flat
    order = xp.argsort(places, stable=True)
    ranked = xp.take(places, order, axis=0)
    every = xp.arange(flat.shape[0], dtype=places.dtype, device=flat.device)
    first = xp.searchsorted(ranked, every)
    count = xp.searchsorted(ranked, every, side="right") - first
    last = places.shape[0] - 1
    for k in range(int(xp.max(count))):
        pick = xp.minimum(first + k, xp.full_like(first, last))
        extra = values
        if not isinstance(values, (int, float, complex)):
            extra = xp.take(xp.take(values, order, axis=0), pick, axis=0)
        flat = xp.where(count > k, flat + extra, flat)
    return flat


def sum_to(xp: Any, x: AnyArray, shape: tuple[int, ...]) -> AnyArray:
    """Sum `x` down to `shape`: the adjoint of broadcasting from `shape` to that of `x`."""
    if x.shape == shape:
        return x
    lead = x.ndim - len(shape)
    kept = tuple(
        i + lead for i, n in enumerate(shape) if n == 1 and lead >= 0 and x.shape[i + lead] != 1
    )
    if lead < 0 or any(n != x.shape[i + lead] for i, n in enumerate(shape) if i + lead not in kept):
        raise ValueError(f"sum_to: {shape} does not broadcast to {x.shape}.")
    summed = xp.sum(x, axis=(*range(lead), *kept), keepdims=True, dtype=x.dtype)
    return xp.reshape(summed, shape)


def copy_into(xp: Any, dst: AnyArray, src: Any) -> None:
    """Write a number, or an array that broadcasts, into `dst`, in the dtype of `dst`."""
    if not isinstance(src, (bool, int, float, complex)):
        src = xp.broadcast_to(xp.astype(src, dst.dtype, copy=False), dst.shape)
    dst[...] = src


# -- functions ----------------------------------------------------------------------------------


def logsumexp(xp: Any, x: AnyArray, axis: Any, keepdims: bool) -> AnyArray:
    """`log(sum(exp(x)))` with the greatest element taken out first; -inf where all are -inf."""
    top = xp.max(x, axis=axis, keepdims=True)
    top = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
    total = xp.sum(xp.exp(x - top), axis=axis, keepdims=True, dtype=x.dtype)
    nothing = total == 0  # only where all are -inf; its logarithm would warn
    total = xp.log(xp.where(nothing, xp.ones_like(total), total)) + top
    total = xp.where(nothing, xp.full_like(total, -xp.inf), total)
    if keepdims:
        return total
    axes = tuple(range(x.ndim)) if axis is None else axis
    return xp.squeeze(total, axis=axes)


def erf(xp: Any, x: AnyArray) -> AnyArray:
    """The error function to a few units in the last place.

    In float64 up to 1 by its power series; beyond it as 1 - exp(-x*x) * q(u), with q a polynomial
    fitted at Chebyshev points to exp(x*x) * erfc(x), u being 2 / (2 + x) stretched to [-1, 1].
    Narrower dtypes take one quotient of polynomials for all x, to six units of float32: a third of
    the steps, and none that chooses by element.
    """
    if str(x.dtype).endswith("float16"):
        return xp.astype(erf(xp, xp.astype(x, xp.float32)), x.dtype)
    if str(x.dtype).endswith("float32"):
        z = xp.clip(x, -3.9, 3.9)  # beyond it the result rounds to 1
        square = z * z
        z *= _polynomial(_NUMERATOR, square)
        z /= _polynomial(_DENOMINATOR, square)
        return xp.clip(z, -1.0, 1.0)
    size = xp.abs(x)
    small = xp.minimum(size, xp.ones_like(x))
    large = xp.minimum(xp.maximum(size, xp.ones_like(x)), xp.full_like(x, 6.0))
    u = (2.0 / (2.0 + large) - _MIDDLE) / _HALF
    beyond = 1.0 - xp.exp(-large * large) * _polynomial(_TAIL, u)
    inside = small * _polynomial(_SERIES, small * small)
    return xp.sign(x) * xp.where(size < 1.0, inside, beyond)


def _polynomial(coefficients: Sequence[float], x: AnyArray) -> AnyArray:
    total = x * coefficients[-1] + coefficients[-2]
    for c in reversed(coefficients[:-2]):
        total *= x
        total += c
    return total


_SERIES = [
    2.0 / math.sqrt(math.pi) * (-1) ** n / (math.factorial(n) * (2 * n + 1)) for n in range(18)
]
# erf(x) / x as a quotient of polynomials in x*x, to a level relative error of 2e-8 up to 3.9: found
# by least squares at Chebyshev points, weighted anew by the errors until they were level.
_NUMERATOR = [
    1.1283791479806438,
    0.18963753335650943,
    0.052664278514211404,
    0.0037371205727416415,
    0.0002850396796877686,
    2.066753859422269e-06,
]
_DENOMINATOR = [
    1.0,
    0.5013946748155269,
    0.11380691605255049,
    0.014911804368009846,
    0.0011570894326276635,
    3.82717781172105e-05,
]
_MIDDLE = (2 / 3 + 1 / 4) / 2  # of 2 / (2 + x) for x from 1 to 6
_HALF = (2 / 3 - 1 / 4) / 2
_TAIL = [
    0.22142954022993197,
    0.16189356804102512,
    0.0385605704251742,
    0.005588816281820741,
    0.00019713917783353174,
    -8.079220400375133e-05,
    -7.340518553424231e-06,
    1.9795604406650692e-06,
    1.6350144466381313e-07,
    -7.004964774808827e-08,
    -5.928759651596784e-10,
    2.6193676811227097e-09,
    -2.6346306565513686e-10,
    -7.076552737202867e-11,
    1.868099750323572e-11,
    -6.030729884059316e-13,
]
