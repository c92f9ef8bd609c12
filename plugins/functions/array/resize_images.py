"""Resized images."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, choice, real
from core.typing import AnyArray
from plugins.functions.array.take import AddTaken
from plugins.functions.derived import function_of


class ResizeImages(FunctionNode):
    """Resize images by bilinear interpolation, or by repeating and omitting pixels.

    Interpolated, the result is R x C^T, with the weights of rows R and of columns C; the gradient
    is R^T g C. Otherwise pixels are taken by number, so that infinite ones stay where they are.

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
    saved = ("R", "C")
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
        rows, columns = self.output_shape
        if self.mode == "nearest":
            self.R, self.C = self.numbers(xp, x, 2, rows), self.numbers(xp, x, 3, columns)
            return xp.take(xp.take(x, self.R, axis=2), self.C, axis=3)
        self.R, self.C = self.weights(xp, x, 2, rows), self.weights(xp, x, 3, columns)
        return self.R @ (x @ self.C.T)

    def gradient(self, xp, g, R, C):
        if self.mode == "nearest":
            shape = self.input_shape(0)
            g = AddTaken(2, (*shape[:3], g.shape[3])).evaluate(g, R)
            return AddTaken(3, shape).evaluate(g, C)
        return R.T @ (g @ C)

    def weights(self, xp: Any, x: AnyArray, axis: int, count: int) -> AnyArray:
        """(count, n): how much each of n pixels gives to each of `count` places."""
        n = x.shape[axis]
        places = _between(n, count, self.align_corners)
        pixels = xp.arange(n, dtype=x.dtype, device=x.device)
        apart = xp.abs(xp.asarray(places, dtype=x.dtype, device=x.device)[:, None] - pixels)
        return xp.maximum(1.0 - apart, xp.zeros_like(apart))

    def numbers(self, xp: Any, x: AnyArray, axis: int, count: int) -> AnyArray:
        """(count,): the pixel under the corner of each place."""
        numbers = [i * x.shape[axis] // count for i in range(count)]
        return xp.asarray(numbers, dtype=xp.int64, device=x.device)


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
