"""Batch normalization by cuDNN, forward and backward, each in one launch."""

from __future__ import annotations

from math import prod
from typing import Any

from backends.cuda_backend.cudnn.layout import (
    NUMBER,
    Layout,
    channels_last,
    laid,
    packed,
    room,
    whole,
)
from backends.cuda_backend.cudnn.use import or_formula, or_formula_of_gradient, plans_of
from core.typing import Shape

DTYPES = ("float16", "bfloat16", "float32")


@or_formula
def batch_normalization(f: Any, xp: Any, x: Any, gamma: Any, beta: Any) -> Any:
    """The result, and mean and variance of the batch, each in the dtype of `x`."""
    shape = _shape(f.axis, x, gamma)
    plans = None if shape is None or beta.dtype != x.dtype else plans_of(x)
    if shape is None or plans is None:
        return NotImplemented
    last = channels_last(x)
    of_x, of_channel = _layouts(shape, x.dtype.name, last)
    inputs = of_x, *[of_channel] * 4, NUMBER, NUMBER
    plan = plans.find(batchnorm, inputs, (of_x, *[of_channel] * 4))
    if plan is None:
        return NotImplemented
    scale, shift = _single(xp, gamma), _single(xp, beta)
    nothing = xp.zeros(shape[1], dtype="float32")
    y = room(xp, x.shape, x.dtype, last)
    mean, inverse, new_mean, unbiased = [xp.empty(shape[1], dtype="float32") for _ in range(4)]
    given = laid(xp, x, last), scale, shift, nothing, nothing, float(f.eps), 1.0
    plan(given, (y, mean, inverse, new_mean, unbiased))
    count = shape[0] * shape[2]
    var = unbiased * ((count - 1) / count)
    return y, *[a.astype(x.dtype, copy=False).reshape(gamma.shape) for a in (mean, var)]


@or_formula_of_gradient
def batch_normalization_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """Gradients of what comes through `y`; mean and variance are left to the formula."""
    gy, gmean, gvar = g
    x, gamma = f._sources[0].data, f._sources[1].data
    shape = _shape(f.axis, x, gamma)
    if gy is None or gmean is not None or gvar is not None or shape is None:
        return NotImplemented
    plans = plans_of(x) if gy.dtype == x.dtype else None
    if plans is None:
        return NotImplemented
    last = channels_last(x)
    of_x, of_channel = _layouts(shape, x.dtype.name, last)
    inputs = of_x, of_x, *[of_channel] * 3
    plan = plans.find(batchnorm_backward, inputs, (of_x, of_channel, of_channel))
    if plan is None:
        return NotImplemented
    xp = f._sources[0].spec.xp
    mean, var = [_single(xp, a) for a in f.data[1:]]
    gx = room(xp, x.shape, x.dtype, last)
    ggamma, gbeta = [xp.empty(shape[1], dtype="float32") for _ in range(2)]
    given = laid(xp, gy, last), laid(xp, x, last), _single(xp, gamma), mean
    plan((*given, 1 / xp.sqrt(var + f.eps)), (gx, ggamma, gbeta))
    each = [a.astype(gamma.dtype, copy=False).reshape(gamma.shape) for a in (ggamma, gbeta)]
    return tuple([a if needs_grad >> i & 1 else None for i, a in enumerate((gx, *each))])


# -- graphs ----------------------------------------------------------------------------------------


def batchnorm(graph: Any, inputs: Any) -> Any:
    """The result, mean, inverse deviation, and running statistics, which become the new ones."""
    names = "input", "scale", "bias", "in_running_mean", "in_running_var", "epsilon", "momentum"
    return graph.batchnorm(**dict(zip(names, inputs, strict=True)))


def batchnorm_backward(graph: Any, inputs: Any) -> Any:
    """The gradients of the input, the scale and the shift."""
    names = "grad", "input", "scale", "mean", "inv_variance"
    return graph.batchnorm_backward(**dict(zip(names, inputs, strict=True)))


def _shape(axis: Any, x: Any, gamma: Any) -> tuple[int, int, int] | None:
    """Examples, channels and places; None for what cuDNN does not know."""
    kept = gamma.ndim
    reduced = (0, *range(1 + kept, x.ndim))
    if kept == 0 or (reduced if axis is None else axis) != reduced or gamma.dtype != x.dtype:
        return None
    shape = x.shape[0], gamma.size, prod(x.shape[1 + kept :])
    few = shape[0] * shape[2] < 2 or not x.size  # of one element there is no unbiased variance
    whole = kept == 1 or not channels_last(x)
    return shape if whole and not few and x.dtype.name in DTYPES else None


def _layouts(shape: tuple[int, int, int], dtype: str, last: bool) -> tuple[Layout, Layout]:
    four: Shape = (*shape, 1)
    return packed(four, dtype, last), packed((1, shape[1], 1, 1), "float32", last)


def _single(xp: Any, a: Any) -> Any:
    """In float32 and one row, as cuDNN has statistics and parameters."""
    return whole(xp, a.astype("float32", copy=False).reshape(-1))
