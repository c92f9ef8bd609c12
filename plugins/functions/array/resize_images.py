"""Images in another size."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, Variable, choice, real
from core.type_check import expect


class ResizeImages(FunctionNode):
    """R x C^T, with the interpolation of rows R and of columns C; the gradient is R^T g C."""

    output_shape: tuple[int, int]
    saved = ("R", "C")
    wide = True
    domain = Domain(
        "(n,c,h,w)->(n,c,p,q)",
        x=real(-3, 3),
        settings={"output_shape": choice((1, 1), (3, 5), (2, 4), (6, 2))},
        dims={"h": (1, 4), "w": (1, 4)},
    )

    def check_type_forward(self, in_types):
        expect(in_types[0].shape[2] > 0, in_types[0].shape[3] > 0)

    def compute(self, xp, x):
        rows, columns = self.output_shape
        self.R, self.C = _weights(xp, x, 2, rows), _weights(xp, x, 3, columns)
        return self.R @ (x @ self.C.T)

    def gradient(self, xp, g, R, C):
        return R.T @ (g @ C)


def _weights(xp: Any, x: Any, axis: int, count: int) -> Any:
    """(count, n): how much each of n pixels gives to each of `count` places, ends on ends."""
    n = x.shape[axis]
    step = (n - 1) / (count - 1) if count > 1 else 0.0
    pixels = xp.arange(n, dtype=x.dtype, device=x.device)
    places = xp.arange(count, dtype=x.dtype, device=x.device) * step
    apart = xp.abs(places[:, None] - pixels[None, :])
    return xp.maximum(1.0 - apart, xp.zeros_like(apart))


def resize_images(x: Any, output_shape: Any) -> Variable:
    """Resize images by bilinear interpolation, with the corners staying corners.

    Args:
        x: Images (n, c, h, w), floating.
        output_shape: Height and width of the result.

    Returns:
        (n, c, *output_shape), and the dtype of `x`.

    Raises:
        InvalidType: `x` has no four axes, has no pixels, or is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.resize_images(np.array([[[[0, 2]]]], "f"), (1, 3))
    variable([[[[0., 1., 2.]]]], dtype=float32)
    """
    rows, columns = output_shape
    return ResizeImages.call(x, (int(rows), int(columns)))
