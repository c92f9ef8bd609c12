"""Dropout (Srivastava et al. 2014, JMLR 15)."""

from __future__ import annotations

from typing import Any, Literal, overload

from core import Domain, Elementwise, Variable, as_variable, choice, config, real
from core.errors import InvalidType
from core.errors.kinds import checked
from core.typing import Array, BackendArray
from plugins.functions.beside import beside


def _mask_broadcasts(f: Any, x: Any) -> None:
    own = x.shape if f.mask is None else f.mask.shape
    tail = x.shape[len(x.shape) - len(own) :]
    if len(own) > len(x.shape) or any([m not in (1, n) for m, n in zip(own, tail, strict=True)]):
        raise InvalidType(f"a mask that broadcasts to {x.shape}", f"{own}")


class Dropout(Elementwise):
    """x times a random mask of 0 and 1 / (1 - ratio); the mask is drawn unless it is given."""

    dropout_ratio: float = 0.5
    mask: Any = None

    saved = ("mask",)
    domain = Domain(
        x=real(-3, 3),
        settings={"dropout_ratio": choice(0.0, 0.3, 0.9)},
        leave_out={"forward": "random"},
        valid=_mask_broadcasts,
    )

    def compute(self, xp, x):
        if self.mask is None:
            keep = self.backend.random.bernoulli(
                1 - self.dropout_ratio, x.shape, device=self.backend.device_of(x)
            )
            self.mask = xp.astype(keep, x.dtype) / (1 - self.dropout_ratio)
        elif self.mask.dtype != x.dtype:
            self.mask = xp.astype(self.mask, x.dtype)
        return x * self.mask

    def gradient(self, xp, g, mask):
        return g * mask


@overload
def dropout(
    x: Array, ratio: float = ..., *, mask: Array | None = ..., return_mask: Literal[False] = ...
) -> Variable: ...
@overload
def dropout(
    x: Array, ratio: float = ..., *, mask: Array | None = ..., return_mask: Literal[True]
) -> tuple[Variable, BackendArray | None]: ...
@overload
def dropout(
    x: Array, ratio: float = ..., *, mask: Array | None = ..., return_mask: bool
) -> Variable | tuple[Variable, BackendArray | None]: ...
@checked
def dropout(
    x: Array, ratio: float = 0.5, *, mask: Array | None = None, return_mask: bool = False
) -> Variable | tuple[Variable, BackendArray | None]:
    """Set randomly chosen elements to zero and scale the others, in training mode.

    Each element is dropped with probability `ratio`, the others are divided by (1 - `ratio`), so
    that the expectation stays. With `core.config.train` off the input is given back.

    Args:
        x: Floating, of any shape.
        ratio: In [0, 1).
        mask: An array to multiply by instead of drawing one, of a shape that broadcasts to that
            of `x`.
        return_mask: Also give the mask, an array; None where nothing was dropped.

    Returns:
        The shape and dtype of `x`, or a pair with `return_mask`.

    Raises:
        InvalidType: `x` is not floating, or the mask does not broadcast.
        ValueError: The ratio is out of range.

    Source: Srivastava et al. 2014, "Dropout: a simple way to prevent neural networks from
    overfitting", JMLR 15, 1929-1958.

    >>> import core, core.functions as F, numpy as np
    >>> x = np.ones(2, "f")
    >>> F.dropout(x, mask=np.array([0, 2], "f"))
    variable([0., 2.], dtype=float32)
    >>> with core.using_config("train", False):
    ...     F.dropout(x)
    variable([1., 1.], dtype=float32)
    """
    if mask is not None:
        mask = beside(mask, x)
    if not 0 <= ratio < 1:
        raise ValueError(f"dropout: expected a ratio in [0, 1), got {ratio}")
    if not config.train:
        y = as_variable(x)
        return (y, None) if return_mask else y
    node = Dropout(ratio, mask)
    (y,) = node.apply((x,))
    return (y, node.mask) if return_mask else y
