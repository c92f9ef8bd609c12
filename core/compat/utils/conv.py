"""Sizes of convolutions, and images as columns of windows and back."""

from __future__ import annotations

from typing import Any

from core.arrays import backend
from core.arrays.windows import pad, transposed_size, window_count


def get_conv_outsize(size: int, k: int, s: int, p: int, cover_all: bool = False, d: int = 1) -> int:
    """How many outputs a convolution or pooling has along one axis: `window_count`.

    >>> get_conv_outsize(10, 3, 2, 1)
    5
    """
    return window_count(size, k, s, p, cover_all, d)


def get_deconv_outsize(
    size: int, k: int, s: int, p: int, cover_all: bool = False, d: int = 1
) -> int:
    """The size of a deconvolution's output along one axis: `transposed_size`.

    >>> get_deconv_outsize(5, 3, 2, 1)
    9
    """
    return transposed_size(size, k, s, p, cover_all, d)


def im2col(
    img: Any,
    kh: int,
    kw: int,
    sy: int,
    sx: int,
    ph: int,
    pw: int,
    cover_all: bool = False,
    dy: int = 1,
    dx: int = 1,
    out_h: int | None = None,
    out_w: int | None = None,
) -> Any:
    """The windows of images.

    img: (n, c, h, w) -> (n, c, kh, kw, out_h, out_w), a new array of the backend of `img`. `out_h`
    and `out_w`, where given, say how many windows to take instead of as many as fit.

    >>> import numpy as np
    >>> im2col(np.zeros((2, 3, 8, 8), "f"), 3, 3, 1, 1, 0, 0).shape
    (2, 3, 3, 3, 6, 6)
    """
    return im2col_cpu(img, kh, kw, sy, sx, ph, pw, 0, cover_all, dy, dx, out_h, out_w)


im2col_gpu = im2col


def im2col_cpu(
    img: Any,
    kh: int,
    kw: int,
    sy: int,
    sx: int,
    ph: int,
    pw: int,
    pval: float = 0,
    cover_all: bool = False,
    dy: int = 1,
    dx: int = 1,
    out_h: int | None = None,
    out_w: int | None = None,
) -> Any:
    """`im2col` with `pval` as the value of the padding; works on any backend."""
    h, w = img.shape[2:]
    out_h = window_count(h, kh, sy, ph, cover_all, dy) if out_h is None else out_h
    out_w = window_count(w, kw, sx, pw, cover_all, dx) if out_w is None else out_w
    if out_h <= 0 or out_w <= 0:
        raise ValueError(
            f"im2col: expected at least one window, got {out_h} x {out_w} of {kh} x {kw} in an "
            f"image of {h} x {w} padded by {ph} and {pw}. Use a smaller window or more padding."
        )
    owner = backend.of(img)
    after = [
        max(0, transposed_size(out, k, s, p, dilate=d) + p - size)
        for out, k, s, p, d, size in ((out_h, kh, sy, ph, dy, h), (out_w, kw, sx, pw, dx, w))
    ]
    padded = pad(owner.xp, img, [(0, 0), (0, 0), (ph, after[0]), (pw, after[1])], pval)
    windows = owner.windows(padded, (kh, kw), (sy, sx), 0, (dy, dx))
    return owner.copy(windows[:, :, :, :, :out_h, :out_w])


def col2im(
    col: Any, sy: int, sx: int, ph: int, pw: int, h: int, w: int, dy: int = 1, dx: int = 1
) -> Any:
    """Windows summed back into images: the adjoint of `im2col`.

    col: (n, c, kh, kw, out_h, out_w) -> (n, c, h, w).

    >>> import numpy as np
    >>> col = im2col(np.ones((1, 1, 3, 3), "f"), 2, 2, 1, 1, 0, 0)
    >>> col2im(col, 1, 1, 0, 0, 3, 3)[0, 0]
    array([[1., 2., 1.],
           [2., 4., 2.],
           [1., 2., 1.]], dtype=float32)
    """
    owner = backend.of(col)
    kh, kw, out_h, out_w = col.shape[2:]
    # The image that these windows cover exactly, which may be more or less than (h, w).
    reach = (
        transposed_size(out_h, kh, sy, 0, dilate=dy),
        transposed_size(out_w, kw, sx, 0, dilate=dx),
    )
    rows = slice(min(ph, reach[0]), min(ph + h, reach[0]))
    columns = slice(min(pw, reach[1]), min(pw + w, reach[1]))
    image = owner.fold(col, reach, (sy, sx), 0, (dy, dx))[:, :, rows, columns]
    missing = [(0, 0), (0, 0), (0, h - image.shape[2]), (0, w - image.shape[3])]
    return pad(owner.xp, image, missing, 0) if any(map(any, missing)) else owner.copy(image)


col2im_cpu = col2im_gpu = col2im
