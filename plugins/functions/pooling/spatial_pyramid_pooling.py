"""Spatial pyramid pooling (He, Zhang, Ren and Sun 2014, arXiv:1406.4729)."""

from __future__ import annotations

from math import prod
from typing import Any

from core import Variable, as_variable
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.array.concat import Concat
from plugins.functions.pooling.max_pooling import MaxPooling2D
from plugins.functions.windows import of_rank


@checked
def spatial_pyramid_pooling_2d(
    x: Array, pyramid_height: int, pooling: Any = None, *, pooling_class: Any = None
) -> Variable:
    """Pool images of any size to features of one length, by ever finer grids.

    Level l divides the image into a grid of 2^l by 2^l windows, of which the maxima are taken.

    Args:
        x: Floating, (n, c, h, w). The finest grid has windows of ceil(h / 2^l) rows, which are
            centred on the image; each has to see some of it, as it does from h > 4^l / 2 on.
        pyramid_height: How many levels, at least 1.
        pooling: 'max', or the class `MaxPooling2D`; there is no other.
        pooling_class: Another name of `pooling`.

    Returns:
        (n, c (4^pyramid_height - 1) / 3, 1, 1): the levels one after another, each in the order
        channel, row, column.

    Raises:
        InvalidType: `x` is not floating or has not four axes.
        ValueError: The height or the pooling is unknown, or an image too small for it.

    Source: He, Zhang, Ren and Sun 2014 (arXiv:1406.4729), section 2.2.

    >>> import core.functions as F, numpy as np
    >>> x = np.array([[[[1, 2], [4, 3]]]], "f")
    >>> F.spatial_pyramid_pooling_2d(x, 2, "max").array.ravel()
    array([4., 1., 2., 4., 3.], dtype=float32)
    """
    pooling = pooling_class if pooling is None else pooling
    if pooling not in ("max", MaxPooling2D):
        raise ValueError(f"spatial_pyramid_pooling_2d: expected pooling='max', got {pooling!r}")
    images = of_rank("spatial_pyramid_pooling_2d", 2, as_variable(x))
    if pyramid_height < 1:
        raise ValueError(
            "spatial_pyramid_pooling_2d: expected pyramid_height of at least 1, got "
            f"{pyramid_height}"
        )
    levels = [_level(images, 2**level) for level in range(pyramid_height)]
    return Concat.call(*levels, axis=1)


def _level(x: Variable, bins: int) -> Variable:
    """The maxima of a grid of `bins` by `bins` windows that cover the image, as channels."""
    ksize = tuple([-(-n // bins) for n in x.shape[2:]])
    pad = tuple([(k * bins - n) // 2 for k, n in zip(ksize, x.shape[2:], strict=True)])
    for n, k, p in zip(x.shape[2:], ksize, pad, strict=True):
        if p >= k or k * (bins - 1) - p >= n:
            raise ValueError(
                f"spatial_pyramid_pooling_2d: a grid of {bins} windows of {k} has some that see "
                f"nothing of an image of {n}. Use fewer levels, or larger images."
            )
    y = MaxPooling2D.call(x, ksize, pad=pad)
    return y.reshape((x.shape[0], prod(y.shape[1:]), 1, 1))
