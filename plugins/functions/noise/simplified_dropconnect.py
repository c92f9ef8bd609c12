"""DropConnect (Wan et al. 2013), simplified: the mean of the outputs is not sampled in tests."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, Variable, as_variable, choice, real
from core.errors import InvalidType
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.beside import beside


def _mask_fits(f: Any, x: Any, W: Any, *b: Any) -> None:
    each = (x.shape[0], *W.shape)
    if f.mask is not None and f.mask.shape not in (W.shape, each):
        raise InvalidType(f"a mask of the shape {W.shape} or {each}", f"{f.mask.shape}")


class SimplifiedDropconnect(FunctionNode):
    """y = x (M W)^T / (1 - ratio) + b with a random mask M of 0 and 1, one for all or one each."""

    ratio: float
    mask: Any = None
    use_batchwise_mask: bool = True

    wide = True
    saved = ("mask",)
    domain = Domain(
        "(n,k),(m,k),(m)?->(n,m)",
        x=real(-2, 2),
        W=real(-2, 2, mixed=True),
        b=real(-2, 2),
        settings={"ratio": choice(0.0, 0.3, 0.8), "use_batchwise_mask": choice(True, False)},
        leave_out={"forward": "random"},
        valid=_mask_fits,
    )

    def compute(self, xp, x, W, b=None):
        if self.mask is None:
            shape = (x.shape[0], *W.shape) if self.use_batchwise_mask else W.shape
            keep = self.backend.random.bernoulli(
                1 - self.ratio, shape, device=self.backend.device_of(x)
            )
            self.mask = keep
        self.mask = xp.astype(self.mask, x.dtype)
        y = _product(xp, x, xp.matrix_transpose(W * self.mask)) / (1 - self.ratio)
        return y if b is None else y + b

    def gradient_x(self, xp, g, W, mask):
        return _product(xp, g, W * mask) / (1 - self.ratio)

    def gradient_W(self, xp, g, x, mask):
        g = g / (1 - self.ratio)
        if mask.ndim == 2:
            return xp.matmul(g.T, x) * mask
        outer = g[:, :, None] * x[:, None, :]
        return xp.sum(outer * mask, axis=0)

    def gradient_b(self, xp, g):
        return xp.sum(g, axis=0)


def _product(xp: Any, x: Any, W: Any) -> Any:
    """Rows of x times a matrix, or times one matrix each."""
    if W.ndim == 2:
        return xp.matmul(x, W)
    return xp.matmul(x[:, None, :], W)[:, 0, :]


@checked
def simplified_dropconnect(
    x: Array,
    W: Array,
    b: Array | None = None,
    ratio: float = 0.5,
    train: bool = True,
    mask: Array | None = None,
    use_batchwise_mask: bool = True,
) -> Variable:
    """Apply a fully connected layer with a random part of its weights set to zero.

    y = x (M W)ᵀ / (1 - ratio) + b, each element of M being 0 with probability `ratio`, and
    otherwise 1.

    Args:
        x: Floating, (n, ...); the axes after the first are flattened to k elements.
        W: Weights, (m, k), floating.
        b: Biases, (m,), or None.
        ratio: In [0, 1).
        train: False drops nothing.
        mask: An array M of 0 and 1 (or booleans) instead of a drawn one: (m, k), or (n, m, k).
        use_batchwise_mask: Draw a mask for each example rather than one for all.

    Returns:
        (n, m), of the dtype of `x`.

    Raises:
        InvalidType: Sizes or dtypes do not fit.
        ValueError: The ratio is out of range, or the mask has other axes.

    Source: Wan, Zeiler, Zhang, LeCun and Fergus 2013, "Regularization of neural networks using
    DropConnect", ICML.

    >>> import core.functions as F, numpy as np
    >>> x, W = np.ones((1, 2), "f"), np.array([[1, 2], [3, 4]], "f")
    >>> F.simplified_dropconnect(x, W, mask=np.array([[0, 2], [2, 0]], "f"))
    variable([[ 8., 12.]], dtype=float32)
    """
    if not 0 <= ratio < 1:
        raise ValueError(f"simplified_dropconnect: expected a ratio in [0, 1), got {ratio}")
    x = as_variable(x)
    if mask is not None:
        mask = beside(mask, x)
        if mask.ndim not in (2, 3):
            raise ValueError(
                f"simplified_dropconnect: expected a mask (m, k) or (n, m, k), got {mask.shape}"
            )
    if x.ndim > 2:
        x = x.reshape((x.shape[0], -1))
    ratio = ratio if train else 0.0
    return SimplifiedDropconnect.call(
        x, W, b, ratio=ratio, mask=mask, use_batchwise_mask=use_batchwise_mask
    )
