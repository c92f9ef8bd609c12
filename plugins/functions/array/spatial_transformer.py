"""Sampling images at the places of a grid (Jaderberg et al. 2015, "Spatial Transformer Networks").

Places are pairs (across, down) from -1, the first pixel, to 1, the last one.
"""

from __future__ import annotations

from itertools import product
from typing import Any

from core import Domain, FunctionNode, choice, real
from core.typing import AnyArray, Shape
from plugins.functions.array.take import AddTaken, Take
from plugins.functions.derived import function_of


class SpatialTransformerGrid(FunctionNode):
    """Map each pixel of the result to a place by an affine map (Jaderberg et al. 2015).

    The result is theta (u, v, 1)^T at every place (u, v) of an even grid (eq. 1).

    Args:
        theta: Affine maps (n, 2, 3), floating.
        output_shape: Height and width of the grid.

    Returns:
        (n, 2, *output_shape), and the dtype of `theta`: how far across, then how far down, each
        pixel is to be sampled, from -1 to 1.

    Raises:
        InvalidType: `theta` has another shape, or is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.spatial_transformer_grid(np.array([[[1, 0, 0], [0, 1, 0.5]]], "f"), (1, 3))
    variable([[[[-1. ,  0. ,  1. ]],
    <BLANKLINE>
               [[-0.5, -0.5, -0.5]]]], dtype=float32)
    """

    output_shape: tuple[int, int]
    saved = ("places",)
    wide = True
    domain = Domain(
        "(n,2,3)->(n,2,h,w)",
        theta=real(-2, 2),
        settings={"output_shape": choice((1, 1), (2, 3), (4, 2))},
    )

    def compute(self, xp, theta):
        self.places = _even(xp, self.output_shape, theta)
        return xp.reshape(xp.matmul(theta, self.places), (theta.shape[0], 2, *self.output_shape))

    def gradient(self, xp, g, places):
        return xp.matmul(xp.reshape(g, (g.shape[0], 2, places.shape[1])), places.T)


def _even(xp: Any, shape: tuple[int, int], like: Any) -> Any:
    """(3, h w): the places of an even grid row by row, as columns (u, v, 1)."""
    made = {"dtype": like.dtype, "device": like.device}
    h, w = shape
    down = xp.broadcast_to(xp.linspace(-1.0, 1.0, h, **made)[:, None], (h, w))
    across = xp.broadcast_to(xp.linspace(-1.0, 1.0, w, **made)[None, :], (h, w))
    return xp.stack([xp.reshape(part, (-1,)) for part in (across, down, xp.ones_like(down))])


