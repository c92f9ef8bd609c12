"""Channels turned into pixels, and back."""

from __future__ import annotations

from core import Domain, FunctionNode, choice, real
from core.typing import Count
from plugins.functions.derived import function_of


class Depth2Space(FunctionNode):
    """Turn channels into pixels: r² channels become a block of r x r pixels.

    Pixel (i, j) of each block of channel k comes from channel (i r + j) c + k, with c channels in
    the result. It is the shuffle of "Real-Time Single Image and Video Super-Resolution Using an
    Efficient Sub-Pixel Convolutional Neural Network" (Shi et al. 2016, eq. 4). PyTorch takes the
    channels in another order: `pixel_shuffle`.

    Args:
        X: (n, r² c, h, w), floating.
        r: The factor of height and width.

    Returns:
        (n, c, r h, r w), and the dtype of `X`.

    Raises:
        InvalidType: `r²` does not divide the channels, or `X` has no four axes.

    >>> import core.functions as F, numpy as np
    >>> F.depth2space(np.arange(4, dtype="f").reshape(1, 4, 1, 1), 2)
    variable([[[[0., 1.],
                [2., 3.]]]], dtype=float32)
    """

    r: Count
    domain = Domain(
        "(n,c,h,w)->(n,d,p,q)",
        X=real(-3, 3),
        settings={"r": choice(1, 2)},
        dims={"c": (4, 8)},
        valid="c % r**2 == 0",
    )

    def compute(self, xp, X):
        n, c, h, w = X.shape
        c, r = c // self.r**2, self.r
        blocks = xp.permute_dims(xp.reshape(X, (n, r, r, c, h, w)), (0, 3, 4, 1, 5, 2))
        return xp.reshape(blocks, (n, c, h * r, w * r))

    def gradient(self, xp, g):
        return Space2Depth(self.r).evaluate(g)


class Space2Depth(FunctionNode):
    """Turn pixels into channels: a block of r x r pixels becomes r² channels.

    It undoes `depth2space`.

    Args:
        X: (n, c, r h, r w), floating.
        r: The factor of height and width.

    Returns:
        (n, r² c, h, w), and the dtype of `X`.

    Raises:
        InvalidType: `r` does not divide height and width, or `X` has no four axes.

    >>> import core.functions as F, numpy as np
    >>> F.space2depth(np.arange(4, dtype="f").reshape(1, 1, 2, 2), 2).array.ravel()
    array([0., 1., 2., 3.], dtype=float32)
    """

    r: Count
    domain = Domain(
        "(n,c,h,w)->(n,d,p,q)",
        X=real(-3, 3),
        settings={"r": choice(1, 2)},
        valid=("h % r == 0", "w % r == 0"),
    )

    def compute(self, xp, X):
        n, c, h, w = X.shape
        h, w, r = h // self.r, w // self.r, self.r
        blocks = xp.permute_dims(xp.reshape(X, (n, c, h, r, w, r)), (0, 3, 5, 1, 2, 4))
        return xp.reshape(blocks, (n, r * r * c, h, w))

    def gradient(self, xp, g):
        return Depth2Space(self.r).evaluate(g)


depth2space = function_of(Depth2Space, "depth2space")


space2depth = function_of(Space2Depth, "space2depth")
