"""Names of `chainer.utils` that plugrad has no need of."""

from __future__ import annotations

import collections.abc as collections_abc
import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from core.arrays.backend import of
from core.compat.utils.conv import get_conv_outsize

__all__ = ["as_mat", "as_tuple", "as_vec", "collections_abc", "empty_like", "oversample", "tempdir"]


def as_vec(x: Any) -> Any:
    """All elements of an array in one axis; itself if it has one."""
    return x if x.ndim == 1 else x.ravel()


def as_mat(x: Any) -> Any:
    """An array as a matrix: the first axis, and all others in one; itself if it has two."""
    return x if x.ndim == 2 else x.reshape(len(x), -1)


def empty_like(x: Any) -> Any:
    """An array of the shape and dtype of another, on its device, with whatever values."""
    return of(x).xp.empty_like(x)


@contextlib.contextmanager
def tempdir(**kwargs: Any) -> Iterator[str]:
    """A folder for a `with` block, removed after it; arguments are those of `tempfile.mkdtemp`."""
    ignore_errors = kwargs.pop("ignore_errors", False)
    folder = tempfile.mkdtemp(**kwargs)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=ignore_errors)


def oversample(images: Any, crop_dims: tuple[int, int]) -> Any:
    """Ten crops of each image: corners and middle, and the same mirrored.

    Args:
        images: Arrays (height, width, channels).
        crop_dims: Height and width of the crops.

    Returns:
        An array (10 n, height, width, channels) of float32.
    """
    h, w = images[0].shape[:2]
    ch, cw = crop_dims
    corners = [(y, x) for y in (0, h - ch) for x in (0, w - cw)]
    places = [*corners, ((h - ch) // 2, (w - cw) // 2)]
    crops = [
        [image[y : y + ch, x : x + cw] for y, x in places]
        + [image[y : y + ch, x : x + cw][:, ::-1] for y, x in places]
        for image in images
    ]
    return np.asarray(crops, dtype=np.float32).reshape(-1, ch, cw, images[0].shape[-1])


# -- windows in any number of axes ----------------------------------------------------------------


def as_tuple(x: Any, n: int) -> tuple[Any, ...]:
    """A tuple of n: of a sequence of that length, or of one value n times."""
    if hasattr(x, "__getitem__"):
        if len(x) != n:
            raise ValueError(f"as_tuple: expected {n} values, got {len(x)}")
        return tuple(x)
    return (x,) * n


def im2col_nd_cpu(
    img: Any,
    ksize: Any,
    stride: Any,
    pad: Any,
    pval: float = 0,
    cover_all: bool = False,
    dilate: Any = 1,
) -> Any:
    """Windows of images: (n, c, d1, ..., dN) -> (n, c, k1, ..., kN, out1, ..., outN)."""
    sizes, n = img.shape[2:], img.ndim - 2
    ks, ss, ps, ds = ksize, as_tuple(stride, n), as_tuple(pad, n), as_tuple(dilate, n)
    each = list(zip(sizes, ks, ss, ps, ds, strict=True))
    outs = [get_conv_outsize(d, k, s, p, cover_all, e) for d, k, s, p, e in each]
    after = [p + s - 1 for s, p in zip(ss, ps, strict=True)]
    xp = of(img).xp
    around = [(0, 0), (0, 0), *zip(ps, after, strict=True)]
    wide = [a + x + b for x, (a, b) in zip(img.shape, around, strict=True)]
    padded = xp.full(wide, pval, dtype=img.dtype)
    padded[tuple([slice(a, a + x) for x, (a, _) in zip(img.shape, around, strict=True)])] = img
    col = xp.empty((*img.shape[:2], *ks, *outs), dtype=img.dtype)
    for place in np.ndindex(*ks):
        cut = [
            slice(i * e, i * e + s * o, s) for i, e, s, o in zip(place, ds, ss, outs, strict=True)
        ]
        col[(slice(None), slice(None), *place)] = padded[(slice(None), slice(None), *cut)]
    return col


def col2im_nd_cpu(col: Any, stride: Any, pad: Any, dims: Any, dilate: Any = 1) -> Any:
    """Windows summed back into images of sizes `dims`: the adjoint of `im2col_nd_cpu`."""
    n = len(dims)
    ks, outs = col.shape[2 : n + 2], col.shape[n + 2 :]
    ss, ps, ds = as_tuple(stride, n), as_tuple(pad, n), as_tuple(dilate, n)
    xp = of(col).xp
    sizes = [d + 2 * p + s - 1 for d, p, s in zip(dims, ps, ss, strict=True)]
    image = xp.zeros((*col.shape[:2], *sizes), dtype=col.dtype)
    for place in np.ndindex(*ks):
        cut = [
            slice(i * e, i * e + s * o, s) for i, e, s, o in zip(place, ds, ss, outs, strict=True)
        ]
        image[(slice(None), slice(None), *cut)] += col[(slice(None), slice(None), *place)]
    inner = [slice(p, p + d) for p, d in zip(ps, dims, strict=True)]
    return image[(slice(None), slice(None), *inner)]


im2col_nd = im2col_nd_gpu = im2col_nd_cpu
col2im_nd = col2im_nd_gpu = col2im_nd_cpu


class enable_final(type):
    """A metaclass like any other: nothing is final here."""


def final(*args: Any, **settings: Any) -> Any:
    """A method that is not to be overridden; it stays what it is."""
    return args[0] if args else lambda method: method