class SpatialTransformerSampler(FunctionNode):
    """Sample images at the places of a grid, bilinearly (Jaderberg et al. 2015, eq. 5).

    Each element lies between four pixels, with zeros outside the image (eq. 5 to 7). The image gets
    a border of zeros, and places beyond that are moved onto it. Rows of the border and the image
    are taken by number, so that the derivatives are takings and addings of rows.

    Args:
        x: Images (n, c, h, w), floating.
        grid: (n, 2, p, q), of the dtype of `x`: how far across, then how far down, from -1, the
            first pixel, to 1, the last one. Beyond them the images are 0.

    Returns:
        (n, c, p, q), and the dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> grid = np.array([[[[0.5, 3]], [[0, 0]]]], "f")
    >>> F.spatial_transformer_sampler(np.array([[[[1, 2, 3]]]], "f"), grid)
    variable([[[[2.5, 0. ]]]], dtype=float32)
    """

    wide = True
    domain = Domain(
        "(n,c,h,w),(n,2,p,q)->(n,c,p,q)",
        x=real(-2, 2),
        grid=real(-1.4, 1.4, make=lambda xp, values: _off_pixels(xp, values)),
        dims={"h": (3, 3), "w": (3, 3)},
        valid=("h > 0", "w > 0"),
        empty=False,
    )

    def corners(self, xp: Any, grid: AnyArray, shape: Shape) -> list[Any]:
        """The four pixels around the places: the row of each, its share, and the share's slopes."""
        integer = self.backend.dtype("int64")
        n, _, h, w = shape
        left, right, move_right = _between(xp, grid[:, 0, :, :], w)
        top, low, move_down = _between(xp, grid[:, 1, :, :], h)
        first = xp.arange(n, dtype=integer, device=grid.device) * ((h + 2) * (w + 2))
        start = (
            xp.reshape(first, (n, 1, 1))
            + xp.astype(top, integer) * (w + 2)
            + xp.astype(left, integer)
        )
        found = []
        for i, j in product((0, 1), (0, 1)):
            across, down = (right if j else 1.0 - right), (low if i else 1.0 - low)
            parts = (
                across * down,
                down * (move_right if j else -move_right),
                across * (move_down if i else -move_down),
            )
            corner = xp.reshape(start + (i * (w + 2) + j), (-1,))
            found.append((corner, *[xp.reshape(part, (-1, 1)) for part in parts]))
        return found

    def compute(self, xp, x, grid):
        rows = _rows(xp, x)
        y = 0.0
        for corner, share, _, _ in self.corners(xp, grid, x.shape):
            y = y + xp.take(rows, corner, axis=0) * share
        return _images(xp, y, (*grid.shape[:1], *grid.shape[2:]))

    def gradient_x(self, xp, g, grid):
        n, c, h, w = self.input_shape(0)
        gy = xp.reshape(xp.permute_dims(g, (0, 2, 3, 1)), (-1, c))
        rows = n * (h + 2) * (w + 2)
        total = 0.0
        for corner, share, _, _ in self.corners(xp, grid, (n, c, h, w)):
            total = total + AddTaken(0, (rows, c)).evaluate(gy * share, corner)
        padded = _images(xp, total, (n, h + 2, w + 2))
        return padded[:, :, 1 : h + 1, 1 : w + 1]

    def gradient_grid(self, xp, g, x, grid):
        c = x.shape[1]
        gy = xp.reshape(xp.permute_dims(g, (0, 2, 3, 1)), (-1, c))
        rows = _rows(xp, x)
        across = down = 0.0
        for corner, _, slope_across, slope_down in self.corners(xp, grid, x.shape):
            given = xp.sum(Take(0).evaluate(rows, corner) * gy, axis=1, keepdims=True)
            across, down = across + given * slope_across, down + given * slope_down
        shape = (grid.shape[0], *grid.shape[2:])
        return xp.stack([xp.reshape(part, shape) for part in (across, down)], axis=1)


def _rows(xp: Any, x: Any) -> Any:
    """(n (h + 2) (w + 2), c): the pixels of all images with a border of zeros."""
    n, c, h, w = x.shape
    side = xp.zeros_like(x[:, :, :, :1])
    x = xp.concat([side, x, side], axis=3)
    edge = xp.zeros_like(x[:, :, :1, :])
    x = xp.concat([edge, x, edge], axis=2)
    return xp.reshape(xp.permute_dims(x, (0, 2, 3, 1)), (n * (h + 2) * (w + 2), c))


def _images(xp: Any, rows: Any, shape: tuple[int, ...]) -> Any:
    n, h, w = shape
    return xp.permute_dims(xp.reshape(rows, (n, h, w, rows.shape[1])), (0, 3, 1, 2))


def _between(xp: Any, places: Any, size: int) -> tuple[Any, Any, Any]:
    """The pixel before each place, with the border; the share of the next one; and its slope."""
    scaled = (places + 1.0) * ((size - 1) / 2) + 1.0
    inside = xp.logical_and(scaled > 0, scaled < size + 1)
    at = xp.clip(scaled, 0.0, float(size + 1))
    # A place on the far border counts as the end of the last gap.
    before = xp.clip(xp.floor(at), 0.0, float(size))
    slope = xp.where(inside, xp.ones_like(at) * ((size - 1) / 2), 0.0)
    # A place that is not a number is no pixel's number either; its share makes the result NaN.
    return xp.where(before >= 0, before, 0.0), at - before, slope


def _off_pixels(xp: Any, values: Any) -> Any:
    """Places at least a twentieth of a gap away from the pixels of three in a row."""
    scaled = values + 2.0
    return xp.floor(scaled) + 0.05 + 0.9 * (scaled - xp.floor(scaled)) - 2.0


spatial_transformer_grid = function_of(
    SpatialTransformerGrid, "spatial_transformer_grid", "use_cudnn"
)


spatial_transformer_sampler = function_of(
    SpatialTransformerSampler, "spatial_transformer_sampler", "use_cudnn"
)
