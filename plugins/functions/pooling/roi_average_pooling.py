"""The means of bins of regions."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, Variable, integers, real
from core.errors.kinds import checked
from core.typing import Array, Pair
from plugins.functions.array.take import AddTaken
from plugins.functions.pooling.regions import bins, members, prepared, whole


@checked
def roi_average_pooling_2d(
    x: Array, rois: Array, roi_indices: Array, outsize: Pair, spatial_scale: float
) -> Variable:
    """The means of regions of images, each divided into a grid of bins.

    Regions and bins are those of `roi_max_pooling_2d`.

    Args:
        x: Floating, (n, c, h, w).
        rois: Regions (y_min, x_min, y_max, x_max), (r, 4), of the dtype of `x`.
        roi_indices: Which image each region is of, integers (r,).
        outsize: How many rows and columns of bins, for each or for both.
        spatial_scale: How large `x` is beside the image that the regions are measured in.

    Returns:
        (r, c, *outsize), 0 for bins outside of the image. There is no gradient to the regions.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        ValueError: `outsize` is less than 1.

    >>> import core.functions as F, numpy as np
    >>> x = np.arange(16, dtype="f").reshape(1, 1, 4, 4)
    >>> F.roi_average_pooling_2d(x, np.array([[0, 1, 4, 3]], "f"), np.array([0]), (2, 1), 1.0)
    variable([[[[ 3.5],
                [11.5]]]], dtype=float32)
    """
    images, regions, indices, size = prepared(
        "roi_average_pooling_2d", x, rois, roi_indices, outsize
    )
    sides = []
    with images.backend.beside(images.array):
        for axis in range(2):
            low, high = [whole(images.xp, regions[:, axis + i], spatial_scale) for i in (0, 2)]
            edges = bins(images.xp, low, high - low, size[axis], images.shape[axis + 2])
            sides.append(_shares(images, edges, images.shape[axis + 2]))
    return weighed(images, indices, *sides)


def _shares(x: Variable, edges: Any, length: int) -> Any:
    """What each element of an axis counts in each bin's mean, (r, count, length)."""
    xp = x.xp
    inside = xp.astype(members(xp, edges, length), x.dtype)
    total = xp.sum(inside, axis=2, keepdims=True)
    return inside / xp.maximum(total, xp.ones_like(total))


class WeighedRegions(FunctionNode):
    """Sums of elements of a region's image, weighed along each axis: two matrix products."""

    wide = True
    domain = Domain(
        "(n,c,h,w),(r),(r,p,h),(r,q,w)->(r,c,p,q)",
        x=real(-3, 3),
        numbers=integers(0, "n"),
        rows=real(-1, 1),
        columns=real(-1, 1),
        leave_out={
            "gradient_rows": "not differentiable",
            "gradient_columns": "not differentiable",
        },
    )

    def compute(self, xp, x, numbers, rows, columns):
        images = xp.take(x, numbers, axis=0)
        across = xp.matmul(images, xp.matrix_transpose(columns)[:, None, ...])
        return xp.matmul(rows[:, None, ...], across)

    def gradient_x(self, xp, g, numbers, rows, columns):
        along = xp.matmul(xp.matrix_transpose(rows)[:, None, ...], g)
        images = xp.matmul(along, columns[:, None, ...])
        return AddTaken(0, self.input_shape(0)).evaluate(images, numbers)


def weighed(x: Variable, roi_indices: Any, rows: Any, columns: Any) -> Variable:
    """The weighed regions of a Variable; see `WeighedRegions`."""
    return WeighedRegions.call(x, roi_indices, rows, columns)
