"""Dropout (Srivastava et al. 2014, JMLR 15)."""

from __future__ import annotations

from typing import Any, Literal, overload

from core import (
    Domain,
    Elementwise,
    FunctionNode,
    Variable,
    as_variable,
    axes,
    choice,
    config,
    real,
)
from core.errors import InvalidType
from core.errors.kinds import checked
from core.ops.types.shapes import as_axes
from core.typing import Array, Axes, Axis, BackendArray
from plugins.functions.axes import axes_of
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


class DropoutAlong(FunctionNode):
    """As Dropout, with one draw for each place along some axes, for all elements there."""

    dropout_ratio: float = 0.5
    axis: Axis = 0

    wide = True
    saved = ("mask",)
    domain = Domain(
        "(...)->(...)",
        x=real(-3, 3),
        settings={
            "dropout_ratio": choice(0.0, 0.3, 0.9),
            "axis": axes("x", many=True, nonempty=True),
        },
        leave_out={"forward": "random"},
    )

    def compute(self, xp, x):
        kept = axes_of(self.axis, x.ndim)
        shape = tuple([n if i in kept else 1 for i, n in enumerate(x.shape)])
        keep = self.backend.random.bernoulli(
            1 - self.dropout_ratio, shape, device=self.backend.device_of(x)
        )
        self.mask = xp.astype(keep, x.dtype) / (1 - self.dropout_ratio)
        return x * self.mask

    def gradient(self, xp, g, mask):
        return g * mask


@overload
def dropout(
    x: Array,
    ratio: float = ...,
    *,
    axis: Axes = ...,
    mask: Array | None = ...,
    return_mask: Literal[False] = ...,
) -> Variable: ...
@overload
def dropout(
    x: Array,
    ratio: float = ...,
    *,
    axis: Axes = ...,
    mask: Array | None = ...,
    return_mask: Literal[True],
) -> tuple[Variable, BackendArray | None]: ...
@overload
def dropout(
    x: Array, ratio: float = ..., *, axis: Axes = ..., mask: Array | None = ..., return_mask: bool
) -> Variable | tuple[Variable, BackendArray | None]: ...
@checked
def dropout(
    x: Array,
    ratio: float = 0.5,
    *,
    axis: Axes = None,
    mask: Array | None = None,
    return_mask: bool = False,
) -> Variable | tuple[Variable, BackendArray | None]:
    """Set randomly chosen elements to zero and scale the others, in training mode.

    Each element is dropped with probability `ratio`, the others are divided by (1 - `ratio`), so
    that the expectation stays. With `core.config.train` off the input is given back.

    Args:
        x: Floating, of any shape.
        ratio: In [0, 1).
        axis: Axes along which each place is dropped or not, with all its elements; None draws for
            each element. For images (0, 1) drops whole channels, as `Dropout2d` elsewhere, and 0
            whole examples, as stochastic depth.
        mask: An array to multiply by instead of drawing one, of a shape that broadcasts to that
            of `x`.
        return_mask: Also give the mask, an array; None where nothing was dropped.

    Returns:
        The shape and dtype of `x`, or a pair with `return_mask`.

    Raises:
        InvalidType: `x` is not floating, or the mask does not broadcast.
        ValueError: The ratio is out of range, or a mask is given with axes.

    Source: Srivastava et al. 2014, "Dropout: a simple way to prevent neural networks from
    overfitting", JMLR 15, 1929-1958; of whole channels: Tompson et al. 2015 (arXiv:1411.4280), of
    examples: Huang et al. 2016 (arXiv:1603.09382).

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
    if mask is not None and axis is not None:
        raise ValueError("dropout: expected a mask or an axis, got both")
    if not config.train:
        y = as_variable(x)
        return (y, None) if return_mask else y
    node = Dropout(ratio, mask) if axis is None else DropoutAlong(ratio, as_axes(axis))
    (y,) = node.apply((x,))
    return (y, node.mask) if return_mask else y
