"""Resized images."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, choice, real
from core.typing import AnyArray
from plugins.functions.array.take import AddTaken
from plugins.functions.derived import function_of


class ResizeImages(FunctionNode):
    """Resize images by bilinear interpolation, or by repeating and omitting pixels.

    Interpolated, a new pixel is made of its two neighbours along each axis, by how near they are;
    the gradient goes to these. Of other pixels none counts, so that an infinite one stays where it
    is. Otherwise pixels are taken by number.

    Args:
        x: Images (n, c, h, w), floating.
        output_shape: Height and width of the result.
        mode: 'bilinear', or 'nearest': the pixel under the corner of the new one.
        align_corners: Of bilinear interpolation: whether the middles of the corner pixels stay
            where they are, or the outer edges of the image.

    Returns:
        (n, c, *output_shape), and the dtype of `x`.

    Raises:
        InvalidType: `x` has no four axes, has no pixels, or is not floating.
        ValueError: There is no such mode, or a size is negative.

    >>> import core.functions as F, numpy as np
    >>> x = np.array([[[[0, 2]]]], "f")
    >>> F.resize_images(x, (1, 3))
    variable([[[[0., 1., 2.]]]], dtype=float32)
    >>> F.resize_images(x, (1, 4), align_corners=False)
    variable([[[[0. , 0.5, 1.5, 2. ]]]], dtype=float32)
    """

    output_shape: tuple[int, int]
    mode: str = "bilinear"
    align_corners: bool = True
    saved = ("rows", "columns", "down", "across")
    wide = True
    domain = Domain(
        "(n,c,h,w)->(n,c,p,q)",
        x=real(-3, 3),
        settings={
            "output_shape": choice((1, 1), (3, 5), (2, 4), (6, 2)),
            "mode": choice("bilinear", "nearest"),
            "align_corners": choice(True, False),
        },
        dims={"h": (1, 4), "w": (1, 4)},
        valid=("h > 0", "w > 0"),
    )

    def prepare(self) -> None:
        if self.mode not in MODES:
            raise ValueError(
                f"resize_images: expected the mode 'bilinear' or 'nearest', got {self.mode!r}"
            )
        if min(self.output_shape) < 0:
            raise ValueError(
                f"resize_images: expected an output_shape of at least 0, got {self.output_shape}"
            )

    @property
    def out_H(self) -> int:
        """Height of the result."""
        return self.output_shape[0]

    @property
    def out_W(self) -> int:
        """Width of the result."""
        return self.output_shape[1]

    def compute(self, xp, x):
        self.rows, self.down = self.neighbours(xp, x, 2)
        self.columns, self.across = self.neighbours(xp, x, 3)
        y = _mixed(xp, x, self.rows, self.down[..., None], 2)
        return _mixed(xp, y, self.columns, self.across, 3)

    def gradient(self, xp, g, rows, columns, down, across):
        shape = self.input_shape(0)
        g = _parted(xp, g, columns, across, (*shape[:2], g.shape[2], shape[3]), 3)
        return _parted(xp, g, rows, down[..., None], shape, 2)

    def neighbours(self, xp: Any, x: AnyArray, axis: int) -> tuple[AnyArray, AnyArray]:
        """(k, count): the numbers of the pixels that make each new one, and how much they count.

        k is 2 where pixels are interpolated, and 1 where they are taken as they are.
        """
        n, count = x.shape[axis], self.output_shape[axis - 2]
        if self.mode == "nearest":
            numbers, shares = [[i * n // count for i in range(count)]], [[1.0] * count]
        else:
            places = _between(n, count, self.align_corners)
            low = [int(place) for place in places]
            beyond = [place - i for place, i in zip(places, low, strict=True)]
            numbers = [low, [min(i + 1, n - 1) for i in low]]
            shares = [[1.0 - share for share in beyond], beyond]
        return (
            xp.asarray(numbers, dtype=xp.int64, device=x.device),
            xp.asarray(shares, dtype=x.dtype, device=x.device),
        )


def _mixed(xp: Any, x: Any, numbers: Any, shares: Any, axis: int) -> Any:
    """What new pixels along an axis are made of, added up."""
    if numbers.shape[0] == 1:
        return xp.take(x, numbers[0, ...], axis=axis)
    low, high = (xp.take(x, numbers[k, ...], axis=axis) * shares[k, ...] for k in range(2))
    return low + high


def _parted(xp: Any, g: Any, numbers: Any, shares: Any, shape: tuple[int, ...], axis: int) -> Any:
    """The adjoint of `_mixed`."""
    if numbers.shape[0] > 1:
        g = xp.concat([g * shares[k, ...] for k in range(2)], axis=axis)
        numbers = xp.reshape(numbers, (-1,))
    else:
        numbers = numbers[0, ...]
    return AddTaken(axis, shape).evaluate(g, numbers)


def _between(n: int, count: int, align_corners: bool) -> list[float]:
    """Ends on ends; or pixels as areas, whose middles are what is known."""
    if align_corners:
        return [i * (n - 1) / max(count - 1, 1) for i in range(count)]
    return [min(max((i + 0.5) * n / count - 0.5, 0.0), n - 1.0) for i in range(count)]


MODES = ("bilinear", "nearest")


resize_images = function_of(
    ResizeImages,
    "resize_images",
    by_name=(
        "mode",
        "align_corners",
    ),
)
