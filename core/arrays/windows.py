"""Windows over spatial axes: how many fit, where they lie, cut out and summed back.

What computes takes the namespace `xp` first and is written in nothing but the array API standard:
no strides, no `out=`. Item assignment by slices is all that is assumed of arrays beyond it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product, repeat
from operator import index
from typing import Any

from core.arrays.scatter import native_place
from core.typing import AnyArray, Sizes


def per_axis(value: Sizes, ndim: int, what: str) -> tuple[int, ...]:
    """One integer per spatial axis; a single one stands for all.

    >>> per_axis(2, 3, 'stride')
    (2, 2, 2)
    """
    try:
        given: Any = value
        if not hasattr(value, "__iter__") or getattr(value, "shape", None) == ():
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
    _check(k, stride, pad, dilate)
    rest = size + 2 * pad - (k - 1) * dilate - 1
    return (rest + stride - 1) // stride + 1 if cover_all else rest // stride + 1


def transposed_size(
    count: int, k: int, stride: int, pad: int, cover_all: bool = False, dilate: int = 1
) -> int:
    """The smallest size along which `count` windows fit: what a transposed convolution gives.

    >>> transposed_size(5, 3, 2, 1), transposed_size(6, 3, 2, 1, cover_all=True)
    (9, 10)
    """
    _check(k, stride, pad, dilate)
    reach = (k - 1) * dilate + 1
    return stride * (count - 1) + reach - 2 * pad - (stride - 1 if cover_all else 0)


def _check(k: int, stride: int, pad: int, dilate: int) -> None:
    if min(k, stride, dilate) < 1 or pad < 0:
        raise ValueError(
            "windows: expected a pad of at least 0, and size, stride and dilate of at least 1, got "
            f"the size {k}, stride {stride}, dilate {dilate} and pad {pad}"
        )


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
        along = (self.ksize, self.stride, self.pad)
        self.out = tuple(map(window_count, self.size, *along, repeat(cover_all), self.dilate))

    def checked(self) -> Geometry:
        """Itself; ValueError where not one window fits along some axis."""
        if min(self.out, default=1) <= 0:
            raise ValueError(
                f"Windows of {self.ksize} (dilate {self.dilate}) do not fit into {self.size} "
                f"padded by {self.pad}. Use a smaller window or more padding."
            )
        return self

    def widths(self) -> list[tuple[int, int]]:
        """Padding before and after each axis so that every window lies inside."""
        along = (self.ksize, self.stride, self.pad)
        spans = map(transposed_size, self.out, *along, repeat(False), self.dilate)
        ends = zip(self.pad, spans, self.size, strict=True)
        return [(p, max(p, p + span - n)) for p, span, n in ends]

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


def first_inside(xp: Any, g: Geometry, device: Any = None) -> AnyArray:
    """The number of each window's first element inside the image: (*out), of windows of no gaps.

    0 where there is none.
    """
    found, some = (xp.full((), n, dtype=xp.int32, device=device) for n in (0, 1))
    for size, n, k, s, p in zip(g.size, g.out, g.ksize, g.stride, g.pad, strict=True):
        along = [max(p - i * s, 0) for i in range(n)]
        within = [int(j < k and i * s - p + j < size) for i, j in enumerate(along)]
        found = found[..., None] * k + xp.asarray(along, dtype=xp.int32, device=device)
        some = some[..., None] * xp.asarray(within, dtype=xp.int32, device=device)
    return found * some


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


def pad(
    xp: Any, x: AnyArray, widths: Sequence[tuple[int, int]], value: float, put: Any = None
) -> AnyArray:
    """`x` with `widths[i] = (before, after)` elements of `value` around axis i.

    `put` is that of the backend, which assigns where its arrays are not mutable too.
    """
    if len(widths) != x.ndim or any(min(pair) < 0 for pair in widths):
        raise ValueError(
            f"pad: expected {x.ndim} pairs (before, after), none negative; got {list(widths)}."
        )
    if not any(map(any, widths)):
        return x
    shape = tuple(b + s + a for s, (b, a) in zip(x.shape, widths, strict=True))
    around = {"dtype": x.dtype, "device": native_place(x)}
    padded = xp.full(shape, value, **around) if value else xp.zeros(shape, **around)
    inside = tuple(slice(b, b + s) for s, (b, _) in zip(x.shape, widths, strict=True))
    if put is not None:
        return put(padded, inside, x)
    padded[inside] = x
    return padded
