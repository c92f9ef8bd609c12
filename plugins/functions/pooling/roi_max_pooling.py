"""The greatest elements of bins of regions (Girshick 2015, arXiv:1504.08083)."""

from __future__ import annotations

from math import prod
from typing import Any

from core import Domain, FunctionNode, Variable, choice, integers, real
from core.errors.kinds import checked
from core.typing import AnyArray, Array, Pair
from plugins.functions.array.take import AddTaken
from plugins.functions.labels import refuse_outside
from plugins.functions.pooling.regions import IMAGES, bins, members, positive, whole


class _RegionMax(FunctionNode):
    """What both ops share: the maxima of bins, and where in x each of them is.

    A subclass has the settings `outh`, `outw` and `spatial_scale`, and says by `edges` of which
    images the regions are, and where their bins begin and end along the rows and the columns.
    """

    saved = ("places", "seen")

    def maxima(self: Any, xp: Any, x: AnyArray, *regions: AnyArray) -> AnyArray:
        """Maxima (r, c, i, j) of bins; 0, with `seen` false, where one is empty."""
        indices, rows, columns = self.edges(xp, x, *regions)
        rows, columns = members(xp, rows, x.shape[2]), members(xp, columns, x.shape[3])
        images = xp.take(x, indices, axis=0)
        across = [_masked(xp, images, columns[:, None, None, j, :], 3) for j in range(self.outw)]
        best = xp.stack([top for top, _ in across], axis=3)
        column = xp.stack([place for _, place in across], axis=3)
        found = [_masked(xp, best, rows[:, None, i, :, None], 2) for i in range(self.outh)]
        y = xp.stack([top for top, _ in found], axis=2)
        row = xp.stack([place for _, place in found], axis=2)
        nonempty = xp.any(rows, axis=2)[:, None, :, None]
        self.seen = nonempty & xp.any(columns, axis=2)[:, None, None, :]
        self.places = self.flat(xp, x, indices, row, xp.take_along_axis(column, row, axis=2))
        return xp.where(self.seen, y, xp.zeros_like(y))

    def check_values(self: Any, xp: Any, x: AnyArray, *regions: AnyArray) -> None:
        """Refuse regions of images that are not there."""
        self.edges(xp, x, *regions)

    def flat(
        self, xp: Any, x: AnyArray, indices: AnyArray, row: AnyArray, column: AnyArray
    ) -> AnyArray:
        """The position of each element in x, flattened."""
        _, c, h, w = x.shape
        like = {"dtype": row.dtype, "device": x.device}
        image = xp.astype(indices, row.dtype)[:, None] * c + xp.arange(c, **like)
        return (image[:, :, None, None] * h + row) * w + column

    def gradient_x(self, xp, g, places, seen):
        shape = self.input_shape(0)
        g = xp.where(seen, g, xp.zeros_like(g))
        added = AddTaken(0, (prod(shape),)).evaluate(
            xp.reshape(g, (-1,)), xp.reshape(places, (-1,))
        )
        return xp.reshape(added, shape)


def _masked(xp: Any, x: Any, mask: Any, axis: int) -> tuple[Any, Any]:
    """The maximum along an axis of the elements that a mask leaves, and its index."""
    lowest = -float("inf")
    left = xp.where(mask, x, xp.full_like(x, lowest))
    top, place = xp.max(left, axis=axis), xp.argmax(left, axis=axis)
    # Where all that are left are -inf they equal the others, of which the first may be one.
    first = xp.argmax(xp.astype(mask, xp.int8), axis=axis)
    return top, xp.where(top == lowest, first, place)


def in_order(xp: Any, rois: Array) -> Any:
    """Drawn regions (first corner, size) as (first corner, last corner)."""
    return xp.concat([rois[:, :2], rois[:, :2] + rois[:, 2:]], axis=1)


def _with_images(xp: Any, rois: Any) -> Any:
    """Drawn numbers from 0 to 7 as regions of image 0 or 1."""
    return xp.concat([xp.floor(rois[:, :1] / 4), in_order(xp, rois[:, 1:])], axis=1)


class ROIPooling2D(_RegionMax):
    """Maxima of bins of regions (image, x_min, y_min, x_max, y_max), both ends inside."""

    outh: int
    outw: int
    spatial_scale: float

    domain = Domain(
        "(b,c,h,w),(r,5)->(r,c,p,q)",
        x=real(-3, 3, distinct=True),
        rois=real(0, 7, make=_with_images),
        settings={
            "outh": choice(1, 2, 3),
            "outw": choice(2, 1, 4),
            "spatial_scale": choice(1.0, 0.5),
        },
        dims={"b": (2, 3), "h": (1, 5), "w": (1, 5)},
        valid=("h > 0", "w > 0"),
        leave_out={"gradient_rois": "integer-valued"},
    )

    def compute(self, xp, x, rois):
        return self.maxima(xp, x, rois)

    def edges(self, xp: Any, x: AnyArray, rois: AnyArray) -> tuple[Any, Any, Any]:
        """Of which images the regions are, and the edges of their rows and columns of bins."""
        images = xp.astype(rois[:, 0], xp.int64)
        refuse_outside("ROIPooling2D", self.backend, "rois[:, 0]", images, x.shape[0], IMAGES)
        left, top, right, bottom = [whole(xp, rois[:, i], self.spatial_scale) for i in range(1, 5)]
        rows = bins(xp, top, bottom - top + 1, self.outh, x.shape[2])
        columns = bins(xp, left, right - left + 1, self.outw, x.shape[3])
        return images, rows, columns


class ROIMaxPooling2D(_RegionMax):
    """Maxima of bins of regions (y_min, x_min, y_max, x_max), the last ends outside."""

    outh: int
    outw: int
    spatial_scale: float

    domain = Domain(
        "(b,c,h,w),(r,4),(r)->(r,c,p,q)",
        x=real(-3, 3, distinct=True),
        rois=real(-1, 6, make=in_order),
        roi_indices=integers(0, "b"),
        settings=ROIPooling2D.domain.settings,
        dims={"b": (1, 3), "h": (1, 5), "w": (1, 5)},
        valid=("h > 0", "w > 0"),
        leave_out={"gradient_rois": "integer-valued"},
    )

    def compute(self, xp, x, rois, roi_indices):
        return self.maxima(xp, x, rois, roi_indices)

    def edges(
        self, xp: Any, x: AnyArray, rois: AnyArray, roi_indices: AnyArray
    ) -> tuple[Any, Any, Any]:
        """Of which images the regions are, and the edges of their rows and columns of bins."""
        where, n = "ROIMaxPooling2D", x.shape[0]
        refuse_outside(where, self.backend, "roi_indices", roi_indices, n, IMAGES)
        top, left, bottom, right = [whole(xp, rois[:, i], self.spatial_scale) for i in range(4)]
        rows = bins(xp, top, bottom - top, self.outh, x.shape[2])
        columns = bins(xp, left, right - left, self.outw, x.shape[3])
        return roi_indices, rows, columns


@checked
def roi_pooling_2d(x: Array, rois: Array, outh: int, outw: int, spatial_scale: float) -> Variable:
    """The maxima of regions of images, each divided into a grid of bins.

    A region reaches from the element that (x_min, y_min) rounds to, after scaling, to the one of
    (x_max, y_max), that one included. Bin i of n, of a region of k rows, has the rows from
    floor(i k / n) up to ceil((i + 1) k / n); bins that lie outside of the image give 0.

    Args:
        x: Floating, (n, c, h, w).
        rois: Regions (image, x_min, y_min, x_max, y_max), (r, 5), of the dtype of `x`.
        outh: How many rows of bins.
        outw: How many columns of bins.
        spatial_scale: How large `x` is beside the image that the regions are measured in.

    Returns:
        (r, c, outh, outw). There is no gradient to the regions.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        ValueError: `outh` or `outw` is less than 1.

    Source: Girshick 2015 (arXiv:1504.08083), section 2.1.

    >>> import core.functions as F, numpy as np
    >>> x = np.arange(16, dtype="f").reshape(1, 1, 4, 4)
    >>> F.roi_pooling_2d(x, np.array([[0, 1, 0, 2, 3]], "f"), 2, 1, 1.0)
    variable([[[[ 6.],
                [14.]]]], dtype=float32)
    """
    outh, outw = positive("roi_pooling_2d", (outh, outw))
    return ROIPooling2D.call(x, rois, outh, outw, spatial_scale)


@checked
def roi_max_pooling_2d(
    x: Array, rois: Array, roi_indices: Array, outsize: Pair, spatial_scale: float
) -> Variable:
    """The maxima of regions of images, each divided into a grid of bins.

    A region reaches from the element that (y_min, x_min) rounds to, after scaling, up to but not
    including that of (y_max, x_max), and has one row and one column at least. Bins are made as
    `roi_pooling_2d` makes them.

    Args:
        x: Floating, (n, c, h, w).
        rois: Regions (y_min, x_min, y_max, x_max), (r, 4), of the dtype of `x`.
        roi_indices: Which image each region is of, integers (r,).
        outsize: How many rows and columns of bins, for each or for both.
        spatial_scale: How large `x` is beside the image that the regions are measured in.

    Returns:
        (r, c, *outsize). There is no gradient to the regions.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        ValueError: `outsize` is less than 1.

    Source: Girshick 2015 (arXiv:1504.08083), section 2.1.

    >>> import core.functions as F, numpy as np
    >>> x = np.arange(16, dtype="f").reshape(1, 1, 4, 4)
    >>> F.roi_max_pooling_2d(x, np.array([[0, 1, 4, 3]], "f"), np.array([0]), (2, 1), 1.0)
    variable([[[[ 6.],
                [14.]]]], dtype=float32)
    """
    outh, outw = positive("roi_max_pooling_2d", outsize)
    return ROIMaxPooling2D.call(x, rois, roi_indices, outh, outw, spatial_scale)
